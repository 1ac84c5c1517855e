//! Servers, and how they answered.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::hash::Map;
use crate::histogram::Histogram;
use crate::protocol::occurrences::Occurrences;
use crate::protocol::text::escaped;

const MAX_SERVERS: usize = 1024;
const MAX_HOSTS: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct HttpServer {
    /// Its address.
    pub(crate) server: SocketAddr,
    /// Requests to it.
    pub(crate) requests: u64,
    /// Answers that are final.
    pub(crate) responses: u64,
    /// Requests after which it said nothing more, though the connection ended.
    pub(crate) unanswered: Occurrences,
    /// Requests by method.
    pub(crate) methods: BTreeMap<&'static str, u64>,
    /// Hosts that were asked for, escaped; not all where there are many.
    pub(crate) hosts: Vec<String>,
    /// Answers by code.
    pub(crate) codes: BTreeMap<u16, u64>,
    /// The first answers that begin with 4, and with 5.
    pub(crate) bad: [Occurrences; 2],
    /// From a request to the line that answers it.
    pub(crate) latency: Histogram,
}

impl HttpServer {
    /// Notes a request.
    pub(super) fn asked(&mut self, method: &'static str, host: Option<&[u8]>) {
        self.requests += 1;
        *self.methods.entry(method).or_default() += 1;
        if let Some(host) = host.filter(|_| self.hosts.len() < MAX_HOSTS) {
            let host = escaped(host);
            if !self.hosts.contains(&host) {
                self.hosts.push(host);
            }
        }
    }

    /// Notes an answer.
    pub(super) fn answered(&mut self, code: u16, frame: u64) {
        self.responses += u64::from(code >= 200);
        *self.codes.entry(code).or_default() += 1;
        let [fourth, fifth] = &mut self.bad;
        let frames = match code {
            400..500 => fourth,
            500.. => fifth,
            _ => return,
        };
        frames.add(frame);
    }

    /// Notes requests that came to nothing.
    pub(super) fn dropped(&mut self, count: u64, frame: u64) {
        self.unanswered.more(count, frame);
    }

    /// Returns how many answers begin with a digit.
    pub(crate) fn class(&self, first: u16) -> u64 {
        self.codes.range(first * 100..(first + 1) * 100).map(|(_, count)| *count).sum()
    }
}

/// All of HTTP/1.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpStats {
    /// Servers, in the order in which they were met.
    pub(crate) servers: Vec<HttpServer>,
    /// Connections to servers that there was no room for.
    pub(crate) left_out: u64,
    places: Map<SocketAddr, usize>,
}

impl HttpStats {
    /// Returns where a server is kept; nothing where there is no more room.
    pub(super) fn place(&mut self, server: SocketAddr) -> Option<usize> {
        if let Some(place) = self.places.get(&server) {
            return Some(*place);
        }
        if self.servers.len() >= MAX_SERVERS {
            self.left_out += 1;
            return None;
        }
        let place = self.servers.len();
        self.servers.push(HttpServer {
            server,
            requests: 0,
            responses: 0,
            unanswered: Occurrences::default(),
            methods: BTreeMap::new(),
            hosts: Vec::new(),
            codes: BTreeMap::new(),
            bad: [Occurrences::default(), Occurrences::default()],
            latency: Histogram::default(),
        });
        self.places.insert(server, place);
        Some(place)
    }
}
