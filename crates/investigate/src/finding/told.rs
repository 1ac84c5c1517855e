//! What a fault is called, and how it works, in plain English. Names come out as they stand: whoever prints them escapes them.

use crate::finding::FaultCode;

/// Returns the name of a fault as a headline, without codes.
#[must_use]
pub fn title(code: &str, object: &str) -> String {
    let known = FaultCode::find(code).is_some_and(|code| code.names(object));
    let parts: Vec<&str> = object.split('/').collect();
    let at = |index: usize| parts.get(index).copied().unwrap_or_default();
    // Only the last part may hold a slash of its own.
    let rest = |index: usize| parts.get(index..).unwrap_or_default().join("/");
    let (one, two) = (at(1), at(2));
    let flow = || traffic(at(3), &rest(4));
    match code {
        _ if !known => format!("{code}, {object}"),
        "nsg_deny" => format!("Security rule {} of {one} denies the traffic", rest(2)),
        "nsg_exposure" => format!("Security rule {} of {one} lets anybody in", rest(2)),
        "route_blackhole" => format!("Route {} of {one} leads nowhere", rest(2)),
        "route_dead_nva" => format!("Route {} of {one} leads to an appliance that is not there", rest(2)),
        "route_detour" => format!("Route {} of {one} leads through an appliance", rest(2)),
        "service_endpoint_missing" => format!("Subnet {two} of {one} lacks the endpoint {}", rest(3)),
        "storage_firewall_deny" => format!("Storage account {} does not let the subnet in", rest(1)),
        "guest_firewall_drop" => {
            format!("{one} itself drops {} in its packet filter", traffic(at(4), &rest(5)))
        }
        "guest_firewall_reject" => {
            format!("{one} itself refuses {} in its packet filter", traffic(at(4), &rest(5)))
        }
        "guest_firewall_policy_drop" => {
            format!("{one} drops whatever its packet filter does not name (chain {})", rest(3))
        }
        "fail2ban_ban" => format!("fail2ban on {one} has banned {}", rest(3)),
        "container_firewall_change" => format!("{one} stops traffic of its containers (chain {})", rest(3)),
        "netem_loss" => format!("{one} loses packets on the way out of {}", rest(2)),
        "netem_delay" => format!("{one} delays what it sends through {}", rest(2)),
        "netem_corrupt" => format!("{one} damages packets on the way out of {}", rest(2)),
        "netem_duplicate" => format!("{one} sends packets of {} twice", rest(2)),
        "netem_reorder" => format!("{one} sends packets of {} out of order", rest(2)),
        "rate_limit" => format!("{one} limits the rate of {}", rest(2)),
        "pmtu_blackhole" => format!("Large packets from {one} to {two} do not get through"),
        "tcp_refused" => format!("Nothing listens on {two} for {}", flow()),
        "syn_unanswered" => format!("{two} does not answer {one} on {}", flow()),
        "dns_failure" => format!("Name server {} does not resolve names", rest(1)),
        "arp_conflict" => format!("Two interfaces claim {}", rest(1)),
        "asymmetric_path" => format!("The two directions between {one} and {two} take different ways"),
        "no_drift" => format!("Nothing changed at {} since the baseline", rest(1)),
        other => format!("{other}, {object}"),
    }
}

/// Names traffic: `TCP port 5001`, `all ICMP`, `all traffic`.
#[must_use]
pub fn traffic(protocol: &str, port: &str) -> String {
    let every = |text: &str| matches!(text, "any" | "all" | "" | "*");
    match (every(protocol), every(port)) {
        (true, true) => "all traffic".to_owned(),
        (true, false) => format!("port {port}"),
        (false, true) => format!("all {}", protocol.to_uppercase()),
        (false, false) => format!("{} port {port}", protocol.to_uppercase()),
    }
}

/// Says how a fault works and what it explains; nothing where the code is not known.
#[must_use]
pub fn mechanism(code: &str) -> &'static str {
    match code {
        "nsg_deny" => {
            "The platform discards the packets before the machine sees them, so connections hang without an answer. Other ports are not touched."
        }
        "nsg_exposure" => {
            "Whoever is in that range can knock at the port; what keeps them out is the program alone."
        }
        "route_blackhole" => {
            "The most specific route wins, and this one has no next hop: everything for its prefix vanishes without an answer, whatever the rules allow."
        }
        "route_dead_nva" => {
            "The most specific route wins, and hands the packets to an address that nobody has: everything for its prefix vanishes without an answer, whatever the rules allow."
        }
        "route_detour" => {
            "The traffic goes through an appliance instead of directly; that costs time and may break the way back."
        }
        "service_endpoint_missing" => {
            "The account lets the subnet in only by its endpoint. Without it the traffic comes from a public address and is turned away; neither side shows a fault of its own."
        }
        "storage_firewall_deny" => "The account's own rules turn this subnet away.",
        "guest_firewall_drop" => {
            "The machine discards these packets behind the platform's rules, so callers hang, and no portal shows it. It explains this traffic and nothing that is slow."
        }
        "guest_firewall_reject" => {
            "The machine answers these packets with a refusal behind the platform's rules, and no portal shows it."
        }
        "guest_firewall_policy_drop" => {
            "Whatever no rule names is discarded, so services that worked before time out while the platform's rules are open."
        }
        "fail2ban_ban" => {
            "The ban program blocked this one address after failed logins. It explains this address alone."
        }
        "container_firewall_change" => {
            "Traffic to and from containers is forwarded through this chain, and the chain ends it. The host's own services are not touched."
        }
        "netem_loss" => {
            "A part of what this machine sends is discarded on its way out; senders repeat it, and throughput falls."
        }
        "netem_delay" => {
            "Everything sent waits, so each round trip takes longer. Connections come up all the same."
        }
        "netem_corrupt" => {
            "A part of what this machine sends is damaged; receivers discard it, and some connections break off."
        }
        "netem_duplicate" => "A part of what this machine sends goes out twice.",
        "netem_reorder" => {
            "What this machine sends arrives out of order, which looks like loss to the receiver."
        }
        "rate_limit" => {
            "The machine sends no faster than the limit, evenly: a steady rate says nothing about whether it is the right one. Small requests stay quick."
        }
        "pmtu_blackhole" => {
            "Small packets pass and large ones do not fit through the path; the sender goes on sending them too large."
        }
        "tcp_refused" => {
            "The packet arrives and the machine answers that nobody listens: no rule and no route does that."
        }
        "syn_unanswered" => "The first packet of each connection gets no answer.",
        "dns_failure" => "Names are not resolved, so programs fail before they connect.",
        "arp_conflict" => "Two interfaces answer for one address, and packets reach now one, now the other.",
        "asymmetric_path" => {
            "The two directions take different ways, and what keeps state sees only one of them."
        }
        "no_drift" => "Rules and routes in effect are those of the baseline: a verified negative.",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::CODES;

    #[test]
    fn every_code_has_a_title_and_a_mechanism() {
        for code in CODES {
            let parts = code.object.split('/').map(|part| part.trim_matches(['<', '>']));
            let object = parts.collect::<Vec<_>>().join("/");
            let told = title(code.name, &object);
            assert!(!told.contains(code.name) && !told.contains('_'), "{told}");
            assert!(mechanism(code.name).ends_with('.'), "{}", code.name);
        }
    }

    #[test]
    fn a_fault_is_named_by_what_is_broken() {
        for (code, object, told) in [
            (
                "guest_firewall_drop",
                "netfilter/db-1/filter/INPUT/tcp/5001",
                "db-1 itself drops TCP port 5001 in its packet filter",
            ),
            (
                "guest_firewall_drop",
                "netfilter/db-1/filter/INPUT/icmp/any",
                "db-1 itself drops all ICMP in its packet filter",
            ),
            ("nsg_deny", "nsg/web-nsg/deny-5001", "Security rule deny-5001 of web-nsg denies the traffic"),
            ("nsg_deny", "nonsense", "nsg_deny, nonsense"),
        ] {
            assert_eq!(title(code, object), told);
        }
    }
}
