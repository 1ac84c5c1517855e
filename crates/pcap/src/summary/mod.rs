//! The account of a capture: types of the contract, and how they are filled.

mod fit;
mod kind;
mod link;
mod names;
mod path;
mod talk;
mod talk_kind;
mod warn;
mod write;

pub use kind::{
    ArpFacts, ConflictFacts, DnsFacts, FileFacts, IcmpFacts, ServerFacts, Summary, TcpFacts, UnreachableFacts,
};
pub(super) use link::mac;
pub use names::SuspiciousFacts;
pub use path::{ComplaintFacts, EchoFacts, PathMtuFacts, RedirectFacts, TraceFacts};
pub use talk_kind::{
    AlertFacts, DhcpFacts, DhcpServerFacts, HttpFacts, HttpServerFacts, NtpFacts, NtpServerFacts, QuicFacts,
    QuicServerFacts, TlsFacts, TlsServerFacts, UdpFacts,
};
pub(super) use write::write;
