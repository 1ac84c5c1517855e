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

mod alert;
mod approval;
mod command;
mod evidence;
mod kind;
mod line;
mod outside;
mod session;
#[cfg(test)]
mod tests;
mod text;
mod turn;

pub use alert::{Alert, AlertStatus, Alerted};
pub use approval::{
    ApprovalDecided, ApprovalExpired, ApprovalRequested, ApprovalVoted, ChangeForecast, ForecastChecked,
    ForecastVerdict, PlanJudgement, Reply,
};
pub use command::{Classified, DeclaredScript, Done, Executing, Intent, Proposed, Unknown};
pub use evidence::{
    Citation, EvidenceSource, Finding, FindingAccepted, FindingRejected, ObservationId, ObservationIdError,
    Observed, StepId,
};
pub use ghost_shell::Impact;
pub use kind::Event;
pub use line::{Chain, Content, FORMAT, LedgerError, Recorded, erase, read};
pub use outside::{Attended, Outside, OutsideKind, OutsideRequest, TakeRequested, Taken};
pub use session::{
    BudgetSpent, ComplaintOutcome, Concluded, Delivered, Discarded, Gathered, HumanMessage, HypothesisSet,
    Instruction, Note, Noted, Now, Opened, Origin, Passage, PassagePlace, Quote, RECHECK_PROVIDER, Rechecked,
    Reopened, Replaced, Resumed, Reworded, SessionCluster, SessionHost, Unread, Waived,
};
pub use turn::{AnswerFailed, ModelAnswered, ModelAsked, Refusal, Returned};
