//! What happened, as typed events in a chain of lines.
//!
//! Goes in: events, or lines that were written before. Comes out: lines, or events with their place in the chain. Never: a
//! line that reads as something else than what was written; a ledger of a later version driven as if it were understood.
//!
//! # The line
//! `{"format":1,"session":…,"seq":1,"at":…,"kind":…,"prev":…,"digest":…,"hash":…,"body":{…}}`. `digest` is the SHA-256 of the
//! body's own bytes; `hash` that of session, number, time, kind, `prev` and `digest`, each preceded by its length (64 bits,
//! little endian); `prev` is the `hash` before, and in the first line the SHA-256 of the session's name. A line whose body
//! was erased holds `"body":null`: the chain still verifies, and a body kept elsewhere can still be compared with `digest`.

mod id;
mod kind;
mod line;
#[cfg(test)]
mod tests;
mod text;

pub use id::{ObservationId, ObservationIdError, StepId};
pub use kind::{
    AnswerFailed, Answered, ApprovalDecided, ApprovalExpired, ApprovalRequested, ApprovalVoted, Asked,
    BudgetSpent, Citation, Classified, Concluded, Delivered, Discarded, Done, Event, Executing, Finding,
    FindingAccepted, FindingRejected, HypothesisSet, Impact, Intent, Note, Noted, Observed, Opened, Origin,
    Proposed, Quote, Refusal, Reply, Resumed, Returned, Said, Source, Unknown, Wish,
};
pub use line::{Chain, Content, FORMAT, LedgerError, Recorded, erase, read};
