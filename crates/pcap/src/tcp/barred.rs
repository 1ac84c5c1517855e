//! A SYN that somebody on the way sent back.

use std::net::IpAddr;

use crate::layers::Quote;

/// Why a SYN did not get through, according to an ICMP error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Barred {
    /// A filter forbids it; else there is no way.
    pub(crate) filtered: bool,
    /// The type of the error.
    pub(crate) kind: u8,
    /// Its code.
    pub(crate) code: u8,
    /// Who sent it.
    pub(crate) from: IpAddr,
    /// Its frame.
    pub(crate) frame: u64,
}

impl Barred {
    /// Reads an error; nothing where it does not say that a SYN goes no further.
    pub(crate) fn by(quote: &Quote, frame: u64) -> Option<Self> {
        let filtered = match (quote.six, quote.kind, quote.code) {
            // A filter says "no such port" of a protocol whose own answer would be a reset.
            (false, 3, 3 | 9 | 10 | 13) | (true, 1, 1 | 4 | 5 | 6) => true,
            // Too large is said of what a SYN is not.
            (false, 3, 4) => return None,
            (false, 3 | 11, _) | (true, 1 | 3, _) => false,
            (false | true, _, _) => return None,
        };
        Some(Self { filtered, kind: quote.kind, code: quote.code, from: quote.from.source(), frame })
    }
}
