//! The fault codes and the names of what is at fault. Codes are added, never renamed.

/// A fault code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultCode {
    /// Its name.
    pub name: &'static str,
    /// How the object is named, a part in angle brackets standing for any text.
    pub object: &'static str,
}

impl FaultCode {
    /// Finds a code.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        CODES.iter().find(|code| code.name == name)
    }

    /// Tells whether an object is named as the code wants it.
    #[must_use]
    pub fn names(&self, object: &str) -> bool {
        let (wanted, found): (Vec<&str>, Vec<&str>) =
            (self.object.split('/').collect(), object.split('/').collect());
        // A service or a prefix may hold a slash of its own; only the last part may.
        found.len() >= wanted.len()
            && found.iter().all(|part| !part.is_empty() && !part.contains(char::is_whitespace))
            && (found.len() == wanted.len() || wanted.last().is_some_and(|last| last.starts_with('<')))
            && wanted.iter().zip(&found).all(|(wanted, found)| wanted.starts_with('<') || wanted == found)
    }
}

macro_rules! codes {
    ($($name:literal $object:literal),* $(,)?) => {
        /// All codes.
        pub const CODES: &[FaultCode] = &[$(FaultCode { name: $name, object: $object }),*];
    };
}

codes! {
    "nsg_deny" "nsg/<nsg>/<rule>",
    "nsg_exposure" "nsg/<nsg>/<rule>",
    "route_blackhole" "route/<table>/<route>",
    "route_dead_nva" "route/<table>/<route>",
    "route_detour" "route/<table>/<route>",
    "service_endpoint_missing" "subnet/<vnet>/<subnet>/<service>",
    "storage_firewall_deny" "storage/<account>",
    "guest_firewall_drop" "netfilter/<vm>/<table>/<chain>/<proto>/<port>",
    "guest_firewall_reject" "netfilter/<vm>/<table>/<chain>/<proto>/<port>",
    "guest_firewall_policy_drop" "netfilter/<vm>/<table>/<chain>",
    "fail2ban_ban" "netfilter/<vm>/<chain>/<ip>",
    "container_firewall_change" "netfilter/<vm>/<table>/<chain>",
    "netem_loss" "qdisc/<vm>/<dev>",
    "netem_delay" "qdisc/<vm>/<dev>",
    "netem_corrupt" "qdisc/<vm>/<dev>",
    "netem_duplicate" "qdisc/<vm>/<dev>",
    "netem_reorder" "qdisc/<vm>/<dev>",
    "rate_limit" "qdisc/<vm>/<dev>",
    "pmtu_blackhole" "flow/<src>/<dst>/<proto>/<port>",
    "tcp_refused" "flow/<src>/<dst>/<proto>/<port>",
    "syn_unanswered" "flow/<src>/<dst>/<proto>/<port>",
    "dns_failure" "dns/<server>",
    "arp_conflict" "host/<ip>",
    "asymmetric_path" "flow/<src>/<dst>/<proto>/<port>",
    "no_drift" "effective/<vm>",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_named_as_its_code_wants_it() {
        let code = FaultCode::find("guest_firewall_drop").unwrap();
        assert!(code.names("netfilter/web-1/filter/INPUT/tcp/5001"));
        for wrong in [
            "netfilter/web-1/filter/INPUT",
            "nsg/a/b/c/d/e",
            "netfilter/web-1/filter//tcp/1",
            "netfilter/a b/f/I/tcp/1",
            "",
        ] {
            assert!(!code.names(wrong), "{wrong}");
        }
        assert!(FaultCode::find("nonsense").is_none());
    }
}
