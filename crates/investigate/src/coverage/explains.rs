//! Which fault explains which symptom: a rule that shuts a port says nothing about names that are not found.

use crate::symptom_text::Symptom;

/// Tells whether a fault of this code may be why somebody sees this.
#[must_use]
pub fn explains(code: &str, symptom: Symptom) -> bool {
    match symptom {
        // These ask for a state, and any fault is an answer.
        Symptom::NothingChanged | Symptom::RolledBack => true,
        Symptom::Exposure => code == "nsg_exposure",
        Symptom::Slow => slows(code),
        Symptom::Lossy => {
            code.starts_with("netem_")
                || cuts(code)
                || matches!(code, "rate_limit" | "route_detour" | "tcp_refused")
        }
        Symptom::StorageUnreachable => {
            code.starts_with("storage_") || code == "service_endpoint_missing" || cuts(code)
        }
        Symptom::Containers => code == "container_firewall_change" || cuts(code),
        // A rule for one port is about names only where that port is theirs.
        Symptom::Names => matches!(
            code,
            "dns_failure"
                | "route_blackhole"
                | "route_dead_nva"
                | "guest_firewall_policy_drop"
                | "netem_loss"
        ),
        Symptom::InternetLost => code == "dns_failure" || cuts(code),
        Symptom::Refused => cuts(code) || code == "tcp_refused",
        Symptom::Unreachable | Symptom::Hanging | Symptom::OneProtocol => {
            cuts(code) || matches!(code, "tcp_refused" | "dns_failure" | "container_firewall_change")
        }
    }
}

/// Tells whether a fault makes things slow.
fn slows(code: &str) -> bool {
    code.starts_with("netem_") || matches!(code, "rate_limit" | "route_detour" | "pmtu_blackhole")
}

/// Tells whether a fault keeps machines from reaching each other.
fn cuts(code: &str) -> bool {
    code.starts_with("guest_firewall_")
        || code.starts_with("route_")
        || matches!(
            code,
            "nsg_deny"
                | "fail2ban_ban"
                | "netem_loss"
                | "netem_corrupt"
                | "pmtu_blackhole"
                | "arp_conflict"
                | "asymmetric_path"
                | "syn_unanswered"
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Fault;

    #[test]
    fn an_account_that_is_closed_explains_no_machine_that_cannot_be_reached() {
        assert!(explains("storage_firewall_deny", Symptom::StorageUnreachable));
        assert!(!explains("storage_firewall_deny", Symptom::Unreachable));
        assert!(!explains("service_endpoint_missing", Symptom::Names));
        assert!(!explains("nsg_deny", Symptom::Slow));
    }

    #[test]
    fn every_fault_explains_something() {
        for fault in Fault::ALL {
            assert!(Symptom::ALL.into_iter().any(|symptom| explains(fault.as_str(), symptom)), "{fault:?}");
        }
    }
}
