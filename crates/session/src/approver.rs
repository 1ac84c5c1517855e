//! The approver that says what the ledger says, about exactly what was shown.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use ghost_base::Digest;
use ghost_investigate::event::Reply;
use ghost_investigate::state::{Ending, State, Step};
use ghost_shell::{Approver, Choice, Decision, Request, Reviewer};

/// What is said to somebody who changes one command of several.
const PLAN_NOT_CHANGEABLE: &str = "a plan can be approved or denied as a whole, not changed";

/// Answers the gate from the record of a step. Without one it denies.
#[derive(Debug, Default)]
pub(super) struct LedgerApprover(Mutex<Vec<Answers>>);

#[derive(Debug)]
struct Answers {
    /// What was shown in each round.
    rounds: Vec<ShownRound>,
    last: Choice,
    who: String,
    /// The question that was answered.
    question: Option<String>,
}

#[derive(Debug)]
struct ShownRound {
    digest: Digest,
    /// Why it asked.
    reason: String,
    /// What the next round was made of.
    next: Option<String>,
}

impl LedgerApprover {
    /// Takes over what humans answered about a step, and nothing else.
    pub(super) fn arm(&self, state: &State, step: &Step) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = vec![answers(state, step)];
    }

    /// Takes over what humans answered about steps that run side by side.
    pub(super) fn arm_all(&self, state: &State, steps: &[Step]) {
        let all = steps.iter().map(|step| answers(state, step)).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = all;
    }

    /// Takes over what humans answered about a step that is judged as it stands now, and not from its beginning.
    pub(super) fn arm_last(&self, state: &State, step: &Step) {
        let mut last = answers(state, step);
        last.rounds.drain(..last.rounds.len().saturating_sub(1));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = vec![last];
    }

    /// Forgets it again.
    pub(super) fn disarm(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Returns what humans answered about a step, round by round.
fn answers(state: &State, step: &Step) -> Answers {
    let commands = step.rounds.iter().skip(1).map(|round| Some(round.classified.command.clone()));
    let judged = step.rounds.iter().map(|round| &round.classified);
    let rounds = judged.zip(commands.chain([None])).map(|(judged, next)| ShownRound {
        digest: judged.digest,
        reason: judged.reason.clone(),
        next,
    });
    let (last, who) = answer(state, step);
    Answers { rounds: rounds.collect(), last, who, question: asked(state, step).map(str::to_owned) }
}

/// Returns the question that was asked last about a step, by itself or as part of a plan.
fn asked<'a>(state: &'a State, step: &'a Step) -> Option<&'a str> {
    step.asked().or_else(|| Some(state.covering(step)?.requested.approval.as_str()))
}

/// Returns what was said to the question that was asked last about a step.
fn answer(state: &State, step: &Step) -> (Choice, String) {
    let deny = |reason: &str| Choice::Deny { reason: reason.to_owned() };
    match asked(state, step).and_then(|name| state.approvals.get(name)?.ending.clone()) {
        Some(Ending::Decided { answer: Reply::Approve, who, .. }) => (Choice::Approve, who),
        Some(Ending::Decided { answer: Reply::Deny { reason }, who, .. }) => (deny(&reason), who),
        Some(Ending::Decided { answer: Reply::Modify { .. }, who, .. }) => {
            let reason =
                if state.denied_as_plan(step) { PLAN_NOT_CHANGEABLE } else { "it was modified too often" };
            (deny(reason), who)
        }
        Some(Ending::Expired { .. }) => (Choice::Expired, "nobody".to_owned()),
        None => (deny("nobody answered"), "nobody".to_owned()),
    }
}

#[async_trait]
impl Approver for LedgerApprover {
    async fn decide(&self, request: &Request) -> Decision {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let deny = |reason: &str| Choice::Deny { reason: reason.to_owned() };
        let nobody = || Reviewer::new("nobody");
        if held.is_empty() {
            return Decision { choice: deny("no answer is recorded"), who: nobody() };
        }
        let other =
            || Decision { choice: deny("this is not what was shown when it was answered"), who: nobody() };
        let Some((answers, ShownRound { reason, next, .. })) = shown(&held, request) else { return other() };
        let choice = next.clone().map_or_else(|| answers.last.clone(), |command| Choice::Modify { command });
        // A yes was to what had been found then.
        let changed = request.ruling.asks_for_surroundings() && request.ruling.reason != *reason;
        if changed && choice == Choice::Approve {
            return other();
        }
        Decision { choice, who: Reviewer::new(answers.who.clone()) }
    }

    fn question(&self, request: &Request) -> Option<String> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown(&held, request)?.0.question.clone()
    }
}

/// Finds the answers to what a request shows, and the round that it shows.
fn shown<'a>(held: &'a [Answers], request: &Request) -> Option<(&'a Answers, &'a ShownRound)> {
    let round = usize::try_from(request.round.checked_sub(1)?).ok()?;
    let rounds = held.iter().filter_map(|answers| Some((answers, answers.rounds.get(round)?)));
    rounds.into_iter().find(|(_, shown)| shown.digest == request.digest())
}
