//! What to do about each fault: what to look at first, the exact command, how to verify it, what it risks. A line each.
//!
//! Four rules: no list is replaced without what is in it; what belongs to a program is changed through that program; nothing is opened
//! wider than the fault; every fix has its verification.

use std::net::IpAddr;

use crate::coverage::explains;
use crate::finding::{Fault, traffic};
use crate::judged::{JudgedFlow, JudgedRemedy};
use crate::playbook::agenda::PlaybookContext;
use crate::playbook::findings::CitedFault;
use crate::playbook::gateway_fix::Known;
use crate::playbook::{
    app_gateway_fix, bastion_fix, cluster_fix, firewall_fix, gateway_fix, guest_fix, name_fix, outbound_fix,
    platform_fix, service_fix,
};
use crate::suspect::Suspect;
use crate::symptom_text::Symptom;
use ghost_inspect::path::{KeptOut, Unanswered};

/// Stands where only the owner knows.
const GROUP: &str = "RESOURCE_GROUP";

/// A remedy, a line each.
pub(super) struct Fix {
    /// What is done, in a sentence.
    pub(super) what: String,
    /// What is there now; also the copy with which it is put back.
    pub(super) check: String,
    pub(super) command: String,
    /// How it is seen that it works.
    pub(super) verify: String,
    /// What it may break, and how it is undone.
    pub(super) risk: String,
}

impl Fix {
    /// Writes it down, with what it came to when it was tried on what was read.
    fn text(&self, checked: &str) -> String {
        let Self { what, check, command, verify, risk } = self;
        let lines = [
            ("Look first", check.as_str()),
            ("Command", command.as_str()),
            ("Checked", checked),
            ("Verify", verify.as_str()),
            ("Risk", risk.as_str()),
        ];
        let lines = lines.into_iter().filter(|(_, text)| !text.is_empty());
        let lines = lines.map(|(label, text)| format!("\n{label}: {text}"));
        std::iter::once(what.clone()).chain(lines).collect()
    }
}

/// Returns what to do, in the order in which it is done.
pub(super) fn actions(context: &PlaybookContext<'_>, faults: &[CitedFault]) -> Vec<String> {
    let mut actions: Vec<(usize, String)> = Vec::new();
    let mut shaped: Vec<&str> = Vec::new();
    let mut started: Vec<(&str, &str, &str)> = Vec::new();
    for fault in faults {
        let (code, object) = (fault.suspect.code.as_str(), fault.suspect.object.as_str());
        // One line of shaping may be several faults; it is taken away once.
        if explains(code, Symptom::Slow) && object.starts_with("qdisc/") {
            if shaped.contains(&object) {
                continue;
            }
            shaped.push(object);
        }
        let parts: Vec<&str> = object.split('/').collect();
        let at = |index: usize| parts.get(index).copied().unwrap_or_default();
        // A service is started once, whoever misses it.
        if fault.suspect.fault() == Some(Fault::TcpRefused) {
            let service = (at(2), at(3), at(4));
            if started.contains(&service) {
                continue;
            }
            started.push(service);
        }
        if let Some(mut fix) = fix(context, fault, &at) {
            if let Some(verify) = tried_again(context, &fault.suspect) {
                fix.verify = verify;
            }
            // From the caller on, so that each repair can be seen; what no document shows comes last.
            match context.judged.remedy(code, object) {
                Some((place, remedy)) => actions.push((place, as_tried(fix, remedy).text(&remedy.effect))),
                None => actions.push((usize::MAX, fix.text(untried(context, &fault.suspect)))),
            }
        }
    }
    actions.sort_by_key(|(place, _)| *place);
    actions.into_iter().map(|(_, text)| text).collect()
}

/// Returns the call that shows that a flow passes again, where a rule stopped it: that very flow, from its caller.
fn tried_again(context: &PlaybookContext<'_>, suspect: &Suspect) -> Option<String> {
    if !suspect.fault().is_some_and(is_rule) {
        return None;
    }
    let (flow, _) = context.judged.cause(&suspect.code, &suspect.object)?;
    // What stands for the Internet is no address to try.
    let is_anybody = |address: IpAddr| address == IpAddr::from([8, 8, 8, 8]);
    let stands_for_others = (flow.source_machine.is_none() && is_anybody(flow.source))
        || (flow.destination_machine.is_none() && is_anybody(flow.destination));
    if stands_for_others {
        return None;
    }
    let to = flow.destination;
    if let Some(service) = &flow.source_service {
        return Some(format!("a session to {to} through {} opens.", service.name));
    }
    let from = flow.source_machine.clone().unwrap_or_else(|| flow.source.to_string());
    match (flow.protocol.as_str(), flow.port) {
        ("tcp", Some(port)) => Some(format!("from {from}, `nc -vz -w 3 {to} {port}` connects.")),
        ("icmp", _) => Some(format!("from {from}, `ping -c 3 {to}` is answered.")),
        _ => None,
    }
}

/// Tells whether a rule that says what passes is at fault, so that the flow itself shows whether it was repaired.
const fn is_rule(fault: Fault) -> bool {
    match fault {
        Fault::NsgDeny
        | Fault::FirewallDeny
        | Fault::FirewallDefaultDeny
        | Fault::GuestFirewallDrop
        | Fault::GuestFirewallReject
        | Fault::GuestFirewallPolicyDrop => true,
        Fault::NsgExposure
        | Fault::RouteBlackhole
        | Fault::RouteDeadNva
        | Fault::RouteDetour
        | Fault::ServiceEndpointMissing
        | Fault::StorageFirewallDeny
        | Fault::Fail2banBan
        | Fault::ContainerFirewallChange
        | Fault::NetemLoss
        | Fault::NetemDelay
        | Fault::NetemCorrupt
        | Fault::NetemDuplicate
        | Fault::NetemReorder
        | Fault::RateLimit
        | Fault::PmtuBlackhole
        | Fault::TcpRefused
        | Fault::SynUnanswered
        | Fault::DnsFailure
        | Fault::ArpConflict
        | Fault::AsymmetricPath
        | Fault::PeeringDisconnected
        | Fault::PeeringMissing
        | Fault::PeeringAccessOff
        | Fault::PeeringForwardingOff
        | Fault::PeeringTransitOff
        | Fault::PeeringNotSynced
        | Fault::VmStopped
        | Fault::LbProbeMismatch
        | Fault::LbProbeStatus
        | Fault::LbBackendEmpty
        | Fault::LbRuleMissing
        | Fault::LbFloatingIp
        | Fault::LbAdminDown
        | Fault::NotListening
        | Fault::FirewallDnsProxyOff
        | Fault::PeNotApproved
        | Fault::PrivateDnsUnlinked
        | Fault::PrivateDnsShadow
        | Fault::PrivateDnsRecordMissing
        | Fault::PrivateDnsRecordStale
        | Fault::DnsServerWrong
        | Fault::DnsForwarderMissing
        | Fault::OutboundAbsent
        | Fault::VpnDown
        | Fault::VpnKeyMismatch
        | Fault::VpnIkeMismatch
        | Fault::VpnPeerUnreachable
        | Fault::VpnPrefixMissing
        | Fault::VpnPrefixOverlap
        | Fault::BgpPeerDown
        | Fault::BgpRouteMissing
        | Fault::RoutePropagationOff
        | Fault::ErCircuitDown
        | Fault::ErPeeringDown
        | Fault::AppgwProbeMismatch
        | Fault::AppgwBackendTls
        | Fault::AppgwCertExpired
        | Fault::AppgwPoolEmpty
        | Fault::AppgwStopped
        | Fault::AppgwBackendDown
        | Fault::AksStopped
        | Fault::AksApiRestricted
        | Fault::BastionUnconfigured
        | Fault::PlatformEvent
        | Fault::NatUnconfigured
        | Fault::SnatExhausted
        | Fault::NoDrift
        | Fault::Host(_)
        | Fault::Cluster(_) => false,
    }
}

/// Says that nobody tried it on what was read, where the judge of flows knows the cause and a document could show it.
fn untried(context: &PlaybookContext<'_>, suspect: &Suspect) -> &'static str {
    let (code, object) = (&suspect.code, &suspect.object);
    let is_shown = *code != Fault::TcpRefused && context.judged.cause(code, object).is_some();
    if is_shown { "not tried beforehand: what was read does not show all that it would change." } else { "" }
}

/// Takes over what was tried on the documents.
fn as_tried(fix: Fix, remedy: &JudgedRemedy) -> Fix {
    let commands: Vec<String> = remedy.commands.iter().map(|command| format!("`{command}`")).collect();
    Fix {
        what: remedy.what.clone(),
        check: remedy.look.clone(),
        command: commands.join(", then "),
        verify: fix.verify,
        risk: remedy.risk.clone(),
    }
}

fn fix<'a>(
    context: &PlaybookContext<'_>,
    fault: &'a CitedFault,
    at: &dyn Fn(usize) -> &'a str,
) -> Option<Fix> {
    let there = context.judged.elsewhere.get(&fault.suspect.object).cloned().map(String::from);
    let group = there.as_deref().or(context.incident.group.as_deref()).unwrap_or(GROUP);
    let kind = fault.suspect.fault()?;
    Some(match kind {
        Fault::NsgDeny => rule(context, group, &fault.suspect.object, at(1), at(2)),
        Fault::NsgExposure => exposure(group, at(1), at(2)),
        Fault::RouteBlackhole => route(context, (
            format!("Take the route {} off the table {}: it leads nowhere.", at(2), at(1)),
            "where the route was meant to keep something off, that comes through again",
        ), group, at(1), at(2)),
        Fault::RouteDetour => route(context, (
            format!("Take the route {} off the table {}, if traffic is not meant to pass the appliance.", at(2), at(1)),
            "what the appliance inspected goes uninspected",
        ), group, at(1), at(2)),
        Fault::RouteDeadNva => route(context, (
            format!("Bring the appliance back at the address that the route {} of {} names; if it is gone for good, take the route away.", at(2), at(1)),
            "what the appliance inspected goes uninspected until it is back",
        ), group, at(1), at(2)),
        Fault::ServiceEndpointMissing => endpoint(context, group, at(1), at(2), at(3)),
        Fault::StorageFirewallDeny => account(context, group, at(1)),
        Fault::GuestFirewallDrop | Fault::GuestFirewallReject => {
            guest_fix::packet_filter(context, kind == Fault::GuestFirewallReject, &fault.suspect.why, at)
        }
        Fault::GuestFirewallPolicyDrop => guest_fix::policy(context, &fault.suspect.why, at(1), at(2), at(3)),
        Fault::Fail2banBan => guest_fix::ban(at(1), at(2), at(3)),
        Fault::ContainerFirewallChange => guest_fix::containers(at(1), at(2), at(3)),
        Fault::RateLimit
        | Fault::NetemLoss
        | Fault::NetemDelay
        | Fault::NetemCorrupt
        | Fault::NetemDuplicate
        | Fault::NetemReorder => guest_fix::shaping(context, at(1), at(2)),
        Fault::PmtuBlackhole => guest_fix::mtu(at(1), at(2)),
        Fault::TcpRefused => refused(at),
        Fault::SynUnanswered => silent(at),
        Fault::DnsFailure => Fix {
            what: format!("Find out why the name server {} does not answer, and mend the record or the server.", at(1)),
            check: format!("`dig @{} NAME` on the machine that fails, with the name that fails", at(1)),
            command: String::new(),
            verify: format!("`dig @{} NAME` answers with an address.", at(1)),
            risk: "other machines use the same server; tell their owners. Another server is named beside the ones that are set, never in their place.".to_owned(),
        },
        Fault::ArpConflict => Fix {
            what: format!("Two interfaces claim {ip}: give the one that should not have it an address of its own.", ip = at(1)),
            check: format!("`ip neigh show {}` on a neighbour, several times", at(1)),
            command: String::new(),
            verify: format!("`arping -c 5 {}` is answered by one hardware address.", at(1)),
            risk: "whoever uses the wrong one loses its connections.".to_owned(),
        },
        Fault::AsymmetricPath => Fix {
            what: format!("Lead both directions between {} and {} through the same appliance.", at(1), at(2)),
            check: format!("`az network nic show-effective-route-table -g {group} -n NIC -o table` for the interfaces at both ends"),
            command: String::new(),
            verify: "the same command names the same next hop at both ends.".to_owned(),
            risk: "open connections break once.".to_owned(),
        },
        Fault::PeeringDisconnected => service_fix::peering_anew(context, group, at(1), at(2)),
        Fault::PeeringMissing => service_fix::peering_missing(context, group, at(1), at(2)),
        Fault::PeeringAccessOff => service_fix::peering_access(context, group, at(1), at(2)),
        Fault::PeeringForwardingOff => service_fix::peering_forwarding(context, group, at(1), at(2)),
        Fault::PeeringTransitOff => service_fix::peering_transit(context, group, at(1), at(2)),
        Fault::PeeringNotSynced => service_fix::peering_sync(context, group, at(1), at(2)),
        Fault::VmStopped => service_fix::machine(context, group, at(1)),
        Fault::LbProbeMismatch => service_fix::probe(context, group, at(1), at(2)),
        Fault::LbProbeStatus => service_fix::probe_status(context, group, at(1), at(2)),
        Fault::LbBackendEmpty => service_fix::pool(context, group, at(1), at(2)),
        Fault::LbRuleMissing => service_fix::balancer_rule(context, group, (at(1), at(2)), (at(3), at(4))),
        Fault::LbFloatingIp => service_fix::floating(context, group, at(1), at(2)),
        Fault::LbAdminDown => service_fix::drained(context, group, at(1), at(2), at(3)),
        Fault::NotListening => service_fix::listener(context, at(1), at(2), at(3)),
        Fault::FirewallDeny => firewall_fix::rule(context, group, (at(1), at(2), at(3))),
        Fault::FirewallDefaultDeny => firewall_fix::allow(context, group, (at(1), at(2), at(3))),
        Fault::FirewallDnsProxyOff => firewall_fix::proxy(context, group, at(1)),
        Fault::PeNotApproved => name_fix::approve(context, group, at(1)),
        Fault::PrivateDnsUnlinked => name_fix::link(context, group, at(1), at(2)),
        Fault::PrivateDnsShadow => name_fix::open(context, group, at(1), at(2)),
        Fault::PrivateDnsRecordMissing | Fault::PrivateDnsRecordStale => {
            name_fix::record(context, group, at(1), at(2))
        }
        Fault::DnsServerWrong => name_fix::servers(context, group, at(1)),
        Fault::DnsForwarderMissing => name_fix::forward(context, at(1), at(2)),
        Fault::OutboundAbsent => outbound_fix::leave(context, group, at(1), at(2)),
        Fault::NatUnconfigured => outbound_fix::address(context, group, at(1)),
        Fault::SnatExhausted => outbound_fix::ports(context, group, at(1)),
        Fault::VpnDown => gateway_fix::connection(context, group, at(1), Known::Nothing),
        Fault::VpnKeyMismatch => gateway_fix::connection(context, group, at(1), Known::Key),
        Fault::VpnIkeMismatch => gateway_fix::connection(context, group, at(1), Known::Proposals),
        Fault::VpnPeerUnreachable => gateway_fix::connection(context, group, at(1), Known::Unreachable),
        Fault::VpnPrefixMissing => gateway_fix::prefixes(context, group, at(1)),
        Fault::VpnPrefixOverlap => gateway_fix::overlap(context, group, at(1)),
        Fault::BgpPeerDown => gateway_fix::peer(context, group, at(1), at(2)),
        Fault::BgpRouteMissing => gateway_fix::announce(context, group, at(1), at(2)),
        Fault::RoutePropagationOff => gateway_fix::propagation(context, group, at(1)),
        Fault::ErCircuitDown => gateway_fix::circuit(context, group, at(1), None),
        Fault::ErPeeringDown => gateway_fix::circuit(context, group, at(1), Some(at(2))),
        Fault::AppgwProbeMismatch => app_gateway_fix::probe(context, group, at(1), at(2)),
        Fault::AppgwBackendTls => app_gateway_fix::trust(context, group, at(1), at(2)),
        Fault::AppgwCertExpired => app_gateway_fix::certificate(context, group, at(1), at(2)),
        Fault::AppgwPoolEmpty => app_gateway_fix::pool(context, group, at(1), at(2)),
        Fault::AppgwStopped => app_gateway_fix::start(context, group, at(1)),
        Fault::AppgwBackendDown => app_gateway_fix::server(context, group, at(1), at(3)),
        Fault::AksStopped => cluster_fix::start(context, group, at(1)),
        Fault::AksApiRestricted => cluster_fix::authorize(context, group, at(1)),
        Fault::BastionUnconfigured => bastion_fix::feature(context, group, at(1)),
        Fault::PlatformEvent => service_fix::platform(context, at(1)),
        // What is done about a machine or inside of a cluster stands in what was judged of it.
        Fault::NoDrift | Fault::Host(_) | Fault::Cluster(_) => return None,
    })
}

fn refused<'a>(at: &dyn Fn(usize) -> &'a str) -> Fix {
    let (from, to, flow, port) = (at(1), at(2), traffic(at(3), at(4)), at(4));
    let verify = format!("from {from}, `nc -vz -w 3 {to} {port}` connects.");
    Fix {
        what: format!(
            "Start the service that belongs to {flow} on {to}, or take the call out of the program on {from}."
        ),
        check: format!("`sudo ss -ltnp 'sport = :{port}'` on {to}"),
        command: String::new(),
        verify,
        risk: "none from looking; a service that is started listens to everybody whom the rules let in."
            .to_owned(),
    }
}

fn silent<'a>(at: &dyn Fn(usize) -> &'a str) -> Fix {
    let (from, to, flow, port) = (at(1), at(2), traffic(at(3), at(4)), at(4));
    let verify = format!("from {from}, `nc -vz -w 3 {to} {port}` connects.");
    Fix {
        what: format!(
            "{to} does not answer on {flow}, and nothing that was looked at drops it: record packets at {to} as well. If the first packet arrives there, the machine drops it; if not, the path does."
        ),
        check: format!(
            "`sudo tcpdump -ni any -c 20 host {from} and port {port}` on {to}, while {from} tries"
        ),
        command: String::new(),
        verify,
        risk: "none, it only records.".to_owned(),
    }
}

/// Returns a call that shows that it works again, from where it did not.
pub(super) fn verification(context: &PlaybookContext<'_>, port: &str) -> String {
    let to = context.incident.destination.as_ref().and_then(|machine| machine.addresses.first()).cloned();
    let from = context.incident.source.as_ref().map_or("the caller", |machine| machine.name.as_str());
    let number = |text: &&str| !text.is_empty() && text.chars().all(|char| char.is_ascii_digit());
    let asked = context.symptom_text.ports.first().map(ToString::to_string);
    match (to, Some(port).filter(number).map(str::to_owned).or(asked)) {
        (Some(to), Some(port)) => format!("from {from}, `nc -vz -w 3 {to} {port}` connects."),
        (Some(to), None) => format!("from {from}, the call to {to} that failed works."),
        (None, Some(port)) => format!("the call from {from} to port {port} that failed works."),
        (None, None) => format!("the call from {from} that failed works."),
    }
}

fn rule(context: &PlaybookContext<'_>, group: &str, object: &str, nsg: &str, name: &str) -> Fix {
    let cause = context.judged.cause("nsg_deny", object);
    // Who has to come in there is no caller.
    if let Some(kept) = cause.and_then(|(_, cause)| KeptOut::read(&cause.reason)) {
        return platform_fix::needed(context, group, (nsg, name), &kept);
    }
    let is_default = ["DenyAllInBound", "DenyAllOutBound"].contains(&name);
    let unanswered = cause.and_then(|(_, cause)| Unanswered::read(&cause.reason));
    if let Some(Unanswered { server, .. }) =
        unanswered.filter(|_| is_default || cause.is_some_and(|(_, cause)| cause.catches_all))
    {
        return app_gateway_fix::allow(context, group, (nsg, name), &server);
    }
    if is_default || cause.is_some_and(|(_, cause)| cause.catches_all) {
        return allow(context, group, nsg, name, cause.map(|(flow, _)| flow));
    }
    let rule = format!("-g {group} --nsg-name {nsg} -n {name}");
    Fix {
        what: format!("Take the security rule {name} off {nsg}, once its owner agrees."),
        check: format!("`az network nsg rule show {rule} -o json`; keep what it prints, it is what to restore"),
        command: format!("`az network nsg rule delete {rule}`"),
        verify: verification(context, ""),
        risk: "where the rule was meant, what it kept out comes in. `az network nsg rule create` with the kept values puts it back.".to_owned(),
    }
}

/// Lets one caller in before a rule that closes everything, and nobody else.
fn allow(
    context: &PlaybookContext<'_>,
    group: &str,
    nsg: &str,
    name: &str,
    flow: Option<&JudgedFlow>,
) -> Fix {
    let first = |machine: &Option<crate::playbook::incident::Machine>| {
        machine.as_ref().and_then(|machine| machine.addresses.first().cloned())
    };
    let (caller, called, port, protocol) = match flow {
        Some(flow) => (
            flow.sources(),
            flow.destination.to_string(),
            flow.port.map_or_else(|| "'*'".to_owned(), |port| port.to_string()),
            flow.protocol.clone(),
        ),
        None => (
            first(&context.incident.source)
                .or_else(|| context.incident.partner.map(|address| address.to_string()))
                .unwrap_or_else(|| "CALLER".to_owned()),
            first(&context.incident.destination).unwrap_or_else(|| "CALLED".to_owned()),
            context.symptom_text.ports.first().map_or_else(|| "PORT".to_owned(), ToString::to_string),
            "tcp".to_owned(),
        ),
    };
    let protocol = match protocol.as_str() {
        "icmp" => "Icmp",
        "udp" => "Udp",
        _ => "Tcp",
    };
    // The group at the caller denies what leaves, any other what arrives.
    let is_outbound = name == "DenyAllOutBound" || flow.is_some_and(|flow| leaves(context, flow, nsg));
    let direction = if is_outbound { "Outbound" } else { "Inbound" };
    Fix {
        what: format!("No rule of {nsg} lets this traffic through, so {name} denies it. Add one rule before it for exactly this caller, address and port; {name} stays."),
        check: format!("`az network nsg rule list -g {group} --nsg-name {nsg} --query \"[].priority\" -o tsv`; choose a number that is free and lower than that of {name}"),
        command: format!("`az network nsg rule create -g {group} --nsg-name {nsg} -n allow-one-caller --priority FREE_NUMBER --direction {direction} --access Allow --protocol {protocol} --source-address-prefixes {caller} --destination-address-prefixes {called} --destination-port-ranges {port}`"),
        verify: verification(context, ""),
        risk: "whoever has that address gets through to that port; name no wider range. `az network nsg rule delete` with the same name takes it back.".to_owned(),
    }
}

/// Tells whether a security group is the one of the machine that calls, and not the one of the machine that is called.
fn leaves(context: &PlaybookContext<'_>, flow: &JudgedFlow, nsg: &str) -> bool {
    let has = |machine: &Option<String>| {
        let Some(machine) = machine else { return false };
        let mut known = context.incident.listed.machines.iter();
        known.any(|one| one.name == *machine && one.security_groups().any(|own| own == nsg))
    };
    has(&flow.source_machine) && !has(&flow.destination_machine)
}

fn exposure(group: &str, nsg: &str, name: &str) -> Fix {
    let rule = format!("-g {group} --nsg-name {nsg} -n {name}");
    Fix {
        what: format!("Narrow the security rule {name} of {nsg} to the networks that need it, or delete it if nobody does."),
        check: format!("`az network nsg rule show {rule} -o json`; keep what it prints: the command replaces the list of sources"),
        command: format!("`az network nsg rule update {rule} --source-address-prefixes YOUR_NETWORKS`"),
        verify: "`az network nsg rule show` names only those networks, and a second session from your own network still gets in.".to_owned(),
        risk: "whoever comes from elsewhere is locked out; keep a session open while you try.".to_owned(),
    }
}

/// Takes a route away: what that is for here, and what it risks.
fn route(
    context: &PlaybookContext<'_>,
    (what, risk): (String, &str),
    group: &str,
    table: &str,
    name: &str,
) -> Fix {
    let route = format!("-g {group} --route-table-name {table} -n {name}");
    let nic = context
        .incident
        .source
        .iter()
        .chain(&context.incident.destination)
        .map(|machine| machine.nic.as_str());
    let nic = nic.into_iter().find(|nic| !nic.is_empty()).unwrap_or("NIC");
    Fix {
        what,
        check: format!(
            "`az network route-table route show {route} -o json`; keep what it prints, it is what to restore"
        ),
        command: format!("`az network route-table route delete {route}`"),
        verify: format!(
            "`az network nic show-effective-route-table -g {group} -n {nic} -o table` shows the next hop that you expect, and the call that failed works."
        ),
        risk: format!("{risk}. `az network route-table route create` with the kept values puts it back."),
    }
}

fn endpoint(context: &PlaybookContext<'_>, group: &str, network: &str, subnet: &str, service: &str) -> Fix {
    let target = format!("-g {group} --vnet-name {network} -n {subnet}");
    let show = format!("`az network vnet subnet show {target} --query serviceEndpoints[].service -o tsv`");
    let list = match context.incident.endpoints(network, subnet) {
        Some(mut now) => {
            if !now.iter().any(|name| name.eq_ignore_ascii_case(service)) {
                now.push(service.to_owned());
            }
            now.join(" ")
        }
        None => format!("EVERY_ENDPOINT_THAT_IS_THERE {service}"),
    };
    Fix {
        what: format!(
            "Give the subnet {subnet} of {network} the endpoint {service} back, beside those that it has: the command replaces the whole list."
        ),
        check: format!("{show}; whatever it lists beyond the command below has to go into the command"),
        command: format!("`az network vnet subnet update {target} --service-endpoints {list}`"),
        verify: "the list above holds all of them, and a write from the machine succeeds.".to_owned(),
        risk: "open connections from the subnet to that service break once.".to_owned(),
    }
}

fn account(context: &PlaybookContext<'_>, group: &str, name: &str) -> Fix {
    let (network, subnet) = context.incident.home().unwrap_or(("NETWORK".to_owned(), "SUBNET".to_owned()));
    let list = format!("`az storage account network-rule list -g {group} --account-name {name} -o json`");
    let target = format!("-g {group} --account-name {name} --vnet-name {network} --subnet {subnet}");
    Fix {
        what: format!("Let the subnet of the machine into the storage account {name}, and nobody else."),
        check: list,
        command: format!("`az storage account network-rule add {target}`"),
        verify: "the list above holds the subnet, and a write from the machine succeeds.".to_owned(),
        risk: format!(
            "every machine of that subnet may reach the account. `az storage account network-rule remove {target}` takes it back."
        ),
    }
}
