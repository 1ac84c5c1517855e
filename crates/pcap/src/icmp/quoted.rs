//! Connections that errors are about, and what became of them.

use std::net::{IpAddr, SocketAddr};

use crate::flow::State;
use crate::hash::Map;

/// How many connections are remembered.
const MOST: usize = 4096;

/// What somebody said about a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    /// `ICMPv6`.
    pub(crate) six: bool,
    /// The type.
    pub(crate) kind: u8,
    /// The code.
    pub(crate) code: u8,
    /// Who said it.
    pub(crate) from: IpAddr,
    /// How often anything was said.
    pub(crate) count: u64,
    /// Where first.
    pub(crate) frame: u64,
    /// How far the connection came, once that is known.
    pub(crate) state: Option<State>,
}

/// From who sent the quoted packet to whom it went.
pub(crate) type Way = (SocketAddr, SocketAddr);

/// All connections that errors are about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quoted {
    flows: Map<Way, Said>,
    /// Errors about connections for which there was no room.
    pub(crate) left_out: u64,
}

impl Quoted {
    /// Takes an error about a connection; of several the first is kept.
    pub(crate) fn take(&mut self, way: Way, said: Said) {
        if self.flows.len() >= MOST && !self.flows.contains_key(&way) {
            self.left_out += 1;
            return;
        }
        self.flows.entry(way).or_insert(Said { count: 0, ..said }).count += 1;
    }

    /// Returns what was said about a connection, whichever end's packet was quoted.
    pub(crate) fn about(&self, (a, b): Way) -> Option<&Said> {
        if self.flows.is_empty() {
            return None;
        }
        self.flows.get(&(a, b)).or_else(|| self.flows.get(&(b, a)))
    }

    /// Notes how far a connection came.
    pub(crate) fn over(&mut self, (a, b): Way, state: impl FnOnce() -> State) {
        if self.flows.is_empty() {
            return;
        }
        let way = if self.flows.contains_key(&(a, b)) { (a, b) } else { (b, a) };
        if let Some(said) = self.flows.get_mut(&way) {
            said.state = Some(state());
        }
    }

    /// Returns the connections to a destination about which somebody said something, the first first.
    pub(crate) fn to(&self, from: IpAddr, kind: (bool, u8, u8), to: SocketAddr) -> Vec<(Way, Said)> {
        let meant = |said: &Said| said.from == from && (said.six, said.kind, said.code) == kind;
        let mut found: Vec<(Way, Said)> = self
            .flows
            .iter()
            .filter(|(way, said)| way.1 == to && meant(said))
            .map(|(way, said)| (*way, *said))
            .collect();
        found.sort_by_key(|(_, said)| said.frame);
        found
    }
}
