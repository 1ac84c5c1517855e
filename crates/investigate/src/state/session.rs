//! The state of a session: its conversation, what it used, and all the rest.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::event::{
    AlertStatus, Alerted, BudgetSpent, Concluded, Delivered, FindingAccepted, FindingRejected,
    ForecastChecked, Instruction, ModelAsked, ObservationId, Observed, Opened, Returned, StepId,
};
use crate::model::{Call, Carry, Investigator, Stop};
use crate::service::ServiceTimes;
use crate::state::{Approval, Denial, Phase, Step};
use crate::{Hypothesis, HypothesisState, Limits};
use ghost_base::{Digest, SessionId, Timestamp};

/// Everything that follows from the events of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub session: SessionId,
    /// How it began.
    pub opened: Opened,
    pub opened_at: Timestamp,
    /// How many events there are.
    pub seq: u64,
    /// When the last one was recorded.
    pub last_at: Timestamp,
    /// The hash of the last line.
    pub head: Digest,
    /// The board, in the order in which hypotheses were added.
    pub hypotheses: Vec<Hypothesis>,
    /// What was said.
    pub entries: Vec<Entry>,
    pub steps: Vec<Step>,
    /// The questions, by name.
    pub approvals: BTreeMap<String, Approval>,
    pub observations: Vec<Observation>,
    /// Claims that hold.
    pub accepted: Vec<FindingAccepted>,
    /// Claims that do not.
    pub rejected: Vec<FindingRejected>,
    /// Commands that humans denied.
    pub denials: Vec<Denial>,
    /// The question to a model that is open.
    pub asked: Option<ModelAsked>,
    /// What kept a model from answering, since it last did.
    pub failures: Vec<String>,
    /// How many of these were questions that were too long.
    pub too_long: u32,
    /// Who wanted it to end, and how.
    pub end_request: Option<(String, Instruction)>,
    pub budget_spent: Option<BudgetSpent>,
    /// What may be used, all in all.
    pub limits: Limits,
    pub spent: Spent,
    /// How it ended.
    pub concluded: Option<(Timestamp, Concluded)>,
    /// Where its report went, and before that its board and its cards.
    pub delivered: Vec<Delivered>,
    /// Where it checks its findings again: how many entries there were when that began.
    pub rechecking: Option<usize>,
    /// How it ended before it was opened again, oldest first.
    pub earlier: Vec<(Timestamp, Concluded)>,
    /// By which names people know who decided, as far as that was asked.
    pub names: BTreeMap<String, String>,
    /// Which process of an agent wants to use the consent up.
    pub taker: Option<String>,
    /// Which one has it.
    pub taken: Option<String>,
    /// Whether somebody waits for the answer to a request from outside.
    pub attended: bool,
    /// What the sender of the alert said since.
    pub alerts: Vec<(Timestamp, Alerted)>,
    /// What became of changes that had a forecast.
    pub forecasts_checked: Vec<ForecastChecked>,
    /// Whether the sender said that it is over, or back, and the checks that had shown faults are still to be made again.
    pub is_check_due: bool,
    /// How long people waited for what.
    pub service: ServiceTimes,
    /// The session as its last report shows it, once somebody wanted it to continue behind that.
    pub reported: Option<Box<State>>,
}

/// An observation and when it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub at: Timestamp,
    pub observed: Observed,
}

impl State {
    #[must_use]
    pub fn hypothesis(&self, id: &str) -> Option<&Hypothesis> {
        self.hypotheses.iter().find(|hypothesis| hypothesis.id == id)
    }

    /// Returns the hypotheses that are being tested.
    pub fn active(&self) -> impl Iterator<Item = &Hypothesis> {
        self.hypotheses.iter().filter(|hypothesis| hypothesis.state == HypothesisState::Active)
    }

    #[must_use]
    pub fn step(&self, id: StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Returns the step that is running. What is asked below an answer keeps nothing waiting that goes on behind it.
    #[must_use]
    pub fn open_step(&self) -> Option<&Step> {
        let waits = |step: &Step| {
            self.concluded.is_none()
                && matches!(step.phase, Phase::AwaitingApproval { .. })
                && self.is_behind_result(step)
        };
        self.steps.iter().find(|step| step.phase != Phase::Done && !waits(step))
    }

    /// Tells whether a step clears up behind the result of its call.
    #[must_use]
    pub fn is_behind_result(&self, step: &Step) -> bool {
        self.opened.outside.is_none()
            && self.call_named(&step.call).is_some_and(|call| call.returned.is_some())
    }

    #[must_use]
    pub fn observation(&self, id: ObservationId) -> Option<&Observation> {
        self.observations.iter().find(|observation| observation.observed.id == id)
    }

    /// Returns the turns, oldest first.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = &Turn> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Turn(turn) => Some(turn),
            Entry::Message { .. } | Entry::Note { .. } => None,
        })
    }

    /// Returns all calls, oldest first.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = &CallState> {
        self.turns().flat_map(|turn| &turn.calls)
    }

    #[must_use]
    pub fn call_named(&self, id: &str) -> Option<&CallState> {
        self.calls().rev().find(|call| call.call.id == id)
    }

    /// Returns the call whose result is missing and that comes first.
    #[must_use]
    pub fn open_call(&self) -> Option<&CallState> {
        self.turns().next_back()?.calls.iter().find(|call| call.returned.is_none())
    }

    /// Returns the question that a human is asked now; while it goes on behind a report, none that was asked below that.
    #[must_use]
    pub fn open_approval(&self) -> Option<&Approval> {
        let waits = |approval: &Approval| {
            self.concluded.is_none()
                && self.step(approval.requested.step).is_some_and(|step| self.is_behind_result(step))
        };
        self.approvals.values().find(|approval| approval.ending.is_none() && !waits(approval))
    }

    /// Returns the steps whose outcome is not known.
    pub fn unknown_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.outcome_unknown)
    }

    /// Returns the hash that the audit chain ended with when it was last written.
    #[must_use]
    pub fn audit_head(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| step.done.as_ref()?.audit_head.as_deref())
    }

    /// Tells whether there is nothing left to do but to bring the report, where there is one.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let answered = || self.steps.first().is_some_and(|step| step.phase == Phase::Done);
        self.concluded.is_some() || (self.opened.outside.is_some() && answered())
    }

    /// Tells whether the report of the last end reached somebody. A request from outside has none.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        if self.opened.outside.is_some() {
            return self.is_over();
        }
        let reports = self.delivered.iter().filter(|delivered| delivered.is_report()).count();
        self.concluded.is_some() && reports > self.earlier.len()
    }

    /// Takes in what the sender of the alert says.
    pub(super) fn alerted(&mut self, alerted: &Alerted, at: Timestamp) {
        let was_resolved = self.alerts.last().is_some_and(|(_, last)| last.status == AlertStatus::Resolved);
        self.is_check_due = was_resolved || alerted.status == AlertStatus::Resolved;
        self.alerts.push((at, alerted.clone()));
    }

    /// Returns the state that the report shows: of the report before, where a later look left that as it was.
    #[must_use]
    pub fn shown(&self) -> &Self {
        let stands = self.concluded.as_ref().is_some_and(|(_, concluded)| concluded.stands.is_some());
        self.reported.as_deref().filter(|_| stands).unwrap_or(self)
    }

    /// Returns what a later look came to that left the report before it as it was.
    #[must_use]
    pub fn stands(&self) -> Option<&str> {
        self.concluded.as_ref().and_then(|(_, concluded)| concluded.stands.as_deref())
    }

    /// Returns where something went last.
    #[must_use]
    pub fn place_of(&self, what: &str) -> Option<&Delivered> {
        self.delivered.iter().rev().find(|delivered| delivered.what == what)
    }

    /// Returns the word for where it stands.
    #[must_use]
    pub fn standing(&self) -> &'static str {
        if self.is_over() {
            "concluded"
        } else if self.open_approval().is_some() {
            "waiting"
        } else if self.failures.is_empty() {
            "open"
        } else {
            "paused"
        }
    }
}

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A human wrote something.
    Message {
        at: Timestamp,
        who: String,
        text: String,
        /// What it asks for.
        instruction: Instruction,
    },
    /// The code added a note for the model.
    Note { text: String },
    /// The model took a turn.
    Turn(Turn),
}

/// A turn of the model and what came of its calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its number, from zero.
    pub number: u32,
    pub at: Timestamp,
    /// Who took it.
    pub investigator: Investigator,
    pub text: String,
    pub calls: Vec<CallState>,
    /// What its provider wants to see again.
    pub carry: Option<Carry>,
    pub stop: Stop,
}

/// A call and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallState {
    pub call: Call,
    /// Its commands, in order.
    pub steps: Vec<StepId>,
    /// What it observed.
    pub observations: Vec<ObservationId>,
    /// Its result; `None` while it is open.
    pub returned: Option<Returned>,
}

/// What a session used so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spent {
    /// Turns that a model answered.
    pub turns: u32,
    /// Commands that ran, or may have.
    pub commands: u32,
    /// Questions that were asked.
    pub approvals: u32,
    /// Tokens read and written, as far as they are known.
    pub tokens: u64,
    /// Millionths of a dollar, as far as they are known.
    pub cost_micros: u64,
    /// Turns whose price or tokens are not known.
    pub turns_without_price: u32,
    /// Bytes of packets captured.
    pub captured_bytes: u64,
    /// Time in which a human was waited for, or nobody worked.
    pub waited: Duration,
}

impl Spent {
    /// Returns how long the session has been at work.
    #[must_use]
    pub fn at_work(&self, opened: Timestamp, now: Timestamp) -> Duration {
        now.since(opened).saturating_sub(self.waited)
    }
}
