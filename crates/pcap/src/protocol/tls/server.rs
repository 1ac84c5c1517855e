//! Servers with the names that are asked for, and how handshakes with them came out.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::record::Alert;
use crate::hash::Map;
use crate::histogram::Histogram;
use crate::protocol::occurrences::Occurrences;

/// How many servers and names are distinguished.
const MAX_SERVERS: usize = 2048;
/// How many protocols and alerts of one are.
const MAX_PROTOCOLS: usize = 8;

/// How a handshake ended that came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HandshakeEnding {
    /// The client closed.
    ClientClosed,
    /// The client reset.
    ClientReset,
    /// The server closed.
    ServerClosed,
    /// The server reset.
    ServerReset,
    /// Nobody said anything more.
    Silence,
}

impl HandshakeEnding {
    /// Returns it in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::ClientClosed => "the client closed",
            Self::ClientReset => "the client reset",
            Self::ServerClosed => "the server closed",
            Self::ServerReset => "the server reset",
            Self::Silence => "nobody said more",
        }
    }
}

/// A server under one of its names.
#[derive(Debug, Clone)]
pub(crate) struct TlsServer {
    /// Its address.
    pub(crate) server: SocketAddr,
    /// The name that clients asked for, escaped.
    pub(crate) name: Option<String>,
    /// Hellos of clients.
    pub(crate) hellos: u64,
    /// Hellos of the server.
    pub(crate) answered: u64,
    /// Handshakes after which both spoke in secret.
    pub(crate) finished: u64,
    /// Hellos that nothing answered.
    pub(crate) unanswered: Occurrences,
    /// How those ended.
    pub(crate) silences: BTreeMap<HandshakeEnding, u64>,
    /// Handshakes that ended before they were finished, without a word.
    pub(crate) aborted: Occurrences,
    /// How those ended.
    pub(crate) ends: BTreeMap<HandshakeEnding, u64>,
    /// Secret records as short as an alert alone is, where the client should have finished.
    pub(crate) hidden: Occurrences,
    /// Hellos that were answered by something else than TLS.
    pub(crate) foreign: Occurrences,
    pub(crate) alerts: BTreeMap<Alert, Occurrences>,
    /// Versions that the server chose.
    pub(crate) versions: BTreeMap<u16, Occurrences>,
    /// Ciphers that it chose.
    pub(crate) ciphers: BTreeMap<u16, u64>,
    /// Protocols that clients prefer above it, escaped.
    pub(crate) protocols: Vec<String>,
    /// Until when its certificate is good, in seconds since 1970.
    pub(crate) not_after: Option<i64>,
    /// Certificates that were no longer good when they were sent.
    pub(crate) expired: Occurrences,
    /// From a hello to its answer.
    pub(crate) latency: Histogram,
}

impl TlsServer {
    fn new(server: SocketAddr, name: Option<String>) -> Self {
        Self {
            server,
            name,
            hellos: 0,
            answered: 0,
            finished: 0,
            unanswered: Occurrences::default(),
            silences: BTreeMap::new(),
            aborted: Occurrences::default(),
            ends: BTreeMap::new(),
            hidden: Occurrences::default(),
            foreign: Occurrences::default(),
            alerts: BTreeMap::new(),
            versions: BTreeMap::new(),
            ciphers: BTreeMap::new(),
            protocols: Vec::new(),
            not_after: None,
            expired: Occurrences::default(),
            latency: Histogram::default(),
        }
    }

    /// Notes what a client prefers.
    pub(super) fn prefers(&mut self, protocol: &[u8]) {
        let protocol = crate::protocol::text::escaped(protocol);
        if self.protocols.len() < MAX_PROTOCOLS && !self.protocols.contains(&protocol) {
            self.protocols.push(protocol);
        }
    }

    /// Notes an alert.
    pub(super) fn alerted(&mut self, alert: Alert, frame: u64) {
        if self.alerts.len() < MAX_PROTOCOLS || self.alerts.contains_key(&alert) {
            self.alerts.entry(alert).or_default().add(frame);
        }
    }

    /// Returns how many handshakes failed for any reason.
    pub(crate) fn failed(&self) -> u64 {
        let alerts: u64 =
            self.alerts.iter().filter(|(alert, _)| alert.trouble()).map(|(_, times)| times.count).sum();
        alerts + self.unanswered.count + self.aborted.count + self.hidden.count + self.foreign.count
    }
}

/// All of TLS.
#[derive(Debug, Clone, Default)]
pub(crate) struct TlsStats {
    /// Servers, in the order in which they were met.
    pub(crate) servers: Vec<TlsServer>,
    /// Handshakes with servers that there was no room for.
    pub(crate) left_out: u64,
    places: Map<(SocketAddr, Option<String>), usize>,
}

impl TlsStats {
    /// Returns where a server is kept; nothing where there is no more room.
    pub(super) fn place(&mut self, server: SocketAddr, name: Option<String>) -> Option<usize> {
        let key = (server, name);
        if let Some(place) = self.places.get(&key) {
            return Some(*place);
        }
        if self.servers.len() >= MAX_SERVERS {
            self.left_out += 1;
            return None;
        }
        let place = self.servers.len();
        self.servers.push(TlsServer::new(server, key.1.clone()));
        self.places.insert(key, place);
        Some(place)
    }
}
