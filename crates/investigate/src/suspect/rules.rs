//! Effective security rules: which of them take traffic away, and which let too much in.

use super::supported::plain;
use super::{Suspect, once};
use crate::finding::Fault;
use ghost_inspect::nsg::{Access, Gate, GateReport, Packet, RuleRef, Ruleset, Ruling, Verdict};

/// Returns the rules that drop a packet: those of somebody's own, and a default only where nothing else does.
pub(crate) fn denied(rules: &Ruleset, packet: &Packet) -> Vec<Suspect> {
    let ruling = rules.verdict(packet);
    if ruling.verdict != Verdict::Deny {
        return Vec::new();
    }
    let flow = flow(packet);
    let denying = ruling.gates.iter().filter(|gate| gate.verdict == Verdict::Deny);
    let own: Vec<Suspect> = denying
        .filter(|gate| !is_default(rules, gate))
        .filter_map(|gate| {
            deny(gate.nsg?, gate.rule?, &format!("at the {} it denies {flow}", word(gate.gate)))
        })
        .collect();
    if own.is_empty() { once(by_default(&ruling, &flow)) } else { once(own) }
}

fn by_default(ruling: &Ruling<'_>, flow: &str) -> Vec<Suspect> {
    let decisive = ruling.decisive.as_ref();
    let why = |gate| format!("no rule at the {} allows {flow}: the default denies it", word(gate));
    decisive.and_then(|found| deny(found.nsg?, found.rule?, &why(found.gate))).into_iter().collect()
}

fn is_default(rules: &Ruleset, gate: &GateReport<'_>) -> bool {
    let mut groups =
        rules.groups().iter().filter(|group| group.gate == gate.gate && group.name.as_deref() == gate.nsg);
    groups.any(|group| {
        group.rules.iter().any(|rule| {
            rule.is_default && Some(rule.name.as_str()) == gate.rule && rule.priority == gate.priority
        })
    })
}

fn deny(nsg: &str, rule: &str, why: &str) -> Option<Suspect> {
    Some(Suspect::new(Fault::NsgDeny, object(nsg, rule), why))
}

fn flow(packet: &Packet) -> String {
    let protocols: Vec<&str> = packet.protocols.iter().flat_map(|one| one.names()).collect();
    let port = match packet.destination_port {
        0 => String::new(),
        port => format!(" port {port}"),
    };
    format!("{} from {} to {}{port}", protocols.join(", "), packet.source, packet.destination)
}

/// Returns the rules of somebody's own that take away what would get through without them.
pub(crate) fn taken(rules: &Ruleset) -> Vec<Suspect> {
    let of = |rule: &RuleRef| {
        let (Some(nsg), Some(direction)) = (&rule.nsg, rule.direction) else { return None };
        let direction = match direction {
            ghost_inspect::nsg::Direction::Inbound => "inbound",
            ghost_inspect::nsg::Direction::Outbound => "outbound",
        };
        let what = describe(rules, rule);
        deny(
            nsg,
            &rule.rule,
            &format!("it denies {what} {direction} at the {}, before a rule that allows it", word(rule.gate)),
        )
    };
    once(rules.taken().iter().filter_map(of).collect())
}

/// Says which packets a rule names, in figures alone.
fn describe(rules: &Ruleset, wanted: &RuleRef) -> String {
    let groups = rules.groups().iter().filter(|group| group.gate == wanted.gate && group.name == wanted.nsg);
    let mut all = groups.flat_map(|group| &group.rules);
    let Some(rule) = all.find(|rule| rule.name == wanted.rule && rule.priority == wanted.priority) else {
        return "traffic".to_owned();
    };
    let protocols = rule.protocols.map_or_else(|| "any".to_owned(), |protocols| protocols.names().join(", "));
    if rule.destination_ports.known.covers(0, u128::from(u16::MAX)) {
        return if protocols == "any" { "everything".to_owned() } else { protocols };
    }
    let ports: Vec<String> = rule.destination_ports.known.iter().take(8).map(range).collect();
    format!("{protocols} to port {}", ports.join(", "))
}

fn range((first, last): (u128, u128)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Returns the rules that let anybody reach a port for management.
pub(crate) fn exposed(rules: &Ruleset) -> Vec<Suspect> {
    let audit = rules.audit();
    let of = |found: &ghost_inspect::nsg::Exposure| {
        let ports: Vec<String> = found.ports.iter().map(u16::to_string).collect();
        let through = if found.through { "" } else { ", though another gate drops it for now" };
        let why = format!("it lets anybody reach port {}{through}", ports.join(" and "));
        Some(Suspect::new(Fault::NsgExposure, object(found.rule.nsg.as_deref()?, &found.rule.rule), why))
    };
    let allows = |found: &&ghost_inspect::nsg::Exposure| found.rule.access != Some(Access::Deny);
    once(audit.exposed.iter().filter(allows).filter_map(of).collect())
}

fn object(nsg: &str, rule: &str) -> String {
    format!("nsg/{}/{}", plain(nsg.rsplit('/').next().unwrap_or(nsg)), plain(rule))
}

const fn word(gate: Gate) -> &'static str {
    match gate {
        Gate::Manager => "network manager",
        Gate::Subnet => "subnet",
        Gate::Nic => "interface",
        Gate::Unknown => "gate that is not known",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rule(
        name: &str,
        priority: u32,
        access: &str,
        (source, ports): (&str, &str),
        direction: &str,
    ) -> Value {
        json!({"name": name, "priority": priority, "access": access, "direction": direction, "protocol": "Tcp",
            "sourceAddressPrefix": source, "destinationAddressPrefix": "*", "sourcePortRange": "0-65535",
            "destinationPortRange": ports})
    }

    fn ruleset(own: Vec<Value>) -> Ruleset {
        let mut rules = own;
        let mut default = |name: &str, priority: u32, access: &str, source: &str, direction: &str| {
            let mut one = rule(
                &format!("defaultSecurityRules/{name}"),
                priority,
                access,
                (source, "0-65535"),
                direction,
            );
            one["protocol"] = json!("All");
            rules.push(one);
        };
        default("AllowVnetInBound", 65_000, "Allow", "10.0.0.0/16", "Inbound");
        default("DenyAllInBound", 65_500, "Deny", "*", "Inbound");
        default("AllowVnetOutBound", 65_000, "Allow", "10.0.0.0/16", "Outbound");
        let text = json!({"value": [{"association": {"networkInterface": {"id": "/x/networkInterfaces/web-nic"}},
            "networkSecurityGroup": {"id": "/s/networkSecurityGroups/web-nsg"}, "effectiveSecurityRules": rules}]});
        Ruleset::parse(&text.to_string(), ghost_inspect::nsg::Knowledge::default()).unwrap()
    }

    fn packet(source: &str, port: u16) -> Packet {
        Packet::new("inbound", "tcp", source.parse().unwrap(), None, "10.0.1.5".parse().unwrap(), port)
            .unwrap()
    }

    fn objects(all: Vec<Suspect>) -> Vec<String> {
        all.into_iter().map(|one| format!("{} {}", one.code, one.object)).collect()
    }

    #[test]
    fn the_rule_that_drops_the_packet_is_named() {
        let rules =
            ruleset(vec![rule("securityRules/block-8080", 150, "Deny", ("*", "8080-8080"), "Inbound")]);
        assert_eq!(objects(denied(&rules, &packet("10.0.1.4", 8080))), ["nsg_deny nsg/web-nsg/block-8080"]);
        assert!(denied(&rules, &packet("10.0.1.4", 443)).is_empty());
    }

    #[test]
    fn a_default_is_named_where_nothing_else_denies() {
        let rules = ruleset(Vec::new());
        assert_eq!(
            objects(denied(&rules, &packet("203.0.113.9", 443))),
            ["nsg_deny nsg/web-nsg/DenyAllInBound"]
        );
        assert!(taken(&rules).is_empty());
    }

    #[test]
    fn without_a_flow_only_rules_that_take_something_away_count() {
        let rules = ruleset(vec![
            rule("securityRules/allow-22", 100, "Allow", ("*", "22-22"), "Inbound"),
            rule("securityRules/behind", 200, "Deny", ("*", "22-22"), "Inbound"),
            rule("securityRules/block-db", 210, "Deny", ("10.0.1.0/24", "5432-5432"), "Inbound"),
            rule("securityRules/block-stranger", 220, "Deny", ("203.0.113.0/24", "0-65535"), "Inbound"),
            rule("securityRules/block-out", 230, "Deny", ("*", "443-443"), "Outbound"),
        ]);
        assert_eq!(
            objects(taken(&rules)),
            ["nsg_deny nsg/web-nsg/block-db", "nsg_deny nsg/web-nsg/block-out"]
        );
        let why = taken(&rules).remove(0).why;
        assert_eq!(why, "it denies tcp to port 5432 inbound at the interface, before a rule that allows it");
    }

    #[test]
    fn what_anybody_may_reach_is_an_exposure() {
        let rules = ruleset(vec![
            rule("securityRules/rdp", 500, "Allow", ("*", "3389-3389"), "Inbound"),
            rule("securityRules/web", 510, "Allow", ("*", "443-443"), "Inbound"),
            rule("securityRules/office", 520, "Allow", ("203.0.113.0/24", "22-22"), "Inbound"),
        ]);
        assert_eq!(objects(exposed(&rules)), ["nsg_exposure nsg/web-nsg/rdp"]);
    }
}
