//! A fault, whichever it is.

use serde::Deserialize;

use super::cloud::{MachineStopped, NsgRule, Peering, Route, ServiceEndpoint, StorageFirewall};
use super::firewall::{Chain, Iptables, Policy};
use super::odd::{ArpConflict, Asymmetric, Dns, PathMtu, PortClosed, PortSilent};
use super::owner::{Docker, Fail2ban, Nft};
use super::shaping::{Netem, RateLimit};
use crate::case::problem::Problem;

/// Every code of a fault that can be injected, and the kind that does it. `no_drift` is what a baseline without a change gives.
pub const CODES: [(&str, &str); 30] = [
    ("nsg_deny", "nsg_rule"),
    ("nsg_exposure", "nsg_rule"),
    ("route_blackhole", "route"),
    ("route_dead_nva", "route"),
    ("route_detour", "route"),
    ("service_endpoint_missing", "service_endpoint"),
    ("storage_firewall_deny", "storage_firewall"),
    ("guest_firewall_drop", "iptables"),
    ("guest_firewall_reject", "iptables"),
    ("guest_firewall_policy_drop", "iptables_policy"),
    ("fail2ban_ban", "fail2ban"),
    ("container_firewall_change", "docker"),
    ("netem_loss", "netem"),
    ("netem_delay", "netem"),
    ("netem_corrupt", "netem"),
    ("netem_duplicate", "netem"),
    ("netem_reorder", "netem"),
    ("rate_limit", "rate_limit"),
    ("pmtu_blackhole", "path_mtu"),
    ("tcp_refused", "port_closed"),
    ("syn_unanswered", "port_silent"),
    ("dns_failure", "dns"),
    ("arp_conflict", "arp_conflict"),
    ("asymmetric_path", "asymmetric_path"),
    ("peering_disconnected", "peering"),
    ("peering_access_off", "peering"),
    ("peering_forwarding_off", "peering"),
    ("peering_not_synced", "peering"),
    ("dns_forwarder_missing", "dns"),
    ("vm_stopped", "machine_stopped"),
];

/// Codes of what follows from documents that a case puts (`[[change]]`), and from what is missing among them.
pub(in crate::case) const DOCUMENT_CODES: [&str; 42] = [
    "peering_missing",
    "peering_transit_off",
    "lb_probe_mismatch",
    "lb_probe_status",
    "lb_backend_empty",
    "lb_rule_missing",
    "lb_floating_ip",
    "lb_admin_down",
    "not_listening",
    "outbound_absent",
    "nat_unconfigured",
    "firewall_deny",
    "firewall_default_deny",
    "firewall_dns_proxy_off",
    "snat_exhausted",
    "vpn_down",
    "vpn_key_mismatch",
    "vpn_ike_mismatch",
    "vpn_peer_unreachable",
    "vpn_prefix_missing",
    "vpn_prefix_overlap",
    "bgp_peer_down",
    "bgp_route_missing",
    "route_propagation_off",
    "er_circuit_down",
    "er_peering_down",
    "appgw_probe_mismatch",
    "appgw_backend_tls",
    "appgw_cert_expired",
    "appgw_pool_empty",
    "appgw_stopped",
    "appgw_backend_down",
    "aks_stopped",
    "aks_api_restricted",
    "bastion_unconfigured",
    "platform_event",
    "pe_not_approved",
    "private_dns_unlinked",
    "private_dns_shadow",
    "private_dns_record_missing",
    "private_dns_record_stale",
    "dns_server_wrong",
];

/// Codes of what is wrong inside of a cluster, and the kind of `[[kubernetes.fault]]` that does it.
pub(in crate::case) const CLUSTER_CODES: [(&str, &str); 4] = [
    ("k8s_policy_deny", "policy"),
    ("k8s_no_endpoints", "selector` or `not_ready"),
    ("k8s_port_not_served", "target_port"),
    ("k8s_service_port_missing", "service_port"),
];

/// A fault. In a file `kind` says which.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// A rule of a security group.
    NsgRule(NsgRule),
    /// A user's route.
    Route(Route),
    /// A service endpoint that a subnet lost.
    ServiceEndpoint(ServiceEndpoint),
    /// Network rules of a storage account.
    StorageFirewall(StorageFirewall),
    Peering(Peering),
    /// A machine that does not run.
    MachineStopped(MachineStopped),
    /// Delay, loss and other damage.
    Netem(Netem),
    RateLimit(RateLimit),
    /// A rule of a guest's packet filter.
    Iptables(Iptables),
    /// The policy of a chain.
    IptablesPolicy(Policy),
    /// A chain of one's own, with rules, and the jump to it.
    IptablesChain(Chain),
    Fail2ban(Fail2ban),
    /// What the container engine leaves in the packet filter.
    Docker(Docker),
    /// A native rule of nftables.
    Nft(Nft),
    /// Nobody listens, and somebody calls.
    PortClosed(PortClosed),
    /// Somebody listens and does not answer.
    PortSilent(PortSilent),
    /// A name server that fails.
    Dns(Dns),
    /// Another station with the same address.
    ArpConflict(ArpConflict),
    /// A path for smaller packets than its ends believe.
    PathMtu(PathMtu),
    /// Answers that take another path.
    AsymmetricPath(Asymmetric),
}

impl Fault {
    /// Every word that `kind` may be.
    pub const KINDS: [&'static str; 20] = [
        "nsg_rule",
        "route",
        "service_endpoint",
        "storage_firewall",
        "peering",
        "machine_stopped",
        "netem",
        "rate_limit",
        "iptables",
        "iptables_policy",
        "iptables_chain",
        "fail2ban",
        "docker",
        "nft",
        "port_closed",
        "port_silent",
        "dns",
        "arp_conflict",
        "path_mtu",
        "asymmetric_path",
    ];

    /// Says what cannot be, whatever the estate is.
    pub(in crate::case) fn problems(&self) -> Vec<Problem> {
        match self {
            Self::NsgRule(fault) => fault.problems(),
            Self::Route(fault) => fault.problems(),
            Self::ServiceEndpoint(fault) => fault.problems(),
            Self::StorageFirewall(fault) => fault.problems(),
            Self::Peering(fault) => fault.problems(),
            Self::MachineStopped(fault) => fault.problems(),
            Self::Netem(fault) => fault.problems(),
            Self::RateLimit(fault) => fault.problems(),
            Self::Iptables(fault) => fault.problems(),
            Self::IptablesPolicy(fault) => fault.problems(),
            Self::IptablesChain(fault) => fault.problems(),
            Self::Fail2ban(fault) => fault.problems(),
            Self::Docker(fault) => fault.problems(),
            Self::Nft(fault) => fault.problems(),
            Self::PortClosed(fault) => fault.problems(),
            Self::PortSilent(fault) => fault.problems(),
            Self::Dns(fault) => fault.problems(),
            Self::ArpConflict(fault) => fault.problems(),
            Self::PathMtu(fault) => fault.problems(),
            Self::AsymmetricPath(fault) => fault.problems(),
        }
    }

    /// Returns the machines that it speaks of.
    pub(in crate::case) fn machines(&self) -> Vec<&str> {
        match self {
            Self::NsgRule(_)
            | Self::Route(_)
            | Self::ServiceEndpoint(_)
            | Self::StorageFirewall(_)
            | Self::Peering(_)
            | Self::ArpConflict(_) => Vec::new(),
            Self::MachineStopped(fault) => vec![&fault.vm],
            Self::Netem(fault) => vec![&fault.vm],
            Self::RateLimit(fault) => vec![&fault.vm],
            Self::Iptables(fault) => vec![&fault.vm],
            Self::IptablesPolicy(fault) => vec![&fault.vm],
            Self::IptablesChain(fault) => vec![&fault.vm],
            Self::Fail2ban(fault) => vec![&fault.vm],
            Self::Docker(fault) => vec![&fault.vm],
            Self::Nft(fault) => vec![&fault.vm],
            Self::PortClosed(fault) => vec![&fault.vm, &fault.from],
            Self::PortSilent(fault) => vec![&fault.vm, &fault.from],
            Self::Dns(fault) => fault.from.iter().map(String::as_str).collect(),
            Self::PathMtu(fault) => vec![&fault.from, &fault.to],
            Self::AsymmetricPath(fault) => vec![&fault.vm, &fault.to],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_that_is_named_is_one() {
        for kind in Fault::KINDS {
            let table: toml::Table = toml::from_str(&format!("kind = \"{kind}\"")).unwrap();
            let error = Fault::deserialize(table).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!error.contains("unknown variant"), "{kind}: {error}");
        }
        assert!(CODES.iter().all(|(_, kind)| Fault::KINDS.contains(kind)));
    }
}
