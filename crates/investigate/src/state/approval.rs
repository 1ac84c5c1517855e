//! Questions to humans, and what is left of the consent to a plan.

use crate::event::{ApprovalRequested, Classified, PlanJudgement, Reply};
use crate::is_reclassified;
use crate::state::{State, Step};
use ghost_base::Timestamp;

/// A question and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    /// What was asked.
    pub requested: ApprovalRequested,
    /// When.
    pub asked_at: Timestamp,
    /// Who voted.
    pub votes: Vec<Vote>,
    /// How it ended; `None` while it is open.
    pub ending: Option<Ending>,
}

/// One vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// Who.
    pub who: String,
    /// Whether it was a yes.
    pub approves: bool,
    /// When.
    pub at: Timestamp,
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Somebody decided.
    Decided {
        /// What.
        answer: Reply,
        /// Whose vote it was.
        who: String,
        /// When.
        at: Timestamp,
    },
    /// Nobody did in time.
    Expired {
        /// When that was recorded.
        at: Timestamp,
    },
}

impl State {
    /// Returns who changed a command into the one that a question is about, and what it was before; nothing where nobody did.
    #[must_use]
    pub fn modified(&self, asked: &ApprovalRequested) -> Option<(&str, &str)> {
        let before = asked.round.checked_sub(1)?;
        let round = self.step(asked.step)?.rounds.iter().find(|round| round.classified.round == before)?;
        let who = round.approvals.iter().rev().find_map(|name| {
            match self.approvals.get(name)?.ending.as_ref()? {
                Ending::Decided { answer: Reply::Modify { .. }, who, .. } => Some(who.as_str()),
                Ending::Decided { .. } | Ending::Expired { .. } => None,
            }
        });
        Some((who?, &round.classified.command))
    }
}

/// A consent that was used for the first of its commands, and those that it still covers.
type Held<'a> = Option<(&'a Approval, &'a [String])>;

impl State {
    /// Returns the consent to a plan that covers a command: given in the same call, used for the plan's first command already, with
    /// this one not passed over since. One that was asked about by itself has its own answer.
    #[must_use]
    pub fn covering(&self, step: &Step) -> Option<&Approval> {
        let own = step.rounds.len() > 1 || step.rounds.iter().any(|round| !round.approvals.is_empty());
        if own || step.plan.is_empty() || step.script.is_some() {
            return None;
        }
        let before = self.steps.iter().filter(|other| other.call == step.call);
        let before = before.take_while(|other| other.id != step.id);
        let (approval, left) = before.fold(None, |held, other| self.held(other, held))?;
        let covers = left.iter().any(|next| next == step.current());
        (covers && was_shown(&approval.requested, &step.round()?.classified)).then_some(approval)
    }

    /// Returns the questions about the whole plan that a step was denied with.
    #[must_use]
    pub fn denied_as_plan(&self, step: &Step) -> bool {
        step.asked().and_then(|name| self.approvals.get(name)).is_some_and(|asked| asked.requested.is_plan())
    }

    /// Returns what is held behind a step.
    fn held<'a>(&'a self, step: &'a Step, before: Held<'a>) -> Held<'a> {
        // What reads on the way leaves a consent as it is.
        if step.plan.is_empty() {
            return before;
        }
        let granted = step.consents.iter().filter_map(|name| self.approvals.get(name)).find(|asked| {
            let yes = matches!(&asked.ending, Some(Ending::Decided { answer: Reply::Approve, .. }));
            yes && asked.requested.is_plan() && asked.requested.step == step.id
        });
        let (approval, left) = granted.map(|asked| (asked, asked.requested.plan.as_slice())).or(before)?;
        // A no behind it is a no to what was left; what is not of the plan gives it up.
        let ran = step.done.as_ref().is_none_or(|done| done.status != "denied");
        let at = left.iter().position(|next| next == step.current()).filter(|_| ran)?;
        Some((approval, left.get(at + 1..).unwrap_or_default()))
    }
}

/// Tells whether what the gate found about a command stood on the card of its plan, or whether it found nothing.
fn was_shown(asked: &ApprovalRequested, judged: &Classified) -> bool {
    let told = |(command, shown): (&String, &PlanJudgement)| {
        *command == judged.command && (&shown.rule, &shown.reason) == (&judged.rule, &judged.reason)
    };
    // Before judgements stood on cards nothing that was found did.
    !is_reclassified(judged)
        || asked.judgements.is_empty()
        || asked.plan.iter().zip(&asked.judgements).any(told)
}
