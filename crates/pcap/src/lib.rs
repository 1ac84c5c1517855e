//! Analyzes a packet capture of any size in one pass and bounded memory.
//!
//! Input: the bytes of a capture (classic pcap or pcapng, either compressed with gzip), or single frames. Output: a [`Summary`] with
//! counts, TCP streams, DNS, ICMP errors and findings. The crate starts no process, opens no socket, reads no clock, and never puts
//! payload into a result.
//!
//! ```
//! use ghost_pcap::{Analyzer, Scope, frames};
//!
//! // A classic header with Ethernet as its link type, and no packet.
//! let capture = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
//! let mut analyzer = Analyzer::new(Scope::default());
//! let ending = frames(&capture[..], |frame| {
//!     analyzer.feed(frame);
//! })?;
//! assert_eq!(analyzer.finish(&ending).file.packets, 0);
//! # Ok::<(), ghost_pcap::Error>(())
//! ```
//!
//! # Invariants
//!
//! - Every count equals the number of frames that tshark 4.0 marks with the flag of that name.
//! - A header quoted in an ICMP error is evidence about a packet; it is never analyzed as a packet.
//! - All state is limited: streams, fragments, queries, names. The summary's warnings say what was left out beyond a limit.
//! - A truncated or damaged capture is read as far as possible, and the summary says so.
//!
//! A frame passes `read` (records), `layers` (headers; only fragments are remembered) and `analyze`, which gives it to `tcp` (sequence
//! analysis), `dns`, `icmp`, `arp` and `protocol` (protocols above TCP and UDP). Finished streams go to `flow`; `findings`, `summary`
//! and `report` present the result.
#![warn(missing_docs)]
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod address_filter;
mod analyze;
mod arp;
mod compare;
mod count;
mod dns;
mod error;
mod finding_tracker;
mod findings;
mod flow;
mod hash;
mod histogram;
mod icmp;
mod label;
mod layers;
#[cfg(feature = "plot")]
mod plot;
mod protocol;
mod read;
mod report;
mod routing_loop;
mod series;
mod storm;
mod summary;
mod tcp;

pub use address_filter::{AddressFilter, AddressFilterError};
pub use analyze::{Analyzer, Scope};
pub use compare::{
    CaptureFacts, ChangeSummary, ChangeVerdict, ClockFacts, ClockSource, ComparedFinding, Comparison,
    Confidence, ConversationFacts, ConversationVerdict, Direction, HostFacts, MetricChange, OverlapFacts,
    PacketCounts, PathFacts, PathVerdict, Significance, TransitFacts, Trend, compare,
};
pub use error::Error;
pub use finding_tracker::{FindingState, FindingTracker, FindingUpdate};
pub use findings::{Evidence, Finding, Rule, Severity, rules};
pub use flow::{
    AckTimes, DirectionFacts, ExpertInfo, LimitShares, LossFacts, MtuBlackHole, Percentiles, RepeatedSegment,
    ResetFacts, State, TcpStreamFacts, Vantage, ZeroWindowFacts,
};
#[cfg(feature = "plot")]
pub use ghost_plot::PlotError;
pub use label::{Label, Labels, UnknownLabel};
#[cfg(feature = "plot")]
pub use plot::{PICTURES, Picture, pictures};
pub use protocol::UdpStreamFacts;
pub use read::{Format, Frame, HashingReader, ReadSummary, Reader, frames};
pub use report::{comparison_markdown, markdown};
pub use series::{PacketTrace, RttHistogram, Series, Timeline, TimelineColumn, TracePacket};
pub use summary::{
    AlertFacts, ArpFacts, ConflictFacts, DhcpFacts, DhcpServerFacts, DnsFacts, DnsServerFacts, EchoFacts,
    FileFacts, HttpFacts, HttpServerFacts, IcmpErrorFacts, IcmpFacts, NtpFacts, NtpServerFacts, PathMtuFacts,
    QuicFacts, QuicServerFacts, RedirectFacts, Summary, SuspiciousNameFacts, TcpFacts, TlsFacts,
    TlsServerFacts, TracerouteFacts, UdpFacts, UnreachableFacts,
};
pub use tcp::MAX_TCP_STREAMS;
