//! What happened on a network, from a capture of any size in one pass and bounded memory.
//!
//! Goes in: the bytes of a capture (classic pcap, pcapng, either packed with gzip), or frames one by one. Comes out: an account with
//! counts, connections, names, complaints, findings. Never: a process, a network, a clock, a payload in an answer.
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
//! - Headers quoted in ICMP errors tell of packets; they are none, and no analysis takes them for some.
//! - What is remembered has a limit: connections, fragments, questions, names. Beyond it the account says what was left out.
//! - A capture that is cut or damaged is read up to there, and the account says so.
//!
//! The way of a frame: `read` (records) → `layers` (headers, nothing remembered but fragments) → `analyze`, which tells `tcp` (the
//! sequence analysis), `dns`, `icmp`, `arp`, `talk` (protocols above TCP and UDP) → `flow` (connections that are over)
//! → `findings`, `summary`, `report`.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod analyze;
mod arp;
mod circle;
mod compare;
mod count;
mod dns;
mod error;
mod figure;
mod findings;
mod flow;
mod focus;
mod hash;
mod icmp;
mod label;
mod layers;
#[cfg(feature = "plot")]
mod plot;
mod read;
mod report;
mod series;
mod storm;
mod summary;
mod talk;
mod tcp;
mod watch;

pub use analyze::{Analyzer, Scope};
pub use compare::{
    Change, ClockFacts, Confidence, Course, Development, Direction, FlowFacts, HostFacts, How, Noted,
    Overall, Packets, Pair, Path, Side, Trend, TripFacts, Verdict, Weight, WindowFacts, compare,
};
pub use error::Error;
pub use findings::{Evidence, Finding, Rule, Severity, rules};
pub use flow::{
    AckFigures, Cut, Figures, Lost, Repeated, Shares, Shut, State, Stuck, Told, Trouble, Vantage, WayFacts,
};
pub use focus::{Focus, FocusError};
pub use label::{Label, Labels, UnknownLabel};
#[cfg(feature = "plot")]
pub use plot::{PICTURES, Picture, PlotError, pictures};
#[cfg(feature = "plot")]
pub use plot::{Panel, samples};
#[cfg(feature = "plot")]
pub use plot::{Rung, Tone, ladder};
pub use read::{Digested, Ending, Format, Frame, Reader, frames};
pub use report::{markdown, markdown_of_pair};
pub use series::{Column, Event, Series, Timeline, Trace, Trips};
pub use summary::{
    AlertFacts, ArpFacts, ComplaintFacts, ConflictFacts, DhcpFacts, DhcpServerFacts, DnsFacts, EchoFacts,
    FileFacts, HttpFacts, HttpServerFacts, IcmpFacts, NtpFacts, NtpServerFacts, PathMtuFacts, QuicFacts,
    QuicServerFacts, RedirectFacts, ServerFacts, Summary, SuspiciousFacts, TcpFacts, TlsFacts,
    TlsServerFacts, TraceFacts, UdpFacts, UnreachableFacts,
};
pub use talk::UdpTold;
pub use tcp::MOST_FLOWS;
pub use watch::{News, Turn, Watch};
