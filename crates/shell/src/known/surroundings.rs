//! What the configuration and this machine know before a session begins.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::place::Destination;

/// Why a destination cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no address, prefix or name of a host")]
pub struct DestinationError(String);

/// What is known without a word of anybody. It stands at the beginning of a session's record, so that the session comes to the same
/// verdicts on another machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Surroundings {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    destinations: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resolvers: Vec<IpAddr>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    search: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_sandbox: bool,
}

impl Surroundings {
    /// Reads the destinations of the configuration and the text of `/etc/resolv.conf`.
    ///
    /// # Errors
    /// Names the first destination that is no address, prefix or name.
    pub fn read(destinations: &[String], resolvers: &str) -> Result<Self, DestinationError> {
        if let Some(wrong) = destinations.iter().find(|text| Destination::parse(text).is_none()) {
            return Err(DestinationError(wrong.clone()));
        }
        let mut found = Self { destinations: destinations.to_vec(), ..Self::default() };
        for line in resolvers.lines() {
            let mut words = line.split(['#', ';']).next().unwrap_or_default().split_whitespace();
            match words.next() {
                Some("nameserver") => {
                    let address = words.next().and_then(|word| word.split('%').next());
                    found.resolvers.extend(address.and_then(|word| word.parse::<IpAddr>().ok()));
                }
                // The last of these lines counts.
                Some("search" | "domain") => found.search = words.map(str::to_owned).collect(),
                _ => {}
            }
        }
        found.search.retain(|domain| domain != ".");
        Ok(found)
    }

    /// Tells whether the machine lacks the sandbox that is required for what only reads.
    #[must_use]
    pub fn without_sandbox(self, without_sandbox: bool) -> Self {
        Self { without_sandbox, ..self }
    }

    /// Tells whether the machine lacks the sandbox that is required for what only reads.
    #[must_use]
    pub fn is_without_sandbox(&self) -> bool {
        self.without_sandbox
    }

    /// Returns the places of the configuration.
    pub(super) fn destinations(&self) -> impl Iterator<Item = Destination> {
        self.destinations.iter().filter_map(|text| Destination::parse(text))
    }

    /// Returns the resolvers of this machine.
    pub(super) fn resolvers(&self) -> impl Iterator<Item = IpAddr> {
        self.resolvers.iter().map(IpAddr::to_canonical)
    }

    /// Returns the domains that this machine puts behind a short name.
    pub(super) fn search(&self) -> impl Iterator<Item = &str> {
        self.search.iter().map(String::as_str)
    }
}
