//! The summary of a capture: its types, and how they are filled.

mod dns;
mod facts;
mod fit;
mod icmp;
mod protocol_facts;
mod protocols;
mod write;

pub use dns::SuspiciousNameFacts;
pub use facts::{
    ArpFacts, ConflictFacts, DnsFacts, DnsServerFacts, FileFacts, IcmpFacts, Summary, TcpFacts,
    UnreachableFacts,
};
pub use icmp::{EchoFacts, IcmpErrorFacts, PathMtuFacts, RedirectFacts, TracerouteFacts};
pub use protocol_facts::{
    AlertFacts, DhcpFacts, DhcpServerFacts, HttpFacts, HttpServerFacts, NtpFacts, NtpServerFacts, QuicFacts,
    QuicServerFacts, TlsFacts, TlsServerFacts, UdpFacts,
};
pub(super) use write::{mac, write};
