//! Dissectors of protocols above TCP and UDP, as far as they are not encrypted.
//!
//! Input: the payload of segments and datagrams. Output: counts, latencies and failures per server. No body, path, query or key is
//! kept. Only the first kilobytes of a stream are reassembled; a stream of another protocol is ignored after its first bytes.

mod dhcp;
mod dissector;
mod http;
mod ntp;
mod occurrences;
mod quic;
mod reassembler;
mod stats;
mod text;
mod tls;
mod udp;

pub(super) use dhcp::DhcpStats;
pub(super) use dissector::Dissector;
pub(super) use http::{HttpServer, HttpStats};
pub(super) use ntp::{NtpServer, NtpStats};
pub(super) use occurrences::Occurrences;
pub(super) use quic::{QuicServer, QuicStats, version as quic_version};
pub(super) use stats::{PacketContext, ProtocolStats};
pub(super) use tls::{Alert, HandshakeEnding, TlsServer, TlsStats, alert_name, cipher_name, version_name};
pub(super) use udp::UdpStats;
pub use udp::UdpStreamFacts;
