//! One command as edits: `az network …`, power of a machine, and lines of `iptables`, `nft` and `tc` inside a machine.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::admission::admission;
use super::balancer::{BalancerList, reference};
use super::documents::{Rows, body, id_name, is_named, items};
use super::draft::Draft;
use super::edit::{Edit, Peering, RouteRow, SecurityRule, Target};
use super::firewall_command::firewall;
use super::name::{last, part_after};
use super::resource::peering_of;
use super::routes::route_of;
use super::script::{bare, guest, segments};
use crate::net::Fields as _;
use crate::path::Bundle;

/// Why nobody can say what a command does to flows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// It does nothing that a flow would notice, as far as it is known.
    #[error("it is no change of the network that is known here")]
    Foreign,
    /// It is one, and cannot be said whole.
    #[error("{0}")]
    Unclear(String),
}

/// Reads a command as edits of an estate of which some documents were read.
///
/// # Errors
/// Fails where it changes nothing of the network that is known, or where its words do not say what.
pub fn command(words: &[String], bundle: &Bundle) -> Result<Vec<Edit>, CommandError> {
    let name = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    match name {
        "az" => az(words.get(1..).unwrap_or_default(), bundle),
        "ssh" => ssh(words.get(1..).unwrap_or_default(), bundle),
        _ => Err(CommandError::Foreign),
    }
}

/// The words of `az` in order.
pub(super) struct Words<'a> {
    group: Vec<&'a str>,
    options: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Words<'a> {
    fn of(words: &'a [String]) -> Self {
        let mut found = Self { group: Vec::new(), options: Vec::new() };
        for word in words {
            let is_option = word.starts_with("--")
                || matches!(word.as_str(), "-g" | "-n" | "-o" | "-h" | "-f" | "-c" | "-s" | "-m");
            match (is_option, found.options.last_mut()) {
                (true, _) => {
                    let (name, value) =
                        word.split_once('=').map_or((word.as_str(), None), |(a, b)| (a, Some(b)));
                    found.options.push((name, value.into_iter().collect()));
                }
                (false, Some((_, values))) => values.push(word),
                (false, None) => found.group.push(word),
            }
        }
        found
    }

    fn all(&self, names: &[&str]) -> Option<&[&'a str]> {
        let own = self.options.iter().rev().find(|(name, _)| names.contains(name));
        own.map(|(_, values)| values.as_slice())
    }

    pub(super) fn one(&self, names: &[&str]) -> Option<&'a str> {
        self.all(names)?.first().copied()
    }

    pub(super) fn need(&self, names: &[&str]) -> Result<String, CommandError> {
        let missing =
            || CommandError::Unclear(format!("{} is missing", names.first().unwrap_or(&"an option")));
        self.one(names).map(str::to_owned).ok_or_else(missing)
    }

    pub(super) fn list(&self, names: &[&str]) -> Option<Vec<String>> {
        self.all(names).map(|values| values.iter().map(|value| (*value).to_owned()).collect())
    }

    fn flag(&self, names: &[&str]) -> Option<bool> {
        let values = self.all(names)?;
        Some(
            !values
                .first()
                .is_some_and(|word| matches!(word.to_ascii_lowercase().as_str(), "false" | "no" | "n" | "0")),
        )
    }

    /// Returns a reference to another resource: its name, or nothing where it is taken off.
    fn reference(&self, names: &[&str]) -> Option<Option<String>> {
        let values = self.all(names)?;
        let text = values.first().copied().unwrap_or_default();
        Some(last(text).filter(|name| !matches!(name.as_str(), "null" | "\"\"" | "''")))
    }
}

const NAME: &[&str] = &["--name", "-n"];

fn az(words: &[String], bundle: &Bundle) -> Result<Vec<Edit>, CommandError> {
    let words = Words::of(words);
    let generic = words.options.iter().any(|(name, _)| matches!(*name, "--set" | "--add" | "--remove"));
    let unclear = |target: Target| {
        Ok(vec![Edit::Obscure {
            target,
            why: "--set, --add and --remove say it in their own manner".to_owned(),
        }])
    };
    match words.group.as_slice() {
        ["network", "nsg", "rule", verb @ ("create" | "update")] => {
            let group = words.need(&["--nsg-name"])?;
            if generic {
                return unclear(Target::Group(group));
            }
            let rule = rule(&words, *verb == "update", &group, bundle)?;
            Ok(vec![Edit::PutRule { group, rule }])
        }
        ["network", "nsg", "rule", "delete"] => {
            Ok(vec![Edit::DeleteRule { group: words.need(&["--nsg-name"])?, rule: words.need(NAME)? }])
        }
        ["network", "nsg", "delete"] => Ok(vec![Edit::DeleteGroup { group: words.need(NAME)? }]),
        ["network", "nsg", "create"] => {
            Ok(vec![Edit::PutGroup { group: words.need(NAME)?, rules: Vec::new() }])
        }
        ["network", "route-table", "route", verb @ ("create" | "update")] => {
            let table = words.need(&["--route-table-name"])?;
            if generic {
                return unclear(Target::Table(table));
            }
            let route = route(&words, *verb == "update", &table, bundle)?;
            Ok(vec![Edit::PutRoute { table, route }])
        }
        ["network", "route-table", "route", "delete"] => Ok(vec![Edit::DeleteRoute {
            table: words.need(&["--route-table-name"])?,
            route: words.need(NAME)?,
        }]),
        ["network", "route-table", "delete"] => Ok(vec![Edit::DeleteTable { table: words.need(NAME)? }]),
        ["network", "vnet", "subnet", "update"] => {
            let (network, subnet) = (words.need(&["--vnet-name"])?, words.need(NAME)?);
            if generic || words.all(&["--address-prefixes", "--address-prefix"]).is_some() {
                return unclear(Target::Network(network));
            }
            let group = words.reference(&["--network-security-group", "--nsg"]);
            let table = words.reference(&["--route-table"]);
            let mut edits: Vec<Edit> = Vec::new();
            edits.extend(group.map(|group| Edit::SetSubnetGroup {
                network: network.clone(),
                subnet: subnet.clone(),
                group,
            }));
            edits.extend(table.map(|table| Edit::SetSubnetTable { network, subnet, table }));
            some(edits)
        }
        ["network", "vnet", "peering", "create"] => {
            let remote = words.need(&["--remote-vnet", "--remote-vnet-id"])?;
            let remote =
                last(&remote).ok_or_else(|| CommandError::Unclear("--remote-vnet is empty".to_owned()))?;
            let peering = flagged(
                Peering {
                    name: words.need(NAME)?,
                    remote,
                    access: true,
                    forwarded: false,
                    transit: false,
                    remote_gateway: false,
                },
                &words,
            );
            Ok(vec![Edit::PutPeering { network: words.need(&["--vnet-name"])?, peering }])
        }
        ["network", "vnet", "peering", "delete"] => Ok(vec![Edit::DeletePeering {
            network: words.need(&["--vnet-name"])?,
            peering: words.need(NAME)?,
        }]),
        ["network", "vnet", "peering", "update"] => {
            let (network, name) = (words.need(&["--vnet-name"])?, words.need(NAME)?);
            let other = ["--remote-vnet", "--local-subnet-names", "--remote-subnet-names"];
            let other = words.options.iter().any(|(option, _)| other.contains(option));
            if generic || other {
                return unclear(Target::Network(network));
            }
            match known_peering(&Draft::of(bundle), &network, &name) {
                Some(known) => Ok(vec![Edit::PutPeering { network, peering: flagged(known, &words) }]),
                None => Ok(vec![Edit::Obscure {
                    target: Target::Network(network),
                    why: format!("the peering {name} was not read"),
                }]),
            }
        }
        ["network", "nic", "update"] => {
            let nic = words.need(NAME)?;
            if generic {
                return unclear(Target::Interface(nic));
            }
            let mut edits = Vec::new();
            edits.extend(
                words
                    .flag(&["--ip-forwarding"])
                    .map(|forwards| Edit::SetForwarding { nic: nic.clone(), forwards }),
            );
            edits.extend(
                words
                    .reference(&["--network-security-group"])
                    .map(|group| Edit::SetInterfaceGroup { nic: nic.clone(), group }),
            );
            some(edits)
        }
        ["network", "lb", rest @ ..] => balancer(rest, &words),
        ["network", "firewall", verb @ ..] if !verb.last().is_none_or(|verb| READS.contains(verb)) => {
            if let Some(edit) = firewall(verb, &words)?.filter(|_| !generic) {
                return Ok(vec![Edit::Firewall(edit)]);
            }
            let name = words.one(NAME).map(|name| format!(" {name}")).unwrap_or_default();
            Ok(vec![Edit::not_judged(
                &format!("firewall {}{name}", verb.join(" ")),
                "this change of a firewall",
            )])
        }
        ["network", "nic", "ip-config", "address-pool", verb @ ("add" | "remove")] => {
            let pool = words.need(&["--address-pool"])?;
            let balancer =
                part_after(&pool, "loadBalancers").map_or_else(|| words.need(&["--lb-name"]), Ok)?;
            let pool = last(&pool).unwrap_or(pool);
            let nic = words.need(&["--nic-name"])?;
            Ok(vec![Edit::SetPoolMember { balancer, pool, nic, is_in: *verb == "add" }])
        }
        ["vm", verb @ ("stop" | "deallocate" | "start" | "delete")] => {
            Ok(vec![Edit::SetPower { machine: words.need(NAME)?, runs: *verb == "start" }])
        }
        ["vm", "run-command", "invoke"] => {
            let machine = words.need(NAME)?;
            let scripts = words.list(&["--scripts"]).unwrap_or_default();
            guest(&machine, &scripts.join("\n"))
        }
        ["group" | "resource" | "stack", .., "delete"] => {
            let name = words.one(&["--name", "-n", "--ids", "-g", "--resource-group"]).unwrap_or("of it");
            Ok(vec![Edit::not_judged(name, "the deletion of a resource, with all that is in it,")])
        }
        [_, .., "firewall-rule", verb @ ("create" | "update" | "delete")] => {
            admitted(&words, *verb == "delete")
        }
        ["rest", ..]
            if words.one(&["--method", "-m"]).is_none_or(|verb| verb.eq_ignore_ascii_case("get")) =>
        {
            Err(CommandError::Foreign)
        }
        [service, ..] if UNJUDGED.iter().any(|(own, _)| own == service) => {
            let verb = words.group.last().copied().unwrap_or_default();
            if *service != "rest"
                && (READS.contains(&verb) || verb.starts_with("list") || verb.starts_with("get-"))
            {
                return Err(CommandError::Foreign);
            }
            let what = UNJUDGED.iter().find(|(own, _)| own == service).map_or("this", |(_, what)| *what);
            let name = words.one(NAME).map(|name| format!(" {name}")).unwrap_or_default();
            Ok(vec![Edit::not_judged(&format!("{}{name}", words.group.join(" ")), what)])
        }
        ["vm", "extension" | "run-command", .., verb] if !READS.contains(verb) => {
            let machine = words.need(&["--vm-name", "--name", "-n"])?;
            let why = "the platform runs a program in it, and what that does is not known".to_owned();
            Ok(vec![Edit::Obscure { target: Target::Machine(machine), why }])
        }
        ["storage", "account", .., verb]
        | ["keyvault", "network-rule", verb]
        | ["keyvault", verb @ ("update" | "delete")]
            if !READS.contains(verb) && !verb.starts_with("show") =>
        {
            let name = words.one(&["--name", "-n", "--account-name", "--vault-name"]).unwrap_or_default();
            Ok(vec![Edit::not_judged(
                &format!("{} {name}", words.group.join(" ")),
                "the firewall of an account",
            )])
        }
        ["vm", "redeploy" | "reapply" | "reimage"] => {
            let why = "it is made again, and what is inside is not known".to_owned();
            Ok(vec![Edit::Obscure { target: Target::Machine(words.need(NAME)?), why }])
        }
        // Who watches and captures changes no flow.
        ["network", "watcher" | "ddos-protection", ..] => Err(CommandError::Foreign),
        ["network", kind, .., verb] if !READS.contains(verb) => {
            let name = words.one(NAME).map(|name| format!(" {name}")).unwrap_or_default();
            let what = words.group.iter().skip(1).copied().collect::<Vec<_>>().join(" ");
            let kind =
                KINDS.iter().find(|(own, _)| own == kind).map_or("a change of this kind", |(_, what)| *what);
            Ok(vec![Edit::not_judged(&format!("{what}{name}"), kind)])
        }
        _ => Err(CommandError::Foreign),
    }
}

/// Returns a peering as it was read.
pub(super) fn known_peering(draft: &Draft, network: &str, name: &str) -> Option<Peering> {
    let rows = draft.networks.named(network)?;
    items(rows, "virtualNetworkPeerings").find(|row| is_named(row, name)).and_then(peering_of)
}

/// Returns a peering with what the options say of it.
fn flagged(peering: Peering, words: &Words<'_>) -> Peering {
    let flag = |name: &str, known: bool| words.flag(&[name]).unwrap_or(known);
    Peering {
        access: flag("--allow-vnet-access", peering.access),
        forwarded: flag("--allow-forwarded-traffic", peering.forwarded),
        transit: flag("--allow-gateway-transit", peering.transit),
        remote_gateway: flag("--use-remote-gateways", peering.remote_gateway),
        ..peering
    }
}

/// What a command is about that nobody judges here.
const KINDS: [(&str, &str); 17] = [
    ("application-gateway", "an application gateway"),
    ("asg", "an application security group"),
    ("bastion", "a bastion"),
    ("dns", "a zone"),
    ("express-route", "an ExpressRoute circuit"),
    ("local-gateway", "a gateway of another site"),
    ("nat", "a NAT gateway"),
    ("nic", "this change of a network interface"),
    ("private-dns", "a private zone"),
    ("private-endpoint", "a private endpoint"),
    ("public-ip", "a public address"),
    ("route-table", "this change of a route table"),
    ("vhub", "a virtual hub"),
    ("vnet", "this change of a network"),
    ("vnet-gateway", "a gateway"),
    ("vpn-connection", "a VPN connection"),
    ("vpn-gateway", "a VPN gateway"),
];

/// Commands about other things than networks that can still change what becomes of a flow.
const UNJUDGED: [(&str, &str); 13] = [
    ("deployment", "a deployment of a template"),
    ("stack", "a deployment of a template"),
    ("vmss", "a scale set"),
    ("aks", "a cluster"),
    ("cosmosdb", "the firewall of a database"),
    ("sql", "a change of a database's server"),
    ("postgres", "a change of a database's server"),
    ("mysql", "a change of a database's server"),
    ("redis", "a change of a cache"),
    ("acr", "a change of a registry"),
    ("webapp", "a change of a web application"),
    ("functionapp", "a change of a web application"),
    ("rest", "a call of the platform's interface"),
];

/// Reads a change of a rule that lets addresses call a database.
fn admitted(words: &Words<'_>, is_deleted: bool) -> Result<Vec<Edit>, CommandError> {
    let rule = words.need(&["--rule-name", "--name", "-n"])?;
    let server = words.one(&["--server", "--server-name", "-s", "--name", "-n"]).unwrap_or_default();
    let kind = match words.group.as_slice() {
        ["sql", ..] => "microsoft.sql/servers/firewallrules",
        ["postgres", ..] => "microsoft.dbforpostgresql/flexibleservers/firewallrules",
        ["mysql", ..] => "microsoft.dbformysql/flexibleservers/firewallrules",
        ["mariadb", ..] => "microsoft.dbformariadb/servers/firewallrules",
        ["redis" | "synapse", ..] => "microsoft.cache/redis/firewallrules",
        _ => return Err(CommandError::Foreign),
    };
    let address = |names: &[&str]| words.one(names);
    let start = address(&["--start-ip-address", "--start-ip"]);
    let end = address(&["--end-ip-address", "--end-ip"]).or(start);
    let after =
        json!({"name": rule, "server_name": server, "start_ip_address": start, "end_ip_address": end});
    let not_judged = || vec![Edit::not_judged(&format!("{server}/{rule}"), "the firewall of a database")];
    if is_deleted {
        return Ok(not_judged());
    }
    Ok(admission(kind, None, &Value::Null, &after).map_or_else(not_judged, |one| vec![Edit::Admit(one)]))
}

/// What changes nothing.
const READS: [&str; 6] =
    ["list", "show", "exists", "wait", "list-effective-nsg", "show-effective-route-table"];

/// Reads a change of a load balancer.
fn balancer(verb: &[&str], words: &Words<'_>) -> Result<Vec<Edit>, CommandError> {
    if verb.last().is_some_and(|verb| READS.contains(verb)) {
        return Err(CommandError::Foreign);
    }
    let own: &[&str] = if verb.len() == 1 { NAME } else { &["--lb-name"] };
    let balancer = words.need(own)?;
    let list = match verb {
        ["rule", ..] => Some(BalancerList::Rules),
        ["probe", ..] => Some(BalancerList::Probes),
        ["address-pool", "create" | "delete"] => Some(BalancerList::Pools),
        ["inbound-nat-rule", ..] => Some(BalancerList::NatRules),
        _ => None,
    };
    match (verb, list) {
        (["delete"], _) => Ok(vec![Edit::DeleteBalancer { balancer }]),
        ([_, "delete"], Some(list)) => {
            Ok(vec![Edit::DeleteBalancerPart { balancer, list, part: words.need(NAME)? }])
        }
        (["rule", "create"], Some(list)) => {
            let part = balancer_rule(&balancer, words)?;
            Ok(vec![Edit::PutBalancerPart { balancer, list, part }])
        }
        _ => Ok(vec![Edit::Obscure {
            target: Target::Balancer(balancer),
            why: format!("nobody carries out `az network lb {}` here", verb.join(" ")),
        }]),
    }
}

fn balancer_rule(balancer: &str, words: &Words<'_>) -> Result<Value, CommandError> {
    let of =
        |list, names: &[&str]| words.one(names).and_then(last).map(|name| reference(balancer, list, &name));
    let port = |name: &str| {
        let text = words.need(&[name])?;
        text.parse::<u16>().map_err(|_| CommandError::Unclear(format!("`{text}` is no port")))
    };
    // `az` takes the only one where none is named.
    let frontend = of(BalancerList::Frontends, &["--frontend-ip", "--frontend-ip-name"]);
    let missing = || CommandError::Unclear("--frontend-ip is missing".to_owned());
    Ok(json!({"name": words.need(NAME)?, "properties": {
        "frontendIPConfiguration": frontend.ok_or_else(missing)?,
        "backendAddressPool": of(BalancerList::Pools, &["--backend-pool-name", "--backend-address-pool"]),
        "probe": of(BalancerList::Probes, &["--probe", "--probe-name"]), "protocol": words.need(&["--protocol"])?,
        "frontendPort": port("--frontend-port")?, "backendPort": port("--backend-port")?,
        "enableFloatingIP": words.flag(&["--floating-ip", "--enable-floating-ip"]).unwrap_or(false),
        "disableOutboundSnat": words.flag(&["--disable-outbound-snat"]).unwrap_or(false),
    }}))
}

pub(super) fn some(edits: Vec<Edit>) -> Result<Vec<Edit>, CommandError> {
    if edits.is_empty() { Err(CommandError::Foreign) } else { Ok(edits) }
}

fn rule(
    words: &Words<'_>,
    is_update: bool,
    group: &str,
    bundle: &Bundle,
) -> Result<SecurityRule, CommandError> {
    let name = words.need(NAME)?;
    let old = Draft::of(bundle).rules_of(group, Some(&name)).into_iter().next();
    if is_update && old.is_none() {
        return Err(CommandError::Unclear(format!("the rule {name} of {group} was not read")));
    }
    let any = || vec!["*".to_owned()];
    let (word, number) = (|name: &str| words.one(&[name]).map(str::to_owned), words.one(&["--priority"]));
    let priority = match number {
        Some(number) => {
            Some(number.parse().map_err(|_| CommandError::Unclear(format!("`{number}` is no priority")))?)
        }
        None => None,
    };
    let old = old.filter(|_| is_update);
    let asg = |side: &str| {
        let names = words.list(&[&format!("--{side}-asgs")])?;
        Some(names.iter().filter_map(|id| last(id)).map(|name| format!("asg-{name}")).collect::<Vec<_>>())
    };
    let list = |names: [&str; 2]| words.list(&names);
    let missing = |what: &str| CommandError::Unclear(format!("{what} is missing"));
    Ok(SecurityRule {
        priority: priority.or(old.as_ref().map(|old| old.priority)).ok_or_else(|| missing("--priority"))?,
        direction: word("--direction")
            .or_else(|| old.as_ref().map(|old| old.direction.clone()))
            .unwrap_or_else(|| "Inbound".to_owned()),
        access: word("--access")
            .or_else(|| old.as_ref().map(|old| old.access.clone()))
            .unwrap_or_else(|| "Allow".to_owned()),
        protocol: word("--protocol")
            .or_else(|| old.as_ref().map(|old| old.protocol.clone()))
            .unwrap_or_else(|| "*".to_owned()),
        sources: asg("source")
            .or_else(|| list(["--source-address-prefixes", "--source-address-prefix"]))
            .or_else(|| old.as_ref().map(|old| old.sources.clone()))
            .unwrap_or_else(any),
        source_ports: list(["--source-port-ranges", "--source-port-range"])
            .or_else(|| old.as_ref().map(|old| old.source_ports.clone()))
            .unwrap_or_else(any),
        destinations: asg("destination")
            .or_else(|| list(["--destination-address-prefixes", "--destination-address-prefix"]))
            .or_else(|| old.as_ref().map(|old| old.destinations.clone()))
            .unwrap_or_else(any),
        destination_ports: list(["--destination-port-ranges", "--destination-port-range"])
            .or_else(|| old.map(|old| old.destination_ports))
            .unwrap_or_else(|| if is_update { any() } else { vec!["80".to_owned()] }),
        name,
    })
}

fn route(words: &Words<'_>, is_update: bool, table: &str, bundle: &Bundle) -> Result<RouteRow, CommandError> {
    let name = words.need(NAME)?;
    let tables = Rows::of(bundle.cloud.route_tables.as_ref());
    let old = tables
        .named(table)
        .and_then(|row| items(row, "routes").find(|row| is_named(row, &name)).and_then(route_of));
    if is_update && old.is_none() {
        return Err(CommandError::Unclear(format!("the route {name} of {table} was not read")));
    }
    let old = old.filter(|_| is_update);
    let missing = |what: &str| CommandError::Unclear(format!("{what} is missing"));
    let word = |name: &str| words.one(&[name]).map(str::to_owned);
    Ok(RouteRow {
        prefix: word("--address-prefix")
            .or_else(|| old.as_ref().map(|old| old.prefix.clone()))
            .ok_or_else(|| missing("--address-prefix"))?,
        hop_type: word("--next-hop-type")
            .or_else(|| old.as_ref().map(|old| old.hop_type.clone()))
            .ok_or_else(|| missing("--next-hop-type"))?,
        hop: word("--next-hop-ip-address").or_else(|| old.and_then(|old| old.hop)),
        name,
    })
}

/// Reads `ssh [options] [USER@]HOST COMMAND…`.
fn ssh(words: &[String], bundle: &Bundle) -> Result<Vec<Edit>, CommandError> {
    let (at, line) = ssh_line(words).ok_or(CommandError::Foreign)?;
    let host = words.get(at).map(|host| host.rsplit('@').next().unwrap_or(host)).unwrap_or_default();
    guest(&machine_of(host, bundle), &line)
}

/// Returns where the host stands in the words behind `ssh`, and the script that follows it.
fn ssh_line(words: &[String]) -> Option<(usize, String)> {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        let takes =
            matches!(word.as_str(), "-o" | "-p" | "-i" | "-l" | "-F" | "-J" | "-c" | "-m" | "-b" | "-e");
        at += 1 + usize::from(takes);
    }
    let line = words.get(at + 1..).filter(|line| !line.is_empty())?.join(" ");
    Some((at, line))
}

/// The script of a command that runs in a machine, and the words around it.
pub(super) struct Script<'a> {
    before: &'a [String],
    pub(super) text: String,
    behind: &'a [String],
}

impl<'a> Script<'a> {
    /// Returns the script that holds a command.
    pub(super) fn of(words: &'a [String], line: &[String]) -> Option<Self> {
        if let Some(("ssh", rest)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
            let (at, text) = ssh_line(rest)?;
            return Some(Self { before: words.get(..at + 2)?, text, behind: &[] });
        }
        let holds = |word: &String| segments(word).any(|own| bare(own).is_some_and(|(_, own)| own == line));
        let at = words.iter().position(holds)?;
        let (before, rest) = words.split_at_checked(at)?;
        let (text, behind) = rest.split_first()?;
        Some(Self { before, text: text.clone(), behind })
    }

    /// Returns the command with another script.
    pub(super) fn with(&self, text: String) -> Vec<String> {
        self.before.iter().cloned().chain([text]).chain(self.behind.iter().cloned()).collect()
    }
}

/// Returns the machine that has an address, or the name itself.
fn machine_of(host: &str, bundle: &Bundle) -> String {
    let Ok(address) = host.parse::<IpAddr>() else { return host.to_owned() };
    let rows = Rows::of(bundle.cloud.interfaces.as_ref());
    let has = |row: &&serde_json::Value| {
        items(row, "ipConfigurations").map(body).any(|one| {
            one.text("privateIPAddress").and_then(|text| text.parse::<IpAddr>().ok()) == Some(address)
        })
    };
    let own = rows.read().and_then(|rows| rows.iter().find(has));
    own.and_then(|row| id_name(body(row).field("virtualMachine"))).unwrap_or_else(|| host.to_owned())
}
