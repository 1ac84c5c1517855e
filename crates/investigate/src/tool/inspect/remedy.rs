//! Remedies that were tried on what was read, as commands and sentences.

use ghost_inspect::path::{
    self, Admitted, Bundle, Change, Cloud, Estate, Fate, Flow, GuestRule, Place, Protocol, Remedy, Side,
};

use super::object::object;
use crate::finding::title;
use crate::judged::JudgedRemedy;
use crate::suspect::plain;

/// So many flows are named; the others are counted.
const MAX_NAMED: usize = 4;

/// Returns what takes away what stops or hurts a flow, from the caller on: each was tried on the documents before it is named. Whoever
/// shows them asks the gate for the class of each command.
#[must_use]
pub fn flow_remedies(bundle: &Bundle, flow: &Flow, group: &str) -> Vec<JudgedRemedy> {
    let estate = Estate::of(bundle);
    let all = path::remedies(bundle, std::slice::from_ref(flow));
    all.iter().filter_map(|one| in_words(one, (group, &bundle.cloud), &estate)).collect()
}

/// Writes a remedy down; nothing where a name in it cannot stand in a command, or where it goes through a program that has no command
/// for it.
pub(super) fn in_words(
    remedy: &Remedy,
    (group, cloud): (&str, &Cloud),
    estate: &Estate,
) -> Option<JudgedRemedy> {
    let step = |change: &Change| {
        let there = cloud.group_words(group, place(change, cloud));
        step(change, there.as_deref().unwrap_or(group))
    };
    let steps: Vec<Step> = remedy.changes.iter().map(step).collect::<Option<_>>()?;
    let first = steps.first()?;
    let mut commands: Vec<String> = Vec::new();
    for command in steps.iter().flat_map(|step| &step.commands) {
        if !commands.contains(command) {
            commands.push(command.clone());
        }
    }
    let object = object(&remedy.cause.object);
    Some(JudgedRemedy {
        fault: remedy.cause.fault.to_string(),
        object: object.clone(),
        what: first.what.clone(),
        look: first.look.clone(),
        commands,
        effect: effect(remedy, estate),
        risk: first.risk.clone(),
    })
}

/// Returns where what a change is about stands; nothing for what is inside a machine.
fn place(change: &Change, cloud: &Cloud) -> Option<Place> {
    let (list, name) = match change {
        Change::DeleteSecurityRule { group, .. } | Change::AllowInGroup { group, .. } => ("groups", group),
        Change::DeleteRoute { table, .. } | Change::AddRoute { table, .. } => ("route_tables", table),
        Change::ForwardAtInterface { nic } => ("interfaces", nic),
        Change::LetForwardedIn { network, .. } => ("networks", network),
        Change::DeleteGuestRule(_)
        | Change::AcceptInGuest { .. }
        | Change::Unban { .. }
        | Change::RemoveShaping { .. } => return None,
    };
    cloud.place_in(list, name)
}

/// A change in words.
struct Step {
    what: String,
    look: String,
    commands: Vec<String>,
    risk: String,
}

/// Tells whether a name means the same in a command as it does in a document.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && plain(text) == text
        && text.chars().all(|char| char.is_ascii_alphanumeric() || "._-@".contains(char))
}

fn step(change: &Change, group: &str) -> Option<Step> {
    match change {
        Change::DeleteSecurityRule { group: nsg, rule } => {
            let rule = words([nsg, rule]).then(|| format!("-g {group} --nsg-name {nsg} -n {rule}"))?;
            Some(Step {
                what: format!(
                    "Take the security rule {} off {nsg}, once its owner agrees.",
                    rule.rsplit(' ').next()?
                ),
                look: format!(
                    "`az network nsg rule show {rule} -o json`; keep what it prints, it is what to restore"
                ),
                commands: vec![format!("az network nsg rule delete {rule}")],
                risk: "`az network nsg rule create` with the kept values puts it back.".to_owned(),
            })
        }
        Change::AllowInGroup { group: nsg, before, name, priority, direction, admitted } => {
            words([nsg, before]).then_some(())?;
            let protocol = match admitted.protocol {
                Protocol::Tcp => "Tcp",
                Protocol::Udp => "Udp",
                Protocol::Icmp => "Icmp",
            };
            let direction = match direction {
                ghost_inspect::nsg::Direction::Inbound => "Inbound",
                ghost_inspect::nsg::Direction::Outbound => "Outbound",
            };
            let port = admitted.port.map_or_else(|| "'*'".to_owned(), |port| port.to_string());
            let (src, dst) = (admitted.src, admitted.dst);
            Some(Step {
                what: format!(
                    "Let exactly this caller, address and port through {nsg} before {before} denies it; {before} stays."
                ),
                look: format!(
                    "`az network nsg rule list -g {group} --nsg-name {nsg} -o table`: {priority} was free when it was read, and stands before {before}"
                ),
                commands: vec![format!(
                    "az network nsg rule create -g {group} --nsg-name {nsg} -n {name} --priority {priority} --direction {direction} --access Allow --protocol {protocol} --source-address-prefixes {src} --destination-address-prefixes {dst} --destination-port-ranges {port}"
                )],
                risk: format!(
                    "whoever has that address gets through to that port. `az network nsg rule delete -g {group} --nsg-name {nsg} -n {name}` takes it back."
                ),
            })
        }
        Change::DeleteRoute { table, route } => {
            words([table, route]).then_some(())?;
            let named = format!("-g {group} --route-table-name {table} -n {route}");
            Some(Step {
                what: format!("Take the route {route} off the table {table}; if it leads to an appliance that is meant to be there, bring that back instead."),
                look: format!("`az network route-table route show {named} -o json`; keep what it prints, it is what to restore"),
                commands: vec![format!("az network route-table route delete {named}")],
                risk: "what the route kept off comes through again, and what an appliance inspected goes uninspected. `az network route-table route create` with the kept values puts it back.".to_owned(),
            })
        }
        Change::AddRoute { table, name, to, hop } => {
            words([table]).then_some(())?;
            let bits = if to.is_ipv6() { 128 } else { 32 };
            Some(Step {
                what: format!(
                    "Add a route for {to} alone to the table {table}; the wider route stays for everybody else."
                ),
                look: format!(
                    "`az network route-table route list -g {group} --route-table-name {table} -o table`"
                ),
                commands: vec![format!(
                    "az network route-table route create -g {group} --route-table-name {table} -n {name} --address-prefix {to}/{bits} --next-hop-type {hop}"
                )],
                risk: format!(
                    "every machine of the subnets of {table} reaches {to} by this route. `az network route-table route delete -g {group} --route-table-name {table} -n {name}` takes it back."
                ),
            })
        }
        Change::ForwardAtInterface { nic } => {
            words([nic]).then_some(())?;
            Some(Step {
                what: format!("Let the network interface {nic} of the appliance forward what is not for it."),
                look: format!("`az network nic show -g {group} -n {nic} --query enableIPForwarding`"),
                commands: vec![format!("az network nic update -g {group} -n {nic} --ip-forwarding true")],
                risk: format!(
                    "whatever routes lead there is passed on. `az network nic update -g {group} -n {nic} --ip-forwarding false` takes it back."
                ),
            })
        }
        Change::LetForwardedIn { network, peering } => {
            words([network, peering]).then_some(())?;
            let named = format!("-g {group} --vnet-name {network} -n {peering}");
            Some(Step {
                what: format!("Let the peering {peering} of {network} take in what others forward."),
                look: format!("`az network vnet peering show {named} --query allowForwardedTraffic`"),
                commands: vec![format!(
                    "az network vnet peering update {named} --set allowForwardedTraffic=true"
                )],
                risk: format!(
                    "whatever an appliance of the other network passes on may come in, as far as rules let it. `az network vnet peering update {named} --set allowForwardedTraffic=false` takes it back."
                ),
            })
        }
        Change::DeleteGuestRule(rule) => delete_guest_rule(rule),
        Change::AcceptInGuest { machine, table, chain, before, admitted } => {
            accept((machine, table, chain), before.as_ref(), admitted)
        }
        Change::Unban { machine, chain, ip } => {
            words([machine, chain]).then_some(())?;
            let jail = ["f2b-", "fail2ban-", "addr-set-"].iter().find_map(|start| chain.strip_prefix(start));
            let jail = jail.unwrap_or(chain);
            Some(Step {
                what: format!("On {machine}, lift the ban of {ip} through fail2ban itself; a rule that is only deleted comes back."),
                look: format!("`sudo grep {ip} /var/log/fail2ban.log` says why it was banned"),
                commands: vec![format!("sudo fail2ban-client set {jail} unbanip {ip}")],
                risk: "if the address did try passwords, it may go on: ask its owner, and put it on the jail's `ignoreip` only if it is trusted.".to_owned(),
            })
        }
        Change::RemoveShaping { machine, device } => {
            words([machine, device]).then_some(())?;
            Some(Step {
                what: format!("On {machine}, take the traffic shaping off {device}, and find what sets it (a unit, a cron job, a test that was left), or it comes back."),
                look: format!("`tc -s qdisc show dev {device}` and `tc filter show dev {device}`; keep what they print, it is what to restore"),
                commands: vec![format!("sudo tc qdisc del dev {device} root")],
                risk: "the link runs at full speed again; if the shaping was meant, put it back as it was printed.".to_owned(),
            })
        }
    }
}

fn words<const N: usize>(all: [&String; N]) -> bool {
    all.into_iter().all(|one| is_word(one))
}

/// The program to which a chain belongs, with what it calls the direction.
enum Owner<'a> {
    Nobody,
    Ufw(&'a str),
    Firewalld(&'a str),
    Docker,
    /// It is written from files, or by something without a command for a single rule.
    Other,
}

fn owner<'a>(table: &str, chain: &'a str) -> Owner<'a> {
    if table.contains("firewalld") {
        let zone = chain.strip_prefix("filter_IN_").and_then(|rest| rest.rsplit_once('_'));
        return zone.map_or(Owner::Other, |(zone, _)| Owner::Firewalld(zone));
    }
    match chain {
        "DOCKER-USER" => Owner::Nobody,
        _ if chain.starts_with("DOCKER") => Owner::Docker,
        _ if chain.starts_with("ufw") => chain.strip_prefix("ufw-user-").map_or(Owner::Other, Owner::Ufw),
        _ if ["KUBE-", "CNI-", "cali", "CILIUM", "LIBVIRT", "NETAVARK", "ISTIO"]
            .iter()
            .any(|start| chain.starts_with(start)) =>
        {
            Owner::Other
        }
        _ => Owner::Nobody,
    }
}

const PERSISTENT: &str = "The script or file that hardens the machine has to say the same, or the next run brings it back as it was.";

fn delete_guest_rule(rule: &GuestRule) -> Option<Step> {
    let GuestRule { machine, table, chain, position, handle, raw, is_six } = rule;
    words([machine, chain]).then_some(())?;
    let what = format!("On {machine}, take rule {position} of {chain} away; every other rule stays.");
    match owner(table, chain) {
        Owner::Other | Owner::Firewalld(_) => None,
        Owner::Docker => Some(Step {
            what: format!(
                "On {machine}, let Docker make its chains anew: rule {position} of {chain} is none of its own."
            ),
            look: "`sudo iptables-save`; keep what it prints".to_owned(),
            commands: vec!["sudo systemctl restart docker".to_owned()],
            risk: format!(
                "containers on {machine} stop for the restart unless `live-restore` is on; choose the moment."
            ),
        }),
        Owner::Ufw(direction) => {
            let spec = ufw_rule(raw, direction)?;
            Some(Step {
                what: format!("On {machine}, take the rule away through ufw, whose chain {chain} is."),
                look: "`sudo ufw status numbered`".to_owned(),
                commands: vec![spec],
                risk: "`sudo ufw` with the same words and without `delete` puts it back.".to_owned(),
            })
        }
        Owner::Nobody => match table.split_once(':') {
            Some((family, name)) => {
                is_word(family).then_some(())?;
                is_word(name).then_some(())?;
                let target = format!("{family} {name} {chain}");
                Some(Step {
                    what,
                    look: format!(
                        "`sudo nft -a list chain {target}`; keep what it prints, it is what to restore"
                    ),
                    commands: vec![format!("sudo nft delete rule {target} handle {}", (*handle)?)],
                    risk: format!("where the rule was meant, what it kept out comes in. {PERSISTENT}"),
                })
            }
            None => {
                let program = if *is_six { "ip6tables" } else { "iptables" };
                is_word(table).then_some(())?;
                let on = if table == "filter" { String::new() } else { format!(" -t {table}") };
                let spelled = raw.strip_prefix(&format!("-A {chain} "))?;
                // What somebody wrote into a comment is no part of a command: then the rule goes by its number.
                let is_plain =
                    raw.chars().all(|char| char.is_ascii_alphanumeric() || " ._:/,!=+-".contains(char));
                let (by, back) = if is_plain {
                    (
                        spelled.to_owned(),
                        format!(" `sudo {program}{on} -I {chain} {position} {spelled}` puts it back."),
                    )
                } else {
                    (position.to_string(), String::new())
                };
                Some(Step {
                    what,
                    look: format!(
                        "`sudo {program}{on} -S {chain}`; rule {position} has to be the one that is meant"
                    ),
                    commands: vec![format!("sudo {program}{on} -D {chain} {by}")],
                    risk: format!("where the rule was meant, what it kept out comes in.{back} {PERSISTENT}"),
                })
            }
        },
    }
}

/// Writes a rule of ufw's own as it was given to it.
fn ufw_rule(raw: &str, direction: &str) -> Option<String> {
    let (mut source, mut destination, mut protocol, mut port, mut verdict) = ("any", "any", None, None, None);
    let mut tokens = raw.split_whitespace().skip(2);
    while let Some(token) = tokens.next() {
        let value = tokens.next()?;
        match token {
            "-s" => source = value,
            "-d" => destination = value,
            "-p" => protocol = Some(value),
            "-m" if ["tcp", "udp"].contains(&value) => {}
            "--dport" => port = Some(value),
            "-j" => verdict = Some(value),
            _ => return None,
        }
    }
    let verdict = match verdict? {
        "DROP" => "deny",
        "REJECT" => "reject",
        _ => return None,
    };
    let (route, out) = match direction {
        "input" => ("", ""),
        "output" => ("", "out "),
        _ => ("route ", ""),
    };
    let protocol = protocol.map(|protocol| format!("proto {protocol} ")).unwrap_or_default();
    let port = port.map(|port| format!(" port {port}")).unwrap_or_default();
    Some(format!("sudo ufw {route}delete {verdict} {out}{protocol}from {source} to {destination}{port}"))
}

fn accept(
    (machine, table, chain): (&String, &str, &String),
    before: Option<&GuestRule>,
    admitted: &Admitted,
) -> Option<Step> {
    words([machine, chain]).then_some(())?;
    let what = format!(
        "On {machine}, let exactly this caller, address and port through in {chain}; what stops everything else stays."
    );
    let opens = "whoever has that address gets through to that port.";
    let Admitted { protocol, src, dst, port, side } = admitted;
    let port_of = |before: &str| port.map(|port| format!("{before}{port}")).unwrap_or_default();
    match owner(table, chain) {
        Owner::Other | Owner::Docker => None,
        Owner::Ufw(_) | Owner::Firewalld(_) if *side == Side::Return || *protocol == Protocol::Icmp => None,
        Owner::Ufw(direction) => {
            let verb = if before.is_some() { "prepend allow" } else { "allow" };
            let (route, out) = match direction {
                "input" => ("", ""),
                "output" => ("", "out "),
                _ => ("route ", ""),
            };
            let rule = format!("{out}proto {protocol} from {src} to {dst}{}", port_of(" port "));
            Some(Step {
                what: format!(
                    "On {machine}, let exactly this caller, address and port through by ufw; its policy stays."
                ),
                look: "`sudo ufw status verbose`".to_owned(),
                commands: vec![format!("sudo ufw {route}{verb} {rule}")],
                risk: format!("{opens} `sudo ufw {route}delete allow {rule}` takes it back."),
            })
        }
        Owner::Firewalld(zone) => {
            is_word(zone).then_some(())?;
            let family = if src.is_ipv6() { "ipv6" } else { "ipv4" };
            let rule = format!(
                "rule family=\"{family}\" source address=\"{src}\" destination address=\"{dst}\" port port=\"{}\" protocol=\"{protocol}\" accept",
                port.unwrap_or_default()
            );
            Some(Step {
                what: format!(
                    "On {machine}, let exactly this caller, address and port into the zone {zone} by firewalld."
                ),
                look: format!("`sudo firewall-cmd --zone={zone} --list-all`"),
                commands: vec![
                    format!("sudo firewall-cmd --zone={zone} --add-rich-rule='{rule}'"),
                    "sudo firewall-cmd --runtime-to-permanent".to_owned(),
                ],
                risk: format!("{opens} `--remove-rich-rule` with the same words takes it back."),
            })
        }
        Owner::Nobody => match table.split_once(':') {
            Some((family, name)) => {
                is_word(family).then_some(())?;
                is_word(name).then_some(())?;
                let target = format!("{family} {name} {chain}");
                let verb = match before {
                    Some(before) => format!("insert rule {target} handle {}", before.handle?),
                    None => format!("add rule {target}"),
                };
                Some(Step {
                    what,
                    look: format!(
                        "`sudo nft -a list chain {target}`; keep what it prints, it is what to restore"
                    ),
                    commands: vec![format!("sudo nft {verb} {}", admitted.nft_words())],
                    risk: format!("{opens} {PERSISTENT}"),
                })
            }
            None => {
                let program = if src.is_ipv6() { "ip6tables" } else { "iptables" };
                is_word(table).then_some(())?;
                let on = if table == "filter" { String::new() } else { format!(" -t {table}") };
                let rule = admitted.iptables_words();
                let place = match before {
                    Some(before) => format!("-I {chain} {}", before.position),
                    None => format!("-A {chain}"),
                };
                Some(Step {
                    what,
                    look: format!("`sudo {program}{on} -S {chain}`"),
                    commands: vec![format!("sudo {program}{on} {place} {rule}")],
                    risk: format!(
                        "{opens} `sudo {program}{on} -D {chain} {rule}` takes it back. {PERSISTENT}"
                    ),
                })
            }
        },
    }
}

/// Says what was seen when it was tried on what was read.
fn effect(remedy: &Remedy, estate: &Estate) -> String {
    let name = |flow: &Flow| named(flow, estate);
    let mut lines: Vec<String> = Vec::new();
    for after in &remedy.after {
        let flow = name(&after.flow);
        lines.push(match (&after.fate, after.next.first()) {
            (Fate::Passes, _) => format!("with it {flow} passes"),
            (_, Some(next)) => format!(
                "with it {flow} gets past this, and next is: {}",
                title(next.fault.as_str(), &object(&next.object))
            ),
            (Fate::NoPath(_) | Fate::Stopped | Fate::Degraded | Fate::Partly | Fate::Unknown, None) => {
                format!("with it nothing that was read stops {flow} any more; what was not read may")
            }
        });
    }
    let more = lines.len().saturating_sub(MAX_NAMED);
    lines.truncate(MAX_NAMED);
    lines.extend((more > 0).then(|| format!("and so do {more} more")));
    if remedy.opened.is_empty() && remedy.closed.is_empty() {
        lines.push(match (remedy.others, remedy.eased) {
            (0, _) => "no other flow was judged".to_owned(),
            (some, 0) => format!("nothing else changes ({some} other flows were judged)"),
            (some, eased) => {
                format!("{eased} of {some} other flows were hurt by it, too, and are not any more")
            }
        });
    }
    let listed = |flows: &[Flow]| {
        let mut names: Vec<String> = flows.iter().take(MAX_NAMED).map(&name).collect();
        let more = flows.len().saturating_sub(MAX_NAMED);
        names.extend((more > 0).then(|| format!("{more} more")));
        names.join(", ")
    };
    if !remedy.opened.is_empty() {
        lines.push(format!("it also lets through {}", listed(&remedy.opened)));
    }
    if !remedy.closed.is_empty() {
        lines.push(format!("it stops {}", listed(&remedy.closed)));
    }
    if !remedy.spared.is_empty() {
        lines.push(format!("taken away as a whole it would let through {} as well", listed(&remedy.spared)));
    }
    let text = lines.join("; ");
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

fn named(flow: &Flow, estate: &Estate) -> String {
    let end = |address| estate.machine_at(address).map_or_else(|| address.to_string(), plain);
    let port = flow.dst_port.map(|port| format!("/{port}")).unwrap_or_default();
    format!("{} → {} {}{port}", end(flow.src), end(flow.dst), flow.protocol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_inspect::path::AdmittedEnd;

    fn rule(table: &str, chain: &str, raw: &str) -> GuestRule {
        GuestRule {
            machine: "db-1".to_owned(),
            table: table.to_owned(),
            chain: chain.to_owned(),
            position: 3,
            handle: Some(7),
            raw: raw.to_owned(),
            is_six: false,
        }
    }

    #[track_caller]
    fn check(change: &Change, expected: &[&str]) {
        let commands = step(change, "rg").map(|step| step.commands).unwrap_or_default();
        assert_eq!(commands, expected);
    }

    fn admitted(side: Side) -> Admitted {
        let end = |text: &str| AdmittedEnd::Address(text.parse().unwrap());
        let (src, dst) = (end("10.0.1.4"), end("10.0.2.4"));
        Admitted { protocol: Protocol::Tcp, src, dst, port: Some(5432), side }
    }

    fn accepts(table: &str, chain: &str, before: Option<GuestRule>) -> Change {
        Change::AcceptInGuest {
            machine: "db-1".to_owned(),
            table: table.to_owned(),
            chain: chain.to_owned(),
            before,
            admitted: admitted(Side::Forward),
        }
    }

    #[test]
    fn a_rule_is_deleted_word_for_word() {
        let raw = "-A INPUT -p tcp -m tcp --dport 5432 -j DROP";
        check(
            &Change::DeleteGuestRule(rule("filter", "INPUT", raw)),
            &["sudo iptables -D INPUT -p tcp -m tcp --dport 5432 -j DROP"],
        );
        check(
            &Change::DeleteGuestRule(rule("inet:guard", "input", "tcp dport 5432 drop")),
            &["sudo nft delete rule inet guard input handle 7"],
        );
    }

    #[test]
    fn words_that_somebody_wrote_into_a_rule_are_no_command() {
        let raw = "-A INPUT -p tcp -m comment --comment \"; rm -rf /\" -j DROP";
        check(&Change::DeleteGuestRule(rule("filter", "INPUT", raw)), &["sudo iptables -D INPUT 3"]);
        let odd = Change::DeleteSecurityRule { group: "a-nsg".to_owned(), rule: "x; reboot".to_owned() };
        check(&odd, &[]);
    }

    #[test]
    fn what_a_program_owns_is_changed_through_it() {
        let raw = "-A ufw-user-input -s 10.0.1.4/32 -p tcp -m tcp --dport 5432 -j DROP";
        check(
            &Change::DeleteGuestRule(rule("filter", "ufw-user-input", raw)),
            &["sudo ufw delete deny proto tcp from 10.0.1.4/32 to any port 5432"],
        );
        check(&Change::DeleteGuestRule(rule("filter", "ufw-before-input", raw)), &[]);
        check(
            &Change::DeleteGuestRule(rule("filter", "DOCKER", "-A DOCKER -j DROP")),
            &["sudo systemctl restart docker"],
        );
        check(
            &accepts("filter", "ufw-user-input", None),
            &["sudo ufw allow proto tcp from 10.0.1.4 to 10.0.2.4 port 5432"],
        );
        check(
            &accepts("inet:firewalld", "filter_IN_public_allow", None),
            &[
                "sudo firewall-cmd --zone=public --add-rich-rule='rule family=\"ipv4\" source address=\"10.0.1.4\" destination address=\"10.0.2.4\" port port=\"5432\" protocol=\"tcp\" accept'",
                "sudo firewall-cmd --runtime-to-permanent",
            ],
        );
        let ip = "10.0.1.4".parse().unwrap();
        let ban = Change::Unban { machine: "db-1".to_owned(), chain: "f2b-sshd".to_owned(), ip };
        check(&ban, &["sudo fail2ban-client set sshd unbanip 10.0.1.4"]);
    }

    #[test]
    fn a_rule_goes_before_what_stops_the_flow() {
        check(
            &accepts("filter", "INPUT", Some(rule("filter", "INPUT", "-A INPUT -j DROP"))),
            &["sudo iptables -I INPUT 3 -s 10.0.1.4/32 -d 10.0.2.4/32 -p tcp -m tcp --dport 5432 -j ACCEPT"],
        );
        check(
            &accepts("inet:guard", "input", Some(rule("inet:guard", "input", "drop"))),
            &[
                "sudo nft insert rule inet guard input handle 7 ip saddr 10.0.1.4 ip daddr 10.0.2.4 tcp dport 5432 accept",
            ],
        );
    }
}
