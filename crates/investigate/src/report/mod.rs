//! What a session shows: the root cause, the audit, the timeline, the board, the list.
//!
//! Goes in: the state of a session, or its events where there is no state. Comes out: text. Never: a claim without its
//! observations; a step shown as done whose outcome nobody knows; text of the network that formats, links or calls anybody.
//!
//! # Invariants
//! - The same session gives the same bytes. Time comes in as a value.
//! - What nobody can see is spelled out as `\u{1b}`, and what was spelled differs from what was there.
//! - What came out of the network or a model stands in a code span, a fenced block or escaped prose, nowhere else.

mod amount;
mod answer;
mod asked;
mod audit;
mod board;
mod chart;
mod forecast;
mod looked;
pub mod markdown;
mod packets;
pub mod path;
pub mod postmortem;
mod rca;
mod request;
mod spell;
mod step_outcome;
mod summary;
#[cfg(test)]
pub(crate) mod tests;
mod timeline;
mod word;

pub use answer::{Answer, AnswerLine, answer, headline, hypothesis_subject};
use asked::machines;
pub use asked::{FollowUp, REMARK, Recorded, UNANSWERED, follow_up, without_ids};
pub use audit::audit;
pub use board::{Board, Budget, Check, Current, Mark};
pub use chart::{Chart, MeasurementChart, charts, measurement_charts};
pub use forecast::forecast;
pub use packets::{CaptureFile, capture_files};
pub use rca::{evidence, rca, steps};
pub use request::{AskedAction, MachineNames, asked_action};
pub use spell::plain;
pub use step_outcome::undone_by;
pub use summary::{Summary, reported};
pub use timeline::timeline;
pub use word::command_words;
