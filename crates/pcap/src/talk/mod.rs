//! What ends say to each other above TCP and UDP, as far as it is said openly.
//!
//! Goes in: what segments and datagrams carry. Comes out: counts, times and failures by server. Never: a body, a path, a query, a
//! key. Of a connection only the beginning is put in order, a few kilobytes each way; what is no protocol of these is left alone
//! from its first bytes on.

mod dhcp;
mod ear;
mod http;
mod ntp;
mod order;
mod quic;
mod tally;
mod text;
mod times;
mod tls;
mod udp;

pub(super) use dhcp::Tally as Dhcp;
pub(super) use ear::Ear;
pub(super) use http::{Server as HttpServer, Tally as Http};
pub(super) use ntp::{Server as NtpServer, Tally as Ntp};
pub(super) use quic::{Server as QuicServer, Tally as Quic, version as quic_version};
pub(super) use tally::{At, Tally};
pub(super) use times::Times;
pub(super) use tls::{
    Alert, Ending as TlsEnding, Server as TlsServer, Tally as Tls, alert_name, cipher_name, version_name,
};
pub(super) use udp::Overview as Udp;
pub use udp::UdpTold;
