//! Compares two captures: of two times, or of the two endpoints of a path.
//!
//! Two times: `change` compares shares and latencies by the tests of `significance`, per `service` and `host`; `findings` matches the
//! findings; `change_summary` gives the verdict. Two endpoints: `capture` and `fingerprint` hold a fingerprint of each packet, `matching` finds
//! it in the other capture, `clock` and `path_order` estimate clocks and direction, `rewrite` matches packets that NAT or offload
//! changed, `overlap` is the time that both cover, `transit` counts losses, `conversation` and `verdict` judge each conversation,
//! `assess` and `words` the whole path.

mod assess;
mod capture;
mod change;
mod change_summary;
mod clock;
mod conversation;
mod directions;
mod findings;
mod fingerprint;
mod host;
mod matching;
mod overlap;
mod pair;
mod path;
mod path_order;
mod rewrite;
mod service;
mod significance;
mod transit;
mod verdict;
mod words;

pub use change::MetricChange;
pub use change_summary::{ChangeSummary, ChangeVerdict, HostFacts};
pub use clock::ClockSource;
pub use directions::{Direction, PacketCounts};
pub use findings::ComparedFinding;
pub use pair::{CaptureFacts, Comparison, compare};
pub use path::{
    ClockFacts, Confidence, ConversationFacts, OverlapFacts, PathFacts, PathVerdict, TransitFacts,
};
pub(super) use service::Services;
pub use significance::{Significance, Trend};
pub use verdict::ConversationVerdict;
