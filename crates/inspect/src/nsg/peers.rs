//! The addresses that a rule speaks of.

use std::net::IpAddr;
use std::sync::Arc;

use crate::net::{AddressSet, Inventory, Platform, Tags};

/// What helps to resolve names.
#[derive(Debug, Clone, Copy, Default)]
pub struct Knowledge<'a> {
    /// Service tags.
    pub tags: Option<&'a Tags>,
    /// Network interfaces with their application security groups.
    pub inventory: Option<&'a Inventory>,
}

/// One side of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peers {
    /// The addresses that are certainly meant.
    pub known: Arc<AddressSet>,
    /// The names that stand for addresses that nobody resolved.
    pub open: Vec<Open>,
    /// Whether the rule says that it means anybody, by whatever word.
    pub anybody: bool,
    /// The services of the platform that the rule names by their tags.
    pub platform: Vec<Platform>,
}

/// A name that nobody resolved, or resolved for some addresses only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The name, as the document has it.
    pub name: String,
    /// Addresses that it certainly does not stand for.
    pub never: Arc<AddressSet>,
    /// Whether it is no name that could be read, so that it may be any.
    pub unread: bool,
}

impl Peers {
    /// Returns the names that may be the tag of a service of the platform, or none where one certainly is; `None` where none is.
    pub(super) fn undecided_of(&self, platform: Platform) -> Option<Vec<&str>> {
        if self.platform.contains(&platform) {
            return Some(Vec::new());
        }
        let open = self.open.iter().filter(|open| open.unread);
        let names: Vec<&str> = open.map(|open| open.name.as_str()).collect();
        (!names.is_empty()).then_some(names)
    }

    /// Returns the names that may stand for an address, or none where it is certain; `None` where the side misses it.
    pub(super) fn undecided(&self, address: IpAddr) -> Option<Vec<&str>> {
        if self.known.contains(address) {
            return Some(Vec::new());
        }
        let open = self.open.iter().filter(|open| !open.never.contains(address));
        let names: Vec<&str> = open.map(|open| open.name.as_str()).collect();
        (!names.is_empty()).then_some(names)
    }
}

/// Tells whether a text means everybody there is.
pub(super) fn is_anybody(text: &str) -> bool {
    matches!(text, "*" | "0.0.0.0/0" | "::/0")
        || text.eq_ignore_ascii_case("internet")
        || text.eq_ignore_ascii_case("any")
}
