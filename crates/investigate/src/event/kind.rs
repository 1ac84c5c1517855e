//! What can happen in a session. A variant is added, never changed: older ledgers hold the old ones.

use serde::{Deserialize, Serialize};

use crate::event::{
    Alerted, AnswerFailed, ApprovalDecided, ApprovalExpired, ApprovalRequested, ApprovalVoted, Attended,
    BudgetSpent, Classified, Concluded, Delivered, Discarded, Done, Executing, FindingAccepted,
    FindingRejected, ForecastChecked, HumanMessage, HypothesisSet, Intent, ModelAnswered, ModelAsked, Noted,
    Observed, Opened, Proposed, Reopened, Resumed, Returned, Reworded, TakeRequested, Taken, Unknown,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a session has one event of the largest kind")]
pub enum Event {
    /// The session began.
    Opened(Opened),
    /// A hypothesis was put on the board, or changed its state.
    HypothesisSet(HypothesisSet),
    /// A model was asked.
    #[serde(rename = "asked")]
    ModelAsked(ModelAsked),
    #[serde(rename = "answered")]
    ModelAnswered(ModelAnswered),
    /// It did not.
    AnswerFailed(AnswerFailed),
    /// A tool wants to run a command.
    Proposed(Proposed),
    /// The command was judged; again after a modification.
    Classified(Classified),
    /// A human is asked.
    ApprovalRequested(ApprovalRequested),
    /// Somebody voted.
    ApprovalVoted(ApprovalVoted),
    /// The votes are a decision.
    ApprovalDecided(ApprovalDecided),
    /// Nobody answered in time.
    ApprovalExpired(ApprovalExpired),
    /// The command is about to run, with the consent that it needs.
    Intent(Intent),
    /// From here on it may have had an effect.
    Executing(Executing),
    /// It ended, or was refused.
    Done(Done),
    /// Its owner went away while it ran: nobody knows whether it had an effect.
    Unknown(Unknown),
    /// Evidence was stored.
    Observed(Observed),
    /// A call got its result.
    Returned(Returned),
    /// A claim holds against the evidence.
    FindingAccepted(FindingAccepted),
    /// A claim does not hold.
    FindingRejected(FindingRejected),
    /// A human wrote something.
    #[serde(rename = "said")]
    HumanMessage(HumanMessage),
    /// The code added a note for the model that nobody wrote.
    Noted(Noted),
    /// Something arrived that says nothing.
    Discarded(Discarded),
    BudgetSpent(BudgetSpent),
    /// Somebody took it up again after a pause.
    Resumed(Resumed),
    /// The investigation is over.
    Concluded(Concluded),
    /// The report, the board or a card reached somebody.
    Delivered(Delivered),
    /// Somebody wants it to continue after its report.
    Reopened(Reopened),
    /// The words of the complaint were replaced.
    Reworded(Reworded),
    /// An agent that runs elsewhere wants to use its consent up.
    TakeRequested(TakeRequested),
    /// It has it, and nobody else gets it.
    Taken(Taken),
    /// Somebody began or ceased to wait for the answer.
    Attended(Attended),
    /// The sender of the alert that opened it said more.
    Alerted(Alerted),
    /// The flows were looked at again after a change that had a forecast.
    ForecastChecked(ForecastChecked),
}

impl Event {
    /// The words for the kinds, as they are written. A test holds that each variant is among them.
    pub const KINDS: [&str; 33] = [
        "opened",
        "hypothesis_set",
        "asked",
        "answered",
        "answer_failed",
        "proposed",
        "classified",
        "approval_requested",
        "approval_voted",
        "approval_decided",
        "approval_expired",
        "intent",
        "executing",
        "done",
        "unknown",
        "observed",
        "returned",
        "finding_accepted",
        "finding_rejected",
        "said",
        "noted",
        "discarded",
        "budget_spent",
        "resumed",
        "concluded",
        "delivered",
        "reopened",
        "take_requested",
        "taken",
        "attended",
        "alerted",
        "forecast_checked",
        "reworded",
    ];
}
