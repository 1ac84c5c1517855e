//! Which fault explains which symptom: a rule that shuts a port says nothing about names that are not found.
//!
//! Goes in: a fault and what people see. Comes out: whether the one may be why they see the other. Never: a fault without a row; a new code
//! does not compile before it has one.

use std::collections::BTreeSet;

use crate::finding::{Fault, symptoms_of_cluster, symptoms_of_host};
use crate::symptom_text::Symptom;

/// Where packets do not arrive.
const NO_ARRIVAL: [Symptom; 3] = [Symptom::Unreachable, Symptom::Hanging, Symptom::OneProtocol];

/// What else is seen where machines are kept from each other, whatever they serve.
const CUT: [Symptom; 5] = [
    Symptom::Lossy,
    Symptom::StorageUnreachable,
    Symptom::Containers,
    Symptom::InternetLost,
    Symptom::Refused,
];

/// Tells whether a fault of this code may be why somebody sees this.
#[must_use]
pub fn explains(code: &str, symptom: Symptom) -> bool {
    asks_for_state(symptom) || code.parse().is_ok_and(|fault| is_explained_by(symptom, fault))
}

/// Tells whether a fault is felt as one of these symptoms. If people say nothing of what they see, any fault is an answer.
#[must_use]
pub fn is_felt(fault: Fault, seen: &BTreeSet<Symptom>) -> bool {
    seen.is_empty() || seen.iter().any(|symptom| asks_for_state(*symptom) || is_explained_by(*symptom, fault))
}

/// These ask for a state, and any fault is an answer.
const fn asks_for_state(symptom: Symptom) -> bool {
    matches!(symptom, Symptom::NothingChanged | Symptom::RolledBack)
}

fn is_explained_by(symptom: Symptom, fault: Fault) -> bool {
    symptoms(fault).iter().any(|list| list.contains(&symptom))
}

/// Lists what somebody may see because of a fault.
const fn symptoms(fault: Fault) -> &'static [&'static [Symptom]] {
    match fault {
        Fault::NsgDeny
        | Fault::GuestFirewallDrop
        | Fault::GuestFirewallReject
        | Fault::Fail2banBan
        | Fault::ArpConflict
        | Fault::AsymmetricPath
        | Fault::FirewallDeny
        | Fault::FirewallDefaultDeny
        | Fault::SynUnanswered => &[&NO_ARRIVAL, &CUT],
        // A rule for one port is about names only where that port is theirs; these stop every port.
        Fault::RouteBlackhole
        | Fault::RouteDeadNva
        | Fault::GuestFirewallPolicyDrop
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
        | Fault::NatUnconfigured => &[&NO_ARRIVAL, &CUT, &[Symptom::Names]],
        Fault::PlatformEvent | Fault::SnatExhausted => &[&NO_ARRIVAL, &CUT, &[Symptom::Slow, Symptom::Names]],
        Fault::RouteDetour | Fault::PmtuBlackhole | Fault::NetemCorrupt => {
            &[&NO_ARRIVAL, &CUT, &[Symptom::Slow]]
        }
        Fault::NetemLoss => &[&NO_ARRIVAL, &CUT, &[Symptom::Slow, Symptom::Names]],
        Fault::NetemDelay | Fault::NetemDuplicate | Fault::NetemReorder | Fault::RateLimit => {
            &[&[Symptom::Slow, Symptom::Lossy]]
        }
        Fault::TcpRefused => &[&NO_ARRIVAL, &[Symptom::Lossy, Symptom::Refused]],
        Fault::DnsFailure => &[&NO_ARRIVAL, &[Symptom::Names, Symptom::InternetLost]],
        Fault::ContainerFirewallChange => &[&NO_ARRIVAL, &[Symptom::Containers]],
        Fault::ServiceEndpointMissing | Fault::StorageFirewallDeny => &[&[Symptom::StorageUnreachable]],
        Fault::NsgExposure => &[&[Symptom::Exposure]],
        Fault::NoDrift => &[],
        Fault::Host(fault) => symptoms_of_host(fault),
        Fault::Cluster(fault) => symptoms_of_cluster(fault),
    }
}

#[cfg(test)]
mod tests {
    use ghost_inspect::cluster::Fault as ClusterFault;

    use super::*;

    #[test]
    fn an_account_that_is_closed_explains_no_machine_that_cannot_be_reached() {
        assert!(explains("storage_firewall_deny", Symptom::StorageUnreachable));
        assert!(!explains("storage_firewall_deny", Symptom::Unreachable));
        assert!(!explains("service_endpoint_missing", Symptom::Names));
        assert!(!explains("nsg_deny", Symptom::Slow));
    }

    #[test]
    fn what_stops_every_call_makes_none_of_them_slow() {
        for fault in ClusterFault::ALL {
            assert!(!explains(fault.as_str(), Symptom::Slow), "{fault:?}");
            assert!(explains(fault.as_str(), Symptom::Unreachable), "{fault:?}");
        }
    }

    #[test]
    fn where_nobody_says_what_they_see_any_fault_is_an_answer() {
        let slow = BTreeSet::from([Symptom::Slow]);
        let fault = Fault::Cluster(ClusterFault::NoEndpoints);
        assert!(is_felt(fault, &BTreeSet::new()) && !is_felt(fault, &slow));
        assert!(is_felt(fault, &BTreeSet::from([Symptom::Slow, Symptom::Refused])));
        assert!(is_felt(fault, &BTreeSet::from([Symptom::RolledBack])));
    }

    #[test]
    fn every_fault_explains_something() {
        for fault in Fault::every() {
            assert!(Symptom::ALL.into_iter().any(|symptom| explains(fault.as_str(), symptom)), "{fault:?}");
        }
    }
}
