//! What can happen in a session. A variant is added, never changed: older ledgers hold the old ones.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::event::{ObservationId, StepId, text};
use crate::agent::model::{Brain, Call, Carry, Stop, Usage};
use crate::agent::{Confidence, HypothesisState, Limits, Outcome};
use crate::base::{Digest, Timestamp};

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum Event {
    /// The session began.
    Opened(Opened),
    /// A hypothesis was put on the board, or changed its state.
    HypothesisSet(HypothesisSet),
    /// A model was asked.
    Asked(Asked),
    /// It answered.
    Answered(Answered),
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
    /// Evidence was kept.
    Observed(Observed),
    /// A call got its result.
    Returned(Returned),
    /// A claim holds against the evidence.
    FindingAccepted(FindingAccepted),
    /// A claim does not hold.
    FindingRejected(FindingRejected),
    /// A human said something.
    Said(Said),
    /// The code told the model something that nobody said.
    Noted(Noted),
    /// Something arrived that says nothing.
    Discarded(Discarded),
    /// A budget is spent.
    BudgetSpent(BudgetSpent),
    /// Somebody took it up again after a pause.
    Resumed(Resumed),
    /// The investigation is over.
    Concluded(Concluded),
    /// The report reached somebody.
    Delivered(Delivered),
}

impl Event {
    /// The words for the kinds, as they are written. A test holds that each variant is among them.
    pub const KINDS: [&str; 26] = [
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
    ];
}

/// See [`Event::Opened`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// What is wrong, in the words of whoever asks.
    pub symptom: String,
    /// Who asks.
    pub requester: String,
    /// Where: `terminal`, or a channel and a thread.
    pub origin: Origin,
    /// What was said before, as quotes; data and no orders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
    /// Marks quoted text; nobody outside can guess it.
    pub nonce: String,
    /// Who thinks.
    pub brain: Brain,
    /// What may be spent.
    pub limits: Limits,
    /// The version of the program.
    pub version: String,
}

/// Where a session takes place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// `terminal` or the name of a messenger.
    pub place: String,
    /// The channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// What somebody said before the session began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Who.
    pub who: String,
    /// What.
    pub text: String,
}

/// See [`Event::HypothesisSet`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HypothesisSet {
    /// Its name, such as `H1`.
    pub id: String,
    /// What is supposed; absent where only the state changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What is held of it now.
    pub state: HypothesisState,
    /// Who set it: `model` or `code`.
    pub by: String,
    /// Why, where it is not the model's own judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// See [`Event::Asked`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The turn, from zero.
    pub turn: u32,
    /// How many messages went out.
    pub messages: u32,
    /// How many tokens they are by our own count.
    pub tokens: u64,
    /// How many older results were left out to make them fit.
    pub compacted: u32,
    /// The digest of the whole conversation.
    #[serde(with = "text")]
    pub digest: Digest,
}

/// See [`Event::Answered`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The turn.
    pub turn: u32,
    /// Who answered.
    pub brain: Brain,
    /// The words.
    pub text: String,
    /// The calls.
    pub calls: Vec<Call>,
    /// What the provider wants to see again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carry: Option<Carry>,
    /// Tokens.
    pub usage: Usage,
    /// Millionths of a dollar; absent where the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// How long it took.
    pub latency_ms: u64,
    /// Why it ended.
    pub stop: Stop,
}

/// See [`Event::AnswerFailed`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerFailed {
    /// The turn.
    pub turn: u32,
    /// What went wrong.
    pub problem: String,
    /// Whether the question was too long for it: a shorter one may be answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_long: bool,
}

/// See [`Event::Proposed`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// The step.
    pub step: StepId,
    /// The call that it belongs to.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The whole command.
    pub command: String,
    /// Why it is wanted.
    pub reasoning: String,
    /// Which hypothesis it tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<String>,
}

/// See [`Event::Classified`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classified {
    /// The step.
    pub step: StepId,
    /// The round: every modification is a new one, from 1.
    pub round: u32,
    /// The command of this round.
    pub command: String,
    /// `SAFE`, `RISKY` or `BLOCKED`.
    pub verdict: String,
    /// The tier that decided.
    pub tier: u8,
    /// The rule that decided.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Binds consent to exactly this command.
    #[serde(with = "text")]
    pub digest: Digest,
    /// The policy by which it was judged.
    #[serde(with = "text")]
    pub policy: Digest,
}

/// See [`Event::ApprovalRequested`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The approval's name.
    pub approval: String,
    /// The step.
    pub step: StepId,
    /// The round.
    pub round: u32,
    /// What exactly is asked.
    #[serde(with = "text")]
    pub digest: Digest,
    /// From then on the answer is no.
    #[serde(with = "text")]
    pub expires_at: Timestamp,
    /// How many different people must approve.
    pub votes_needed: u32,
    /// What it does: `measurement` or `change`.
    pub impact: Impact,
    /// An earlier run was cut off, so that nobody knows whether it took effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outcome_unknown: bool,
}

/// What an approved command does to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// It captures or measures and leaves the network as it is.
    Measurement,
    /// It may change something.
    Change,
}

/// See [`Event::ApprovalVoted`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalVoted {
    /// The approval.
    pub approval: String,
    /// Who.
    pub who: String,
    /// Whether it was a yes.
    pub approves: bool,
    /// When.
    #[serde(with = "text")]
    pub at: Timestamp,
}

/// See [`Event::ApprovalDecided`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalDecided {
    /// The approval.
    pub approval: String,
    /// The step.
    pub step: StepId,
    /// What was decided.
    pub answer: Reply,
    /// Whose vote it was.
    pub who: String,
    /// When.
    #[serde(with = "text")]
    pub at: Timestamp,
}

/// What a human answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Reply {
    /// Run exactly what was shown, once.
    Approve,
    /// Run nothing.
    Deny {
        /// Why.
        reason: String,
    },
    /// Judge this command instead.
    Modify {
        /// The whole new command.
        command: String,
    },
}

/// See [`Event::ApprovalExpired`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalExpired {
    /// The approval.
    pub approval: String,
    /// The step.
    pub step: StepId,
}

/// See [`Event::Intent`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// The step.
    pub step: StepId,
    /// What exactly.
    #[serde(with = "text")]
    pub digest: Digest,
    /// The approval that was used up for it; absent where none is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

/// See [`Event::Executing`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Executing {
    /// The step.
    pub step: StepId,
    /// The fencing number of the owner that runs it.
    pub epoch: u64,
}

/// See [`Event::Done`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The step.
    pub step: StepId,
    /// `completed`, `denied` or `error`.
    pub status: String,
    /// The verdict on what ran in the end.
    pub classification: String,
    /// Who settled it: `auto_approved`, `user_denied` and so on.
    pub action: String,
    /// The exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Standard output, redacted and clipped.
    pub output: String,
    /// Standard error, redacted and clipped.
    pub stderr: String,
    /// The error word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it was settled so.
    pub reason: String,
    /// What could be done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The command that ran, where a human changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_command: Option<String>,
    /// Names the records of the audit.
    pub audit_id: String,
    /// The head of the audit chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_head: Option<String>,
    /// How long it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The digest of the whole redacted output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What is known about the output.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output_metadata: Value,
}

/// See [`Event::Unknown`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unknown {
    /// The step.
    pub step: StepId,
    /// The fencing number of the owner that went away.
    pub epoch: u64,
}

/// See [`Event::Observed`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Its name.
    pub id: ObservationId,
    /// The call that it came from.
    pub call: String,
    /// The step, where it is the output of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The tool.
    pub tool: String,
    /// What was looked at, in a line.
    pub what: String,
    /// How much it weighs.
    pub source: Source,
    /// The digest under which the text lies.
    #[serde(with = "text")]
    pub digest: Digest,
    /// Its length.
    pub bytes: u64,
}

/// Where evidence comes from; a later one outweighs an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A probe from the host of the bot.
    LocalProbe,
    /// A probe inside the machine in question.
    GuestProbe,
    /// What the cloud was told to do.
    Configured,
    /// What the cloud does.
    Effective,
    /// Packets.
    Wire,
}

/// See [`Event::Returned`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Returned {
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What the model reads. Text of the network in it is fenced.
    pub content: String,
    /// Whether it was refused or failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Why it was refused before anything was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

/// Why a call was refused before anything was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The tool or its arguments are not as its schema says.
    Malformed,
    /// The board holds no hypothesis.
    EmptyBoard,
    /// The same thing was denied before.
    DeniedBefore,
    /// The same thing was asked again and again.
    Repeated,
    /// A gate is closed.
    Gate,
    /// The session ended before its turn came.
    Ended,
}

/// See [`Event::FindingAccepted`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingAccepted {
    /// The claim.
    #[serde(flatten)]
    pub finding: Finding,
    /// What bears it out.
    pub why: String,
}

/// See [`Event::FindingRejected`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingRejected {
    /// The claim.
    #[serde(flatten)]
    pub finding: Finding,
    /// What is wrong with it.
    pub why: String,
}

/// A claim about the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The fault code.
    pub code: String,
    /// What is at fault.
    pub object: String,
    /// In words.
    pub statement: String,
    /// What shows it.
    pub evidence: Vec<Citation>,
}

/// A place in an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The observation.
    pub observation: ObservationId,
    /// Words that stand in it; may be absent where the code of the finding knows what to look for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// See [`Event::Said`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Who.
    pub who: String,
    /// What.
    pub text: String,
    /// What it asks for.
    pub wish: Wish,
}

/// What a human wants of a running session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// The investigation should take it into account.
    Steer,
    /// It should end now.
    Stop,
    /// It should report what it has, and end.
    Report,
}

/// See [`Event::Noted`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noted {
    /// What the model reads.
    pub text: String,
    /// What for.
    pub reason: Note,
}

/// Why the code speaks to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// The turn called nothing.
    NoCalls,
    /// The turn ran into its limit.
    CutOff,
    /// The turn was refused.
    Refused,
    /// The turn was malformed.
    Malformed,
    /// A budget is nearly spent.
    BudgetLow,
}

/// See [`Event::Discarded`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discarded {
    /// Why it says nothing.
    pub why: String,
}

/// See [`Event::BudgetSpent`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetSpent {
    /// Which: `turns`, `commands`, `minutes`, `captured bytes`, `tokens`, `cost`.
    pub what: String,
    /// How much was used.
    pub used: u64,
    /// How much there was.
    pub limit: u64,
}

/// See [`Event::Resumed`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// The fencing number of the new owner.
    pub epoch: u64,
}

/// See [`Event::Concluded`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Concluded {
    /// What came of it; computed.
    pub outcome: Outcome,
    /// How sure; follows from the outcome.
    pub confidence: Confidence,
    /// How sure the model claims to be; it counts for nothing and is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Confidence>,
    /// What the model claims.
    pub summary: String,
    /// What should be done, in order.
    pub actions: Vec<String>,
    /// What would settle what is open.
    pub open_questions: Vec<String>,
    /// Who ended it: `model`, `human`, `budget` or `code`.
    pub by: String,
}

/// See [`Event::Delivered`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivered {
    /// What: `report`.
    pub what: String,
    /// Where to.
    pub place: String,
    /// Its digest.
    #[serde(with = "text")]
    pub digest: Digest,
}
