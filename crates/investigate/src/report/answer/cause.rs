//! A fault in the words of whoever is paged: what it does, where, and what to do about it.

use std::net::IpAddr;

use super::kept_out;
use crate::event::FindingAccepted;
use crate::finding::{Fault, title};
use crate::judged::{JudgedCause, JudgedFlow, JudgedFlows};

/// A fault, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) struct Cause {
    /// What it does, and where: a clause without a full stop.
    pub(in crate::report) what: String,
    /// What to do: a sentence; empty where there is nothing to do.
    pub(in crate::report) action: String,
    /// Several faults with the same key are one thing to take away.
    pub(in crate::report) object: String,
    pub(in crate::report) weight: Weight,
}

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::report) enum Weight {
    Blocks,
    /// It lets in whom nobody meant to let in.
    Exposes,
    Degrades,
    /// A comparison that found nothing.
    Unchanged,
}

/// Returns the accepted faults, the ones that block first. Several faults of one line of shaping are one cause, and
/// so is what is said of several flows in the same words.
pub(in crate::report) fn causes(accepted: &[FindingAccepted], judged: &JudgedFlows) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for found in accepted {
        let fresh = cause(found, judged);
        // "nothing listens there" is one thing, however many call it.
        if causes.iter().any(|known| known.what == fresh.what && known.weight == fresh.weight) {
            continue;
        }
        let same = |cause: &&mut Cause| cause.object == fresh.object && cause.weight == Weight::Degrades;
        match causes.iter_mut().find(same) {
            // "db-1 delays packets on eth0 by 10 ms" and "db-1 loses 8 % of packets on eth0" are one line.
            Some(before) => before.what = joined(&before.what, &fresh.what),
            None => causes.push(fresh),
        }
    }
    causes.sort_by_key(|cause| cause.weight);
    causes
}

/// Joins two clauses about the same machine: its name is said once.
fn joined(first: &str, second: &str) -> String {
    let machine = first.split(' ').next().unwrap_or_default();
    match second.strip_prefix(machine) {
        Some(rest) => format!("{first}, and{rest}"),
        None => format!("{first}, and {second}"),
    }
}

fn cause(found: &FindingAccepted, judged: &JudgedFlows) -> Cause {
    let (code, object) = (found.finding.code.as_str(), found.finding.object.as_str());
    let fault = found.finding.code.fault().filter(|fault| fault.object_kind().matches(object));
    let weight = match fault {
        Some(
            Fault::NetemLoss
            | Fault::NetemDelay
            | Fault::NetemCorrupt
            | Fault::NetemDuplicate
            | Fault::NetemReorder
            | Fault::RateLimit,
        ) => Weight::Degrades,
        Some(Fault::NsgExposure) => Weight::Exposes,
        Some(Fault::NoDrift) => Weight::Unchanged,
        _ => Weight::Blocks,
    };
    let degrades = judged.of_machines(code, object).is_some_and(|cause| cause.degrades);
    let weight = if degrades { Weight::Degrades } else { weight };
    let (what, action) = match fault {
        Some(fault) => words(fault, &Place::new(found, judged)),
        None => (title(code, object), String::new()),
    };
    Cause { what, action, object: object.to_owned(), weight }
}

/// What a fault is about, taken apart.
pub(super) struct Place<'a> {
    pub(super) parts: Vec<&'a str>,
    /// The words that show it.
    pub(super) why: &'a str,
    flow: Option<&'a JudgedFlow>,
    cause: Option<&'a JudgedCause>,
    judged: &'a JudgedFlows,
}

impl<'a> Place<'a> {
    fn new(found: &'a FindingAccepted, judged: &'a JudgedFlows) -> Self {
        let object = found.finding.object.as_str();
        let (flow, cause) = judged.cause(&found.finding.code, object).unzip();
        Self { parts: object.split('/').collect(), why: &found.why, flow, cause, judged }
    }

    pub(super) fn at(&self, index: usize) -> &'a str {
        self.parts.get(index).copied().unwrap_or_default()
    }

    /// Only the last part may hold a slash of its own.
    pub(super) fn rest(&self, index: usize) -> String {
        self.parts.get(index..).unwrap_or_default().join("/")
    }

    /// Returns the name of a machine by its address, where it is known.
    fn machine(&self, address: &str) -> String {
        let Ok(wanted) = address.parse::<IpAddr>() else { return address.to_owned() };
        let mut ends = self.judged.flows.iter().flat_map(|flow| {
            [(flow.source, &flow.source_machine), (flow.destination, &flow.destination_machine)]
        });
        let name = ends.find(|(own, name)| *own == wanted && name.is_some());
        name.and_then(|(_, name)| name.clone()).unwrap_or_else(|| address.to_owned())
    }

    /// Returns what the flow carries, as `tcp/5001`.
    fn traffic(&self) -> String {
        self.flow.map_or_else(|| "this traffic".to_owned(), carried)
    }

    fn ends(&self) -> String {
        match self.flow {
            Some(flow) => ends(flow),
            None => "this traffic".to_owned(),
        }
    }

    /// Returns who has to be let in: the caller's address.
    fn caller(&self) -> String {
        self.flow.map_or_else(|| "the caller".to_owned(), |flow| flow.sources())
    }

    /// Returns the number behind some words of what shows it: `30` of `by 30 ms`.
    fn behind(&self, words: &str) -> Option<&'a str> {
        let (_, rest) = self.why.split_once(words)?;
        let end = rest.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(rest.len());
        rest.get(..end).map(|number| number.trim_end_matches('.')).filter(|number| !number.is_empty())
    }

    /// Returns the share of packets: `8` of `loses 8 % of its packets`.
    fn share(&self) -> String {
        let share = self.why.split_once(" %").and_then(|(before, _)| before.rsplit(' ').next());
        share
            .filter(|share| share.parse::<f64>().is_ok())
            .map_or_else(|| "some".to_owned(), |share| format!("{share} %"))
    }
}

/// Returns the ends of a flow, by name.
pub(in crate::report) fn ends(flow: &JudgedFlow) -> String {
    let end =
        |machine: &Option<String>, address: IpAddr| machine.clone().unwrap_or_else(|| address.to_string());
    format!("{} → {}", flow.caller(), end(&flow.destination_machine, flow.destination))
}

/// Returns what a flow carries, as `tcp/5001`.
pub(in crate::report) fn carried(flow: &JudgedFlow) -> String {
    flow.port.map_or_else(|| spelled(&flow.protocol, ""), |port| spelled(&flow.protocol, &port.to_string()))
}

/// Names traffic: `tcp/5001`, `ICMP`, `all traffic`.
fn spelled(protocol: &str, port: &str) -> String {
    let every = |text: &str| matches!(text, "any" | "all" | "" | "*");
    match (every(protocol), every(port)) {
        (true, true) => "all traffic".to_owned(),
        (true, false) => format!("port {port}"),
        (false, true) if protocol == "icmp" => "ICMP (ping)".to_owned(),
        (false, true) => format!("all {}", protocol.to_uppercase()),
        (false, false) => format!("{protocol}/{port}"),
    }
}

/// Names what decides, for a list: `rule deny-5001`, `iptables INPUT on db-1`, `shaping on db-1`.
pub(in crate::report) fn decider(cause: &JudgedCause) -> String {
    let parts: Vec<&str> = cause.object.split('/').collect();
    match parts.as_slice() {
        ["nsg", _, rule @ ..] => format!("security rule {}", rule.join("/")),
        ["route", _, route @ ..] => format!("route {}", route.join("/")),
        ["netfilter", machine, chain, _] if cause.fault == "fail2ban_ban" => format!("{chain} on {machine}"),
        ["netfilter", machine, table, chain, ..] => format!("{} on {machine}", filter(table, chain, "")),
        ["qdisc", machine, ..] => format!("shaping on {machine}"),
        _ => title(&cause.fault, &cause.object),
    }
}

/// Names a chain with its program.
fn filter(table: &str, chain: &str, why: &str) -> String {
    match table.split_once(':') {
        Some((family, name)) => format!("nft {family} {name} {chain}"),
        None if why.contains("(IPv6)") => format!("ip6tables {chain}"),
        None => format!("iptables {chain}"),
    }
}

fn words(fault: Fault, place: &Place<'_>) -> (String, String) {
    let (one, two) = (place.at(1), place.at(2));
    let pair = |what: String, action: &str| (what, action.to_owned());
    let shaping = format!("Remove the shaping on {two}.");
    match fault {
        Fault::NsgDeny if let Some(words) = kept_out::words(place) => words,
        Fault::NsgDeny => {
            let rule = place.rest(2);
            let priority =
                place.why.split_once(&format!("{rule} (")).and_then(|(_, rest)| rest.split_once(')'));
            let priority = priority.map(|(number, _)| number).filter(|number| number.parse::<u32>().is_ok());
            let priority = priority.map(|number| format!(" (priority {number})")).unwrap_or_default();
            let last = matches!(rule.as_str(), "DenyAllInBound" | "DenyAllOutBound")
                || place.cause.is_some_and(|cause| cause.catches_all);
            let action = match (last, place.flow) {
                (true, Some(flow)) => format!(
                    "Add a rule before it that allows {} to {} on {}.",
                    flow.sources(),
                    flow.destination,
                    carried(flow)
                ),
                (true, None) => "Add a rule before it that allows the caller.".to_owned(),
                (false, _) => format!("Delete that rule, or allow {} before it.", place.caller()),
            };
            (format!("{one} denies {}: rule {rule}{priority}", place.traffic()), action)
        }
        Fault::NsgExposure => {
            let ports = ["on port ", "on ports ", "reach port "].iter().find_map(|words| {
                let ports =
                    place.why.split_once(words)?.1.split([';', '(']).next()?.split(", though").next()?;
                let noun = if words.ends_with("s ") { "ports" } else { "port" };
                Some(format!("reach {noun} {}", ports.trim().trim_end_matches('.')))
            });
            (
                format!(
                    "{one} lets anybody on the internet {}: rule {}",
                    ports.unwrap_or_else(|| "in".to_owned()),
                    place.rest(2)
                ),
                "Narrow its sources to the networks that need it, or delete it.".to_owned(),
            )
        }
        Fault::RouteBlackhole => pair(
            format!("{one} throws away {}: route {} has no next hop", place.ends(), place.rest(2)),
            "Delete that route.",
        ),
        Fault::RouteDeadNva => {
            let via = place.behind("VirtualAppliance ").map(|hop| format!(" ({hop})")).unwrap_or_default();
            pair(
                format!(
                    "{one} sends {} to an appliance that does not exist{via}: route {}",
                    place.ends(),
                    place.rest(2)
                ),
                "Bring the appliance back, or delete that route.",
            )
        }
        Fault::RouteDetour => pair(
            format!("{one} sends {} through an appliance: route {}", place.ends(), place.rest(2)),
            "Delete that route if the detour is not wanted.",
        ),
        Fault::ServiceEndpointMissing => pair(
            format!("Subnet {two} of {one} has no service endpoint {}", place.rest(3)),
            "Add it beside the endpoints that are there.",
        ),
        Fault::StorageFirewallDeny => pair(
            format!("Storage account {} does not let the subnet in", place.rest(1)),
            "Add the subnet to its network rules.",
        ),
        Fault::GuestFirewallDrop | Fault::GuestFirewallReject => {
            let verb = if fault == Fault::GuestFirewallDrop { "drops" } else { "refuses" };
            let (table, chain) = (place.at(2), place.at(3));
            let rule = place.behind("rule ").map(|number| format!(" rule {number}")).unwrap_or_default();
            let called = place.flow.filter(|flow| flow.destination_machine.as_deref() == Some(one));
            let action = match called {
                Some(flow) => format!("Remove it, or allow {} before it.", flow.source),
                None => "Remove it, or allow this traffic before it.".to_owned(),
            };
            let share = place.cause.is_some_and(|cause| cause.reason.contains(" a share of it"));
            let share = if share { "a share of " } else { "" };
            let traffic = spelled(place.at(4), &place.rest(5));
            (format!("{one} {verb} {share}{traffic}: {}{rule}", filter(table, chain, place.why)), action)
        }
        Fault::GuestFirewallPolicyDrop => {
            let chain = filter(two, &place.rest(3), place.why);
            (
                format!(
                    "{one} drops {}: no rule of {chain} allows it, and its policy is DROP",
                    place.traffic()
                ),
                format!("Allow {} to {} there, and keep the policy.", place.caller(), place.traffic()),
            )
        }
        Fault::Fail2banBan => pair(
            format!(
                "fail2ban on {one} has banned {} (jail {})",
                place.rest(3),
                two.trim_start_matches("f2b-")
            ),
            "Unban it through fail2ban, once it is known why it was banned.",
        ),
        Fault::ContainerFirewallChange => pair(
            format!("{one} drops the traffic of its containers: {}", filter(two, &place.rest(3), place.why)),
            "Restart Docker, so that it rebuilds its chains.",
        ),
        Fault::NetemDelay => {
            let time = place.behind("by ").or_else(|| place.behind("for ")).map(|ms| format!(" by {ms} ms"));
            (format!("{one} delays packets on {two}{} (netem)", time.unwrap_or_default()), shaping)
        }
        Fault::NetemLoss => (format!("{one} loses {} of packets on {two} (netem)", place.share()), shaping),
        Fault::NetemCorrupt => {
            (format!("{one} damages {} of packets on {two} (netem)", place.share()), shaping)
        }
        Fault::NetemDuplicate => {
            (format!("{one} sends {} of packets on {two} twice (netem)", place.share()), shaping)
        }
        Fault::NetemReorder => {
            (format!("{one} reorders {} of packets on {two} (netem)", place.share()), shaping)
        }
        Fault::RateLimit => (
            format!(
                "{one} limits {two}{}",
                rate(place).map(|rate| format!(" to {rate}")).unwrap_or_default()
            ),
            shaping,
        ),
        Fault::PmtuBlackhole => {
            let (from, to) = (place.machine(one), place.machine(two));
            let size = place
                .behind("takes ")
                .map_or_else(|| "Large packets".to_owned(), |size| format!("Packets over {size} bytes"));
            (
                format!("{size} from {from} to {to} do not arrive"),
                format!(
                    "Lower the MTU on {from} towards {to}, and let ICMP \"fragmentation needed\" reach {from}."
                ),
            )
        }
        Fault::TcpRefused => {
            let (from, to) = (place.machine(one), place.machine(two));
            (
                format!("Nothing listens on {to} for {}", spelled(place.at(3), &place.rest(4))),
                format!("Start the service there, or correct the port on {from}."),
            )
        }
        Fault::SynUnanswered => {
            let (from, to) = (place.machine(one), place.machine(two));
            (
                format!("{to} does not answer {from} on {}", spelled(place.at(3), &place.rest(4))),
                format!("Record packets at {to} to see whether they arrive."),
            )
        }
        Fault::DnsFailure => pair(
            format!("Name server {} does not resolve names", place.rest(1)),
            "Repair the server or the record.",
        ),
        Fault::ArpConflict => pair(
            format!("Two interfaces claim {}", place.rest(1)),
            "Give the one that should not have it an address of its own.",
        ),
        Fault::AsymmetricPath => pair(
            format!("{} and {} reach each other on different paths", place.machine(one), place.machine(two)),
            "Route both directions through the same appliance.",
        ),
        Fault::NoDrift => pair(format!("Nothing changed at {} since the baseline", place.rest(1)), ""),
        Fault::PeeringDisconnected => {
            let state = ["Disconnected", "Initiated"].into_iter().find(|state| place.why.contains(state));
            let state = state.map_or_else(|| "not connected".to_owned(), str::to_lowercase);
            pair(
                format!("The peering {two} of {one} is {state}, so nothing passes between the networks"),
                "Make both sides of the peering anew.",
            )
        }
        Fault::AksStopped => {
            pair(format!("The cluster {one} is stopped"), "Start it, once it is known who stopped it.")
        }
        Fault::AksApiRestricted => pair(
            format!(
                "The API server of {one} takes calls of its authorized ranges alone, and the caller is in none of them"
            ),
            "Add the caller's address to the authorized ranges, beside those that are there.",
        ),
        Fault::BastionUnconfigured => pair(
            format!("The bastion host {one} is not set to do what is wanted of it"),
            "Turn on tunneling for clients of people's own, or IP-based connection for addresses of other sites; both need the Standard tier.",
        ),
        Fault::PlatformEvent => pair(
            format!("The platform has trouble of its own ({one})"),
            "Follow the event in Service Health, and ask the platform's support where it does not end.",
        ),
        Fault::PeeringMissing => pair(
            format!("The networks {one} and {two} are not peered"),
            "Peer them in both directions, if they are meant to reach each other.",
        ),
        Fault::PeeringAccessOff => pair(
            format!("The peering {two} of {one} gives the other network no access, and no rule names it"),
            "Allow access on that peering, or add a rule for this caller.",
        ),
        Fault::PeeringForwardingOff => pair(
            format!("The peering {two} of {one} drops what an appliance forwards"),
            "Allow forwarded traffic on that peering.",
        ),
        Fault::PeeringTransitOff => pair(
            format!("The peering {two} of {one} keeps the gateway from the other network"),
            "Allow gateway transit on one side, and use the remote gateway on the other.",
        ),
        Fault::PeeringNotSynced => pair(
            format!("The peering {two} of {one} does not know addresses that the other network got later"),
            "Sync that peering.",
        ),
        Fault::VmStopped => pair(format!("{one} does not run"), "Start it, once it is known who stopped it."),
        Fault::LbProbeMismatch => pair(
            format!("The probe {two} of {one} asks for what no member serves, so it sends nobody anything"),
            "Correct the probe.",
        ),
        Fault::LbProbeStatus => pair(
            format!(
                "The probe {two} of {one} asks for a page that its members do not answer with 200, so it sends nobody anything"
            ),
            "Let the application answer that path with 200, or set the path of the probe to one that it does.",
        ),
        Fault::LbBackendEmpty => {
            pair(format!("The pool {two} of {one} has no member"), "Put the machines into the pool.")
        }
        Fault::LbRuleMissing => pair(
            format!("{one} has no rule for {} at {two}", spelled(place.at(3), &place.rest(4))),
            "Add that rule, or call a port that has one.",
        ),
        Fault::LbFloatingIp => pair(
            format!("The rule {two} of {one} leaves its own address in packets, and no member has it"),
            "Turn floating IP off in that rule, or give the members the address.",
        ),
        Fault::LbAdminDown => pair(
            format!("{} is set to take nothing in the pool {two} of {one}", place.rest(3)),
            "Set it back in use, once whoever drained it agrees.",
        ),
        Fault::NotListening => {
            // Of a machine that was read itself no load balancer is known.
            let probe = if place.judged.machines.is_empty() { ", so its probe fails" } else { "" };
            pair(
                format!("Nobody listens on {one} for {}{probe}", spelled(two, &place.rest(3))),
                "Start the service there.",
            )
        }
        Fault::FirewallDeny => pair(
            format!("The firewall {one} denies it by the rule {} of its collection {two}", place.rest(3)),
            "Let this flow through before that rule, or take the rule away if nobody meant it.",
        ),
        Fault::FirewallDefaultDeny => pair(
            format!("No rule of the firewall {one} lets {} through", spelled(two, &place.rest(3))),
            "Add a rule for this caller to that firewall, if it is meant to pass.",
        ),
        Fault::FirewallDnsProxyOff => pair(
            format!("The firewall {one} is asked for names, and its DNS proxy is off"),
            "Turn the DNS proxy on, or let the network ask another name server.",
        ),
        Fault::PeNotApproved => pair(
            format!("Nobody approved the connection of the private endpoint {}", place.rest(1)),
            "Approve it at the service that it leads to.",
        ),
        Fault::PrivateDnsUnlinked => pair(
            format!(
                "{} does not see the private zone {one}, so the name leads to the public address there",
                place.rest(2)
            ),
            "Link the zone to that network.",
        ),
        Fault::PrivateDnsShadow => pair(
            format!(
                "The private zone {one}, linked to {}, hides a name that is somebody else's",
                place.rest(2)
            ),
            "Let the link ask outside for what the zone does not hold.",
        ),
        Fault::PrivateDnsRecordMissing => pair(
            format!("The private zone {one} has no record {}", place.rest(2)),
            "Add the record, best by a zone group of the private endpoint.",
        ),
        Fault::PrivateDnsRecordStale => pair(
            format!("The record {} of the private zone {one} is an old address", place.rest(2)),
            "Correct the record.",
        ),
        Fault::DnsServerWrong => pair(
            format!("{one} asks a name server that does not answer"),
            "Correct the name servers of that network, or bring the server back.",
        ),
        Fault::DnsForwarderMissing => pair(
            format!("The name server {one} does not ask the platform for {}", place.rest(2)),
            "Let it forward that zone to 168.63.129.16.",
        ),
        Fault::OutboundAbsent => pair(
            format!("Nothing leads from the subnet {two} of {one} to the internet"),
            "Give the subnet a NAT gateway.",
        ),
        Fault::NatUnconfigured => {
            pair(format!("The NAT gateway {} has no public address", place.rest(1)), "Give it one.")
        }
        Fault::SnatExhausted => pair(
            format!("{} has no ports left for calls to the internet", place.rest(1)),
            "Give it more addresses, and let callers keep their connections.",
        ),
        Fault::VpnDown => pair(
            format!("The connection {} of the gateway is not up", place.rest(1)),
            "Compare key, addresses and proposals with whoever runs the other side.",
        ),
        Fault::VpnKeyMismatch => pair(
            format!("Both sides of the connection {} have different keys", place.rest(1)),
            "Set the same key on both sides.",
        ),
        Fault::VpnIkeMismatch => pair(
            format!("Both sides of the connection {} do not agree on how to encrypt", place.rest(1)),
            "Let both sides propose the same for IKE and IPsec.",
        ),
        Fault::VpnPeerUnreachable => pair(
            format!("The other side of the connection {} does not answer", place.rest(1)),
            "Check its address in the local network gateway, and whether it lets UDP 500 and 4500 in.",
        ),
        Fault::VpnPrefixMissing => pair(
            format!("The local network gateway {} does not hold that address", place.rest(1)),
            "Add the prefix to it.",
        ),
        Fault::VpnPrefixOverlap => pair(
            format!("The network and the site {} have the same addresses", place.rest(1)),
            "Renumber one of them, or translate addresses at the gateway.",
        ),
        Fault::BgpPeerDown => pair(
            format!("BGP between the gateway {one} and {} is down", place.rest(2)),
            "Bring it up with whoever runs the other side.",
        ),
        Fault::BgpRouteMissing => pair(
            format!("Nobody announces {} to the gateway {one}", place.rest(2)),
            "Have the other side announce that prefix.",
        ),
        Fault::RoutePropagationOff => pair(
            format!("The route table {} keeps out what the gateway knows", place.rest(1)),
            "Let it take in the routes of gateways.",
        ),
        Fault::ErCircuitDown => {
            pair(format!("The circuit {} carries nothing", place.rest(1)), "Ask its provider.")
        }
        Fault::ErPeeringDown => {
            pair(format!("The peering {} of the circuit {one} is off", place.rest(2)), "Turn it on.")
        }
        Fault::AppgwProbeMismatch => pair(
            format!(
                "The probe {} of {one} gets another answer from the servers than it expects, so callers see 502",
                place.rest(2)
            ),
            "Let the application answer that page again, or let the probe ask for one that it does.",
        ),
        Fault::AppgwBackendTls => pair(
            format!(
                "{one} does not take the certificate of its servers (settings {}), so callers see 502",
                place.rest(2)
            ),
            "Give the servers a certificate for that name from somebody the gateway trusts, or correct the name in the settings.",
        ),
        Fault::AppgwCertExpired => pair(
            format!("The certificate of the listener {} of {one} has expired", place.rest(2)),
            "Renew it, and put the new one in its place.",
        ),
        Fault::AppgwPoolEmpty => pair(
            format!("The pool {} of {one} has no server, so callers see 502", place.rest(2)),
            "Put the servers into the pool.",
        ),
        Fault::AppgwStopped => pair(
            format!("The application gateway {} is stopped", place.rest(1)),
            "Start it, once it is known who stopped it.",
        ),
        Fault::AppgwBackendDown => pair(
            format!(
                "{} in the pool {two} does not answer {one}, and nothing that was read says why",
                place.rest(3)
            ),
            "See whether it runs, listens, and answers in time.",
        ),
        Fault::Host(own) => (fault.title(&place.parts.join("/")), format!("{}.", capital(own.text().remedy))),
        Fault::Cluster(own) => (fault.title(&place.parts.join("/")), format!("{}.", capital(own.remedy()))),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Returns a rate as people say it, from the bits or megabits a second of what shows it.
fn rate(place: &Place<'_>) -> Option<String> {
    let (before, factor) = match (place.why.split_once(" bit/s"), place.why.split_once(" Mbit/s")) {
        (Some((before, _)), _) => (before, 1.0),
        (None, Some((before, _))) => (before, 1e6),
        (None, None) => return None,
    };
    let bits = before.rsplit(' ').next()?.parse::<f64>().ok()? * factor;
    Some(if bits >= 1e9 {
        format!("{} Gbit/s", bits / 1e9)
    } else if bits >= 1e6 {
        format!("{} Mbit/s", bits / 1e6)
    } else {
        format!("{} kbit/s", bits / 1e3)
    })
}
