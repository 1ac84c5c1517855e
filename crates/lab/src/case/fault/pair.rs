//! What is to be found where a fault is.

use std::net::IpAddr;

use super::any::Fault;
use super::cloud::{Access, Direction, Hop, NsgRule, Peering, Route};
use super::firewall::{Iptables, Target, Verdict};
use super::owner::{Nft, NftVerdict};
use super::shaping::Netem;
use crate::case::model::Pair;

impl Fault {
    /// Returns the pairs that a fault gives, where it does anything at all. `address` tells that of a machine, `owned` whether an
    /// interface owns one. Whether exposure is the question, and whether something else hides a symptom, is for the case to say.
    pub fn pairs(
        &self,
        address: &dyn Fn(&str) -> Option<IpAddr>,
        owned: &dyn Fn(IpAddr) -> bool,
    ) -> Vec<Pair> {
        let flow = |code: &str, from: &str, to: &str, port: u16| -> Vec<Pair> {
            let ends = address(from).zip(address(to));
            ends.map(|(from, to)| Pair::new(code, format!("flow/{from}/{to}/tcp/{port}")))
                .into_iter()
                .collect()
        };
        match self {
            Self::NsgRule(rule) => nsg(rule),
            Self::Route(route) => hop(route, owned),
            Self::ServiceEndpoint(lost) => {
                vec![Pair::new(
                    "service_endpoint_missing",
                    format!("subnet/{}/{}", lost.subnet, lost.service),
                )]
            }
            Self::StorageFirewall(wall) => match wall.default {
                Access::Deny => vec![Pair::new("storage_firewall_deny", format!("storage/{}", wall.account))],
                Access::Allow => Vec::new(),
            },
            Self::Peering(side) => peering(side),
            Self::MachineStopped(own) => vec![Pair::new("vm_stopped", format!("vm/{}", own.vm))],
            Self::Netem(netem) => shaped(netem),
            Self::RateLimit(limit) => {
                vec![Pair::new("rate_limit", format!("qdisc/{}/{}", limit.vm, limit.device))]
            }
            Self::Iptables(rule) => iptables(rule),
            Self::IptablesPolicy(policy) => match policy.policy {
                Verdict::Drop => vec![Pair::new(
                    "guest_firewall_policy_drop",
                    format!("netfilter/{}/{}/{}", policy.vm, policy.table, policy.chain),
                )],
                Verdict::Accept => Vec::new(),
            },
            // What its rules do is not read from their words.
            Self::IptablesChain(_) => Vec::new(),
            Self::Fail2ban(ban) => {
                vec![Pair::new(
                    "fail2ban_ban",
                    format!("netfilter/{}/{}/{}", ban.vm, ban.chain(), ban.banned()),
                )]
            }
            Self::Docker(engine) => engine
                .drop_in
                .iter()
                .map(|chain| {
                    Pair::new("container_firewall_change", format!("netfilter/{}/filter/{chain}", engine.vm))
                })
                .collect(),
            Self::Nft(rule) => nft(rule),
            Self::PortClosed(port) => flow("tcp_refused", &port.from, &port.vm, port.port),
            Self::PortSilent(port) => flow("syn_unanswered", &port.from, &port.vm, port.port),
            Self::Dns(dns) => match &dns.zone {
                Some(zone) => vec![Pair::new("dns_forwarder_missing", format!("dns/{}/{zone}", dns.server))],
                None => vec![Pair::new("dns_failure", format!("dns/{}", dns.server))],
            },
            Self::ArpConflict(arp) => vec![Pair::new("arp_conflict", format!("host/{}", arp.address))],
            Self::PathMtu(path) => flow("pmtu_blackhole", &path.from, &path.to, path.port),
            Self::AsymmetricPath(path) => flow("asymmetric_path", &path.to, &path.vm, path.port),
        }
    }
}

fn nsg(rule: &NsgRule) -> Vec<Pair> {
    let object = format!("nsg/{}/{}", rule.nsg, rule.name);
    let risky = |port: &String| match port.split_once('-') {
        Some((from, to)) => {
            let ends = from.parse::<u16>().ok().zip(to.parse::<u16>().ok());
            ends.is_some_and(|(from, to)| [22, 3389].iter().any(|port| (from..=to).contains(port)))
        }
        None => matches!(port.as_str(), "22" | "3389" | "*"),
    };
    let open = ["*", "0.0.0.0/0", "Internet", "Any"].contains(&rule.source.as_str());
    match (rule.access, rule.direction) {
        (Access::Deny, _) => vec![Pair::new("nsg_deny", object)],
        (Access::Allow, Direction::Inbound) if open && rule.ports.iter().any(risky) => {
            vec![Pair::new("nsg_exposure", object)]
        }
        (Access::Allow, Direction::Inbound | Direction::Outbound) => Vec::new(),
    }
}

fn peering(side: &Peering) -> Vec<Pair> {
    let codes = [
        ("peering_disconnected", side.state() != "Connected"),
        ("peering_access_off", !side.access),
        ("peering_forwarding_off", !side.forwarded),
        ("peering_not_synced", !side.known.is_empty()),
    ];
    let there = codes.iter().filter(|(_, there)| *there);
    there.map(|(code, _)| Pair::new(code, format!("peering/{}/{}", side.vnet, side.name))).collect()
}

fn hop(route: &Route, owned: &dyn Fn(IpAddr) -> bool) -> Vec<Pair> {
    let code = match (route.hop, route.address) {
        (Hop::None, _) => "route_blackhole",
        (Hop::VirtualAppliance, Some(address)) if owned(address) => "route_detour",
        (Hop::VirtualAppliance, _) => "route_dead_nva",
        (Hop::Internet | Hop::VirtualNetworkGateway, _) => "route_detour",
        (Hop::VnetLocal, _) => return Vec::new(),
    };
    vec![Pair::new(code, format!("route/{}/{}", route.table, route.name))]
}

fn shaped(netem: &Netem) -> Vec<Pair> {
    let some = |share: Option<f64>| share.is_some_and(|share| share > 0.0);
    let codes = [
        ("netem_loss", some(netem.loss)),
        ("netem_delay", netem.delay.is_some()),
        ("netem_corrupt", some(netem.corrupt)),
        ("netem_duplicate", some(netem.duplicate)),
        ("netem_reorder", some(netem.reorder)),
    ];
    let there = codes.iter().filter(|(_, there)| *there);
    there.map(|(code, _)| Pair::new(code, format!("qdisc/{}/{}", netem.vm, netem.device))).collect()
}

fn iptables(rule: &Iptables) -> Vec<Pair> {
    let code = match rule.target {
        Target::Drop => "guest_firewall_drop",
        Target::Reject => "guest_firewall_reject",
        Target::Accept | Target::Return => return Vec::new(),
    };
    let chain = &rule.chain;
    if chain.starts_with("DOCKER") {
        let object = format!("netfilter/{}/{}/{chain}", rule.vm, rule.table);
        return vec![Pair::new("container_firewall_change", object)];
    }
    if let (true, Some(source)) = (chain.starts_with("f2b-"), &rule.source) {
        let banned = source.split('/').next().unwrap_or_default();
        return vec![Pair::new("fail2ban_ban", format!("netfilter/{}/{chain}/{banned}", rule.vm))];
    }
    let protocol = rule.protocol.as_deref().unwrap_or("any");
    let port = rule.port.as_deref().unwrap_or("any");
    vec![Pair::new(code, format!("netfilter/{}/{}/{chain}/{protocol}/{port}", rule.vm, rule.table))]
}

fn nft(rule: &Nft) -> Vec<Pair> {
    let place = format!("netfilter/{}/{}:{}/{}", rule.vm, rule.family, rule.table, rule.chain);
    let code = match rule.verdict {
        NftVerdict::Drop => Some("guest_firewall_drop"),
        NftVerdict::Reject => Some("guest_firewall_reject"),
        NftVerdict::Accept => None,
    };
    let protocol = rule.protocol.as_deref().unwrap_or("any");
    let port = rule.port.as_deref().unwrap_or("any");
    let own = code.map(|code| Pair::new(code, format!("{place}/{protocol}/{port}")));
    let policy =
        (rule.policy == NftVerdict::Drop).then(|| Pair::new("guest_firewall_policy_drop", place.clone()));
    own.into_iter().chain(policy).collect()
}
