//! The summary as it is serialized; field names are part of the contract.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;

use super::dns::SuspiciousNameFacts;
use super::icmp::{EchoFacts, PathMtuFacts, RedirectFacts, TracerouteFacts};
use super::protocol_facts::{DhcpFacts, HttpFacts, NtpFacts, QuicFacts, TlsFacts, UdpFacts};
use crate::findings::Finding;
use crate::flow::{Percentiles, State, TcpStreamFacts, Vantage};
use crate::series::Series;

/// Everything that is said of a capture.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The version of this form.
    pub version: u32,
    /// What kind of file it is, and what was wrong with it.
    pub file: FileFacts,
    /// Frames with each label.
    pub counts: BTreeMap<&'static str, u64>,
    /// Frames with the label that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<BTreeMap<&'static str, Vec<u64>>>,
    /// Connections.
    pub tcp: TcpFacts,
    /// Names.
    pub dns: DnsFacts,
    /// Complaints of routers and hosts.
    pub icmp: IcmpFacts,
    /// Addresses on the link.
    pub arp: ArpFacts,
    /// The same of neighbor discovery, where there was any: solicitations and advertisements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ndp: Option<ArpFacts>,
    /// Handshakes and alerts of TLS.
    pub tls: TlsFacts,
    /// Requests and answers of HTTP/1.
    pub http: HttpFacts,
    /// Connection attempts of QUIC.
    pub quic: QuicFacts,
    /// Clients and servers of DHCP.
    pub dhcp: DhcpFacts,
    /// Time servers and their answers.
    pub ntp: NtpFacts,
    /// Datagrams.
    pub udp: UdpFacts,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// What could not be read, or was left out.
    pub warnings: Vec<String>,
    /// What pictures are drawn from, where they were wanted.
    #[serde(skip)]
    pub series: Option<Box<Series>>,
}

/// What kind of file was read, and what was wrong with it.
#[derive(Debug, Clone, Serialize)]
pub struct FileFacts {
    /// pcap, pcap-ns or pcapng.
    pub format: &'static str,
    /// The link types of its interfaces.
    pub linktypes: Vec<u16>,
    /// Packet records.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// The earliest time, RFC 3339.
    pub first: Option<String>,
    /// The latest.
    pub last: Option<String>,
    /// The time between both.
    pub duration_s: f64,
    /// Packets of which less was captured than was there.
    pub truncated_packets: u64,
    /// The digest of the file as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The file ends too early, or is damaged from some place on.
    pub cut_off: bool,
    /// Bytes of damaged records that were passed over.
    pub skipped_bytes: u64,
    /// Packets that the capturing side says it dropped.
    pub dropped: u64,
}

/// Connections.
#[derive(Debug, Clone, Serialize)]
pub struct TcpFacts {
    /// How many.
    pub streams: u64,
    /// How far they came.
    pub states: BTreeMap<State, u64>,
    /// Of all packets that carried something, how many were sent again.
    pub retransmission_pct: f64,
    /// From SYN to the first acknowledgment, over all connections.
    pub handshake_ms: Option<Percentiles>,
    /// How long acknowledgments took, each since the oldest segment that ends there, repeated or not: as tshark says.
    pub ack_rtt_ms: Option<Percentiles>,
    /// What this capture point saw, and what it missed.
    pub vantage: Vantage,
    /// Connections that were listed early for want of room, and begun anew when they went on.
    pub evicted: u64,
    /// The worst ones, then the largest.
    pub flows: Vec<TcpStreamFacts>,
}

/// Names.
#[derive(Debug, Clone, Serialize)]
pub struct DnsFacts {
    /// Frames with a question.
    pub queries: u64,
    /// Frames with an answer.
    pub responses: u64,
    /// Questions without an answer.
    pub unanswered: u64,
    /// Questions that were asked again before an answer.
    pub retries: u64,
    /// Answers that did not fit.
    pub truncated: u64,
    /// Questions whose answer did not fit, and that were asked again by TCP or answered whole later.
    pub truncated_asked_by_tcp: u64,
    /// Answers that a name does not exist, where a search list found the host in the end.
    pub search_list: u64,
    /// How answers came out.
    pub rcodes: BTreeMap<&'static str, u64>,
    /// What was asked for.
    pub types: BTreeMap<String, u64>,
    /// How long they took.
    pub latency_ms: Option<Percentiles>,
    /// Servers, the busiest first.
    pub servers: Vec<DnsServerFacts>,
    /// Names that look made up and do not exist, and domains below which something travels in names.
    pub suspicious: Vec<SuspiciousNameFacts>,
}

/// A server of names.
#[derive(Debug, Clone, Serialize)]
pub struct DnsServerFacts {
    /// Its address.
    pub server: IpAddr,
    /// Questions to it.
    pub queries: u64,
    /// Questions that it did not answer.
    pub unanswered: u64,
    /// Questions that were asked again before an answer.
    pub retries: u64,
    /// Answers after 200 ms or more.
    pub slow: u64,
    /// How long its answers took.
    pub latency_ms: Option<Percentiles>,
}

/// Complaints.
#[derive(Debug, Clone, Serialize)]
pub struct IcmpFacts {
    /// Outermost `ICMPv4` headers by `type/code`.
    pub types: BTreeMap<String, u64>,
    /// Outermost `ICMPv6` headers.
    pub types_v6: BTreeMap<String, u64>,
    /// What cannot be reached, according to whom.
    pub unreachable: Vec<UnreachableFacts>,
    /// Pings, by target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub echo: Vec<EchoFacts>,
    /// How large packets may be, by source and destination.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path_mtu: Vec<PathMtuFacts>,
    /// Routers that name another one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<RedirectFacts>,
    /// Packets that ran out of hops, by source and destination.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TracerouteFacts>,
}

/// A complaint.
#[derive(Debug, Clone, Serialize)]
pub struct UnreachableFacts {
    /// The type.
    #[serde(rename = "type")]
    pub kind: u8,
    /// The ICMP code, which refines the type.
    pub code: u8,
    /// What type and code mean.
    pub meaning: &'static str,
    /// Who says so.
    pub from: IpAddr,
    /// The destination that cannot be reached, with its port where one was quoted.
    pub about: String,
    /// How often.
    pub count: u64,
    /// Where first.
    pub first_frame: u64,
    /// The MTU of the next hop, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
}

/// Addresses on the link.
#[derive(Debug, Clone, Serialize)]
pub struct ArpFacts {
    /// Operation 1.
    pub requests: u64,
    /// Operation 2.
    pub replies: u64,
    /// Requests without a later answer; announcements and probes are none.
    pub unanswered: u64,
    /// Announcements.
    pub gratuitous: u64,
    /// Questions whether an address is free.
    pub probes: u64,
    /// Answers that nobody asked for.
    pub unasked: u64,
    /// Answers more than a second after the last question.
    pub late: u64,
    /// Addresses that more than one claims.
    pub conflicts: Vec<ConflictFacts>,
}

/// An address that more than one claims.
#[derive(Debug, Clone, Serialize)]
pub struct ConflictFacts {
    /// The address.
    pub ip: IpAddr,
    /// Who claims it.
    pub macs: Vec<String>,
    /// The first frame of each.
    pub frames: Vec<u64>,
    /// How often the claimant changed.
    pub flips: u64,
}
