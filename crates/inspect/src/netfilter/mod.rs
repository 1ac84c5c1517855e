//! A guest's packet filter: rulesets read without loss, packets walked through them, differences judged by what they do to traffic.
//!
//! Goes in: what `iptables-save`, `ip6tables-save` or `nft -j list ruleset` printed, and the description of a packet. Comes out:
//! rules with every option, a verdict with its reason and its trace, a list of changes. Never: a clock, a file, a process, a
//! network; never a clean answer where something was not understood that could matter.
//!
//! ```
//! use ghost_inspect::netfilter::{Packet, Verdict, read, walk};
//!
//! let rules = read("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 5001 -j DROP\nCOMMIT\n")?;
//! let packet = Packet::parse("input", "tcp", "10.0.0.2", "10.0.0.1")?.dport(5001);
//! assert_eq!(walk(&rules, &packet)?.verdict, Verdict::Drop);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod diff;
mod explain;
mod gap;
mod host;
mod ipset;
mod json;
mod layout;
mod logic;
mod nft;
mod ruleset;
mod save;
#[cfg(test)]
mod tests;
mod text;
mod walk;

pub use diff::{Change, Diff, DiffError, Kind, Severity, Status, diff};
pub use explain::{
    Changed, CompareError, Comparison, Dead, Differences, Explained, Explanation, HookOutcomes, Jail, Logger,
    OutcomeChange, Redirection, TrafficOutcome, compare, explain, explain_change,
};
pub use host::{
    About, Backend, BackendAnswer, Bundle, BundleError, Document, Framework, Host, HostAnswer, HostChange,
    HostDiff, SNAPSHOT_FORMAT, SOURCES, Snapshot, SnapshotError, Source, diff_hosts, open, walk_host,
};
pub use ipset::{IpSet, Member, read_sets};
pub use json::{Object as JsonObject, Value as Json};
pub use layout::{Layout, recognize};
pub use ruleset::{
    Base, Body, Chain, Family, Format, MAX_TEXT_BYTES, Object, Part, ReadError, Rule, Ruleset, Set, Table,
    Unread, Warning, print, read,
};
pub use text::Text;
pub use walk::{
    Answer, Carried, Compiled, Decided, Hook, Packet, PacketError, State, TracedRule, Verdict, walk,
};
