//! Two captures: of two times, or of the two ends of a way.
//!
//! Of two times: `change` compares shares and times by the tests in `noise`, service by service (`service`, `host`), `known` the findings,
//! `course` says what came of it. Of two ends: `print` and `seen` remember each packet in brief, `join` finds it at the other place, `clock`
//! and `toward` tell the clocks and the direction, `alter` joins what was rewritten on the way, `window` says when both places captured,
//! `trip` what was lost, `verdict` what became of a conversation, `assess` and `words` what became of all.

mod alter;
mod assess;
mod change;
mod clock;
mod course;
mod directions;
mod ends;
mod host;
mod join;
mod known;
mod noise;
mod pair;
mod path;
mod print;
mod seen;
mod service;
mod toward;
mod trip;
mod verdict;
mod window;
mod words;

pub use change::Change;
pub use clock::How;
pub use course::{Course, Development, HostFacts};
pub use directions::{Direction, Packets};
pub use known::Noted;
pub use noise::{Trend, Weight};
pub use pair::{Pair, Side, compare};
pub use path::{ClockFacts, Confidence, FlowFacts, Overall, Path, TripFacts, WindowFacts};
pub(super) use service::Services;
pub use verdict::Verdict;
