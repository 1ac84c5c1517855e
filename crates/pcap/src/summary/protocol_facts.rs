//! Facts of protocols above TCP and UDP; field names are part of the contract.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::Serialize;

use crate::flow::Percentiles;
use crate::protocol::UdpStreamFacts;

/// What TLS handshakes and alerts show.
#[derive(Debug, Clone, Serialize)]
pub struct TlsFacts {
    /// Handshakes that a client began.
    pub client_hellos: u64,
    /// Handshakes that a server answered.
    pub server_hellos: u64,
    /// Handshakes after which both ends spoke in secret.
    pub finished: u64,
    /// Hellos that nothing answered.
    pub unanswered: u64,
    /// Handshakes that ended after the server's hello without a word.
    pub aborted: u64,
    /// Plain alerts, those of an end in good order left out.
    pub alerts: u64,
    /// Versions that servers chose.
    pub versions: BTreeMap<String, u64>,
    /// Servers with the names that were asked for, those with most failures first.
    pub servers: Vec<TlsServerFacts>,
}

/// A server under one of its names.
#[derive(Debug, Clone, Serialize)]
pub struct TlsServerFacts {
    /// Its address.
    pub server: SocketAddr,
    /// The name that clients asked for, escaped.
    pub name: Option<String>,
    /// Hellos of clients.
    pub hellos: u64,
    /// Hellos of the server.
    pub answered: u64,
    /// Handshakes after which both ends spoke in secret.
    pub finished: u64,
    /// Hellos that nothing answered.
    pub unanswered: u64,
    /// Handshakes that ended after the server's hello without a word.
    pub aborted: u64,
    /// Versions that it chose.
    pub versions: BTreeMap<String, u64>,
    /// Ciphers that it chose.
    pub ciphers: BTreeMap<String, u64>,
    /// Protocols above it that clients prefer, escaped.
    pub protocols: Vec<String>,
    /// Alerts that could be read, by sender and code.
    pub alerts: Vec<AlertFacts>,
    /// Until when its certificate is good, where it was sent in the open.
    pub not_after: Option<String>,
    /// From a client's hello to the server's.
    pub hello_ms: Option<Percentiles>,
}

/// A TLS alert, who sent it and how often.
#[derive(Debug, Clone, Serialize)]
pub struct AlertFacts {
    /// Its name.
    pub description: &'static str,
    /// fatal or warning.
    pub level: &'static str,
    /// client or server.
    pub from: &'static str,
    /// How often.
    pub count: u64,
    /// Where first.
    pub first_frame: u64,
}

/// What HTTP/1 requests and answers show.
#[derive(Debug, Clone, Serialize)]
pub struct HttpFacts {
    /// Requests that were sent.
    pub requests: u64,
    /// Final answers.
    pub responses: u64,
    /// Requests after which the connection ended without an answer.
    pub unanswered: u64,
    /// Answers by the first digit of their code.
    pub classes: BTreeMap<String, u64>,
    /// Servers, those with most errors first.
    pub servers: Vec<HttpServerFacts>,
}

/// A server that was asked by HTTP/1.
#[derive(Debug, Clone, Serialize)]
pub struct HttpServerFacts {
    /// Its address.
    pub server: SocketAddr,
    /// Hosts that were asked for, escaped; not all where there are many.
    pub hosts: Vec<String>,
    /// Requests to it.
    pub requests: u64,
    /// Its final answers.
    pub responses: u64,
    /// Requests after which the connection ended without an answer.
    pub unanswered: u64,
    /// Requests by method.
    pub methods: BTreeMap<&'static str, u64>,
    /// Answers by code.
    pub codes: BTreeMap<String, u64>,
    /// From a request to the status line.
    pub latency_ms: Option<Percentiles>,
}

/// QUIC, as far as it is open: names are encrypted in it.
#[derive(Debug, Clone, Serialize)]
pub struct QuicFacts {
    /// Connections that were asked for.
    pub connections: u64,
    /// First packets of clients.
    pub initials: u64,
    /// Connections to which nothing came back.
    pub unanswered: u64,
    /// Connections that had to be asked for by another version.
    pub negotiations: u64,
    /// Connections by version.
    pub versions: BTreeMap<String, u64>,
    /// Servers, those with most failures first.
    pub servers: Vec<QuicServerFacts>,
}

/// A server to which QUIC connections were attempted.
#[derive(Debug, Clone, Serialize)]
pub struct QuicServerFacts {
    /// Its address.
    pub server: SocketAddr,
    /// Connections that were asked for.
    pub connections: u64,
    /// First packets of clients.
    pub initials: u64,
    /// Connections to which nothing came back.
    pub unanswered: u64,
    /// Connections by version.
    pub versions: BTreeMap<String, u64>,
}

/// DHCP of both versions.
#[derive(Debug, Clone, Serialize)]
pub struct DhcpFacts {
    /// Messages of version 4 by kind.
    pub messages: BTreeMap<&'static str, u64>,
    /// Messages of version 6 by kind.
    pub messages_v6: BTreeMap<&'static str, u64>,
    /// Searches for a server that nobody answered.
    pub unanswered: u64,
    /// The same of version 6.
    pub unanswered_v6: u64,
    /// Servers of version 4.
    pub servers: Vec<DhcpServerFacts>,
}

/// A server that offered addresses.
#[derive(Debug, Clone, Serialize)]
pub struct DhcpServerFacts {
    /// Its address, as it says itself.
    pub server: Ipv4Addr,
    /// Addresses that it offered.
    pub offers: u64,
    /// Addresses that it gave.
    pub acks: u64,
    /// Addresses that it refused.
    pub naks: u64,
    /// The first router that it names.
    pub router: Option<Ipv4Addr>,
    /// The first resolver that it names.
    pub resolver: Option<Ipv4Addr>,
}

/// What questions to time servers show.
#[derive(Debug, Clone, Serialize)]
pub struct NtpFacts {
    /// Questions.
    pub requests: u64,
    /// Answers.
    pub responses: u64,
    /// Questions that nothing answered.
    pub unanswered: u64,
    /// Servers, the worst first.
    pub servers: Vec<NtpServerFacts>,
}

/// A server of time.
#[derive(Debug, Clone, Serialize)]
pub struct NtpServerFacts {
    /// Its address.
    pub server: IpAddr,
    /// Questions to it.
    pub requests: u64,
    /// Its answers.
    pub responses: u64,
    /// Questions that it did not answer.
    pub unanswered: u64,
    /// How far it is from a reference clock, as it said last.
    pub stratum: Option<u8>,
    /// Answers that say that its clock is not set.
    pub unset: u64,
    /// Answers that tell clients to keep away, by their code.
    pub kisses: BTreeMap<&'static str, u64>,
    /// How long its answers took.
    pub latency_ms: Option<Percentiles>,
}

/// Datagrams.
#[derive(Debug, Clone, Serialize)]
pub struct UdpFacts {
    /// Conversations.
    pub streams: u64,
    /// Those in which one end spoke alone.
    #[serde(rename = "one_way")]
    pub unidirectional: u64,
    /// Those that were listed early for want of room, and begun anew when they went on.
    pub evicted: u64,
    /// Those in trouble, then the largest.
    pub flows: Vec<UdpStreamFacts>,
}
