//! Where a conversation may go, decided when a client is made.

use reqwest::Url;

use crate::model::wire::address;

/// Which providers may receive a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Egress {
    /// Any that is configured.
    Anywhere,
    /// Those on this machine, and those whose base address begins with one of these.
    Only(Vec<String>),
}

/// Why a provider cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The base address is none.
    #[error("the base address of {provider} cannot be used: {what}")]
    Address { provider: &'static str, what: String },
    /// The conversation would be readable in transit.
    #[error("{provider} must be reached over https: only {host} on this machine may do without")]
    Plain { provider: &'static str, host: String },
    /// The configuration keeps conversations inside.
    #[error("no_egress is set and neither is {host} this machine nor is its base address listed")]
    Forbidden {
        /// The host that would have received the conversation.
        host: String,
    },
    /// There is no key, or it cannot be one.
    #[error("the key of {provider} {what}")]
    Key { provider: &'static str, what: &'static str },
    /// The machine cannot speak TLS, for want of certificates for instance.
    #[error("no connection to {provider} can be set up: {what}")]
    Tls {
        provider: &'static str,
        /// What was missing.
        what: String,
    },
}

impl Egress {
    /// Lets an address through or refuses it.
    pub(super) fn admit(&self, base: &Url) -> Result<(), BuildError> {
        let listed = match self {
            Self::Anywhere => return Ok(()),
            Self::Only(listed) => listed,
        };
        let covers = |entry: &String| Url::parse(entry).is_ok_and(|entry| covers(&entry, base));
        if address::is_loopback(base) || listed.iter().any(covers) {
            return Ok(());
        }
        Err(BuildError::Forbidden { host: address::host(base) })
    }
}

/// Tells whether an address is the listed one or lies below it.
fn covers(listed: &Url, base: &Url) -> bool {
    let (above, below) = (listed.path().trim_end_matches('/'), base.path());
    listed.origin().is_tuple()
        && listed.origin() == base.origin()
        && below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(listed: &[&str], base: &str, expected: bool) {
        let egress = Egress::Only(listed.iter().map(|entry| (*entry).to_owned()).collect());
        assert_eq!(egress.admit(&Url::parse(base).unwrap()).is_ok(), expected, "{base}");
    }

    #[test]
    fn without_egress_only_this_machine_is_left() {
        check(&[], "http://127.0.0.1:11434/v1", true);
        check(&[], "http://[::1]:8000", true);
        check(&[], "http://localhost:8000", true);
        check(&[], "https://api.example.com", false);
        check(&[], "https://127.0.0.1.example.com", false);
        check(&[], "https://localhost.example.com", false);
        check(&[], "https://10.0.0.1", false);
    }

    #[test]
    fn a_listed_base_address_is_let_through_whole() {
        let listed = ["https://models.example.com/v1"];
        check(&listed, "https://models.example.com/v1", true);
        check(&listed, "https://models.example.com:443/v1/", true);
        check(&listed, "https://models.example.com/v1/deployments/a", true);
        check(&listed, "https://models.example.com/v10", false);
        check(&listed, "https://models.example.com/", false);
        check(&listed, "http://models.example.com/v1", false);
        check(&listed, "https://models.example.com:8443/v1", false);
        check(&listed, "https://models.example.com.evil.example/v1", false);
        check(&["https://models.example.com"], "https://models.example.com/any", true);
    }

    #[test]
    fn a_list_that_cannot_be_read_allows_nothing() {
        check(&["", "models.example.com", "*", "data:x"], "https://models.example.com", false);
    }
}
