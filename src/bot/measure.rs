//! What an event of a session counts for.
//!
//! An event is recorded by one replica, once, and counted there: the sum over replicas is what happened. No label holds the
//! name of a session, a person or a channel.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::http::{Answer, Direction, Judged, Measures, Outcome, SessionState, Whose};
use ghost_base::{SessionId, Timestamp};
use ghost_investigate::event::{ApprovalDecided, Content, Event, Recorded, Reply, StepId};
use ghost_investigate::state::State;
use ghost_session::{DriveOutcome, EngineError, Observer};
use ghost_slack::web::CallError;

/// One thing that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// The policy judged a command.
    Command(Judged),
    /// A question ended so long after it was asked.
    Answered(Answer, Duration),
    /// A model counted tokens.
    Tokens(Direction, u64),
    /// A model cost so many millionths of a dollar.
    Cost(u64),
    /// The first message of a session stands.
    FirstReply,
    /// Something failed.
    Fault(Whose),
}

/// Returns what an event counts for, given the state that it led to.
pub(super) fn measured(state: &State, event: &Recorded) -> Vec<Measure> {
    let Content::Known(known) = &event.content else { return Vec::new() };
    let waited = |approval: &str, until: Timestamp| {
        state.approvals.get(approval).map(|asked| until.since(asked.asked_at)).unwrap_or_default()
    };
    match known.as_ref() {
        Event::Classified(classified) => {
            judged(&classified.verdict).map(Measure::Command).into_iter().collect()
        }
        Event::ApprovalDecided(decided) => {
            vec![Measure::Answered(answer(state, decided), waited(&decided.approval, decided.at))]
        }
        Event::ApprovalExpired(expired) => {
            vec![Measure::Answered(Answer::Expired, waited(&expired.approval, event.at))]
        }
        Event::ModelAnswered(answered) => {
            let usage = &answered.usage;
            let (cached, written) = (usage.cached.unwrap_or(0), usage.cache_written.unwrap_or(0));
            let plain = usage.input.unwrap_or(0).saturating_sub(cached).saturating_sub(written);
            let directions = [
                (Direction::Input, plain),
                (Direction::Cached, cached),
                (Direction::CacheWrite, written),
                (Direction::Output, usage.output.unwrap_or(0)),
            ];
            let tokens = directions.into_iter().filter(|(_, count)| *count > 0);
            let cost = answered.cost_micros.map(Measure::Cost);
            tokens.map(|(direction, count)| Measure::Tokens(direction, count)).chain(cost).collect()
        }
        Event::AnswerFailed(_) => vec![Measure::Fault(Whose::Upstream)],
        Event::Delivered(delivered) if delivered.what == ghost_investigate::event::Delivered::BOARD => {
            let boards = state.delivered.iter().filter(|other| other.what == delivered.what).count();
            if boards == 1 { vec![Measure::FirstReply] } else { Vec::new() }
        }
        Event::Opened(_)
        | Event::HypothesisSet(_)
        | Event::ModelAsked(_)
        | Event::Proposed(_)
        | Event::ApprovalRequested(_)
        | Event::ApprovalVoted(_)
        | Event::Intent(_)
        | Event::Executing(_)
        | Event::Done(_)
        | Event::Unknown(_)
        | Event::Observed(_)
        | Event::Returned(_)
        | Event::FindingAccepted(_)
        | Event::FindingRejected(_)
        | Event::HumanMessage(_)
        | Event::Noted(_)
        | Event::Discarded(_)
        | Event::BudgetSpent(_)
        | Event::Resumed(_)
        | Event::Concluded(_)
        | Event::Delivered(_)
        | Event::Reopened(_)
        | Event::TakeRequested(_)
        | Event::Taken(_)
        | Event::Attended(_)
        | Event::Reworded(_)
        | Event::Alerted(_)
        | Event::ForecastChecked(_) => Vec::new(),
    }
}

fn judged(verdict: &str) -> Option<Judged> {
    Judged::ALL.iter().copied().find(|judged| judged.word().eq_ignore_ascii_case(verdict))
}

fn answer(state: &State, decided: &ApprovalDecided) -> Answer {
    match &decided.answer {
        Reply::Approve => Answer::Approved,
        Reply::Deny { reason } if reason == Reply::STOPPED && state.end_request.is_some() => {
            Answer::Withdrawn
        }
        Reply::Deny { .. } => Answer::Denied,
        Reply::Modify { .. } => Answer::Modified,
    }
}

/// Says whose fault it is that a session could not go on.
fn fault(how: &Result<DriveOutcome, EngineError>) -> Option<Whose> {
    match how {
        Ok(
            DriveOutcome::Over
            | DriveOutcome::Waiting { .. }
            | DriveOutcome::Offered { .. }
            | DriveOutcome::Paused
            | DriveOutcome::Taken
            | DriveOutcome::Missing,
        ) => None,
        // What the model did not answer is on the ledger and was counted there.
        Ok(DriveOutcome::Stuck { .. }) | Err(EngineError::Fenced) => None,
        Ok(DriveOutcome::Undelivered { .. }) | Err(EngineError::Store(_)) => Some(Whose::Upstream),
        Err(EngineError::Shell(_) | EngineError::Evidence(_)) => Some(Whose::Config),
        Err(EngineError::Ledger(_) | EngineError::Fold(_) | EngineError::Event(_)) => Some(Whose::Internal),
    }
}

/// Says how a call of Slack ended.
pub(super) fn outcome(error: Option<&CallError>) -> Outcome {
    match error {
        None => Outcome::Ok,
        Some(CallError::RateLimited { .. }) => Outcome::RateLimited,
        Some(CallError::Refused { .. }) => Outcome::Refused,
        Some(CallError::Late { .. }) => Outcome::TimedOut,
        Some(CallError::Unreachable { .. }) => Outcome::Failed,
    }
}

/// Counts what a watcher sees, and passes it on.
pub(super) struct Counting {
    measures: Measures,
    driven: AtomicU64,
    /// When the incidents arrived whose sessions have no message yet.
    arrived: Mutex<HashMap<SessionId, Timestamp>>,
    next: Arc<dyn Observer>,
}

impl Counting {
    pub(super) fn new(measures: Measures, next: Arc<dyn Observer>) -> Self {
        Self { measures, driven: AtomicU64::new(0), arrived: Mutex::default(), next }
    }

    fn count(&self, measure: Measure, session: &SessionId, at: Timestamp) {
        match measure {
            Measure::Command(verdict) => self.measures.command(verdict),
            Measure::Answered(answer, after) => self.measures.answered(answer, after),
            Measure::Tokens(direction, count) => self.measures.tokens(direction, count),
            Measure::Cost(micros) => self.measures.cost(micros),
            Measure::Fault(whose) => self.measures.fault(whose),
            Measure::FirstReply => {
                if let Some(arrived) = self.waiting().remove(session) {
                    self.measures.first_reply(at.since(arrived));
                }
            }
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Timestamp>> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Counting {
    fn recorded(&self, state: &State, event: &Recorded) {
        for measure in measured(state, event) {
            self.count(measure, &state.session, event.at);
        }
        self.next.recorded(state, event);
    }

    fn words(&self, words: &str) {
        self.next.words(words);
    }

    fn trouble(&self, what: &str) {
        self.next.trouble(what);
    }

    fn running(&self, state: &State, step: StepId, since: Duration) {
        self.next.running(state, step, since);
    }

    fn began(&self, session: &SessionId, orphaned: bool) {
        let driven = self.driven.fetch_add(1, Ordering::Relaxed) + 1;
        self.measures.sessions(SessionState::Active, driven);
        if orphaned {
            self.measures.took_over();
        }
        self.next.began(session, orphaned);
    }

    fn ended(&self, session: &SessionId, how: Option<&Result<DriveOutcome, EngineError>>) {
        let driven = self.driven.fetch_sub(1, Ordering::Relaxed).saturating_sub(1);
        self.measures.sessions(SessionState::Active, driven);
        // What another owner says first is counted there, or nowhere: it is not known here any more.
        self.waiting().remove(session);
        match how {
            Some(how) => fault(how).into_iter().for_each(|whose| self.measures.fault(whose)),
            None if std::thread::panicking() => self.measures.fault(Whose::Internal),
            None => {}
        }
        self.next.ended(session, how);
    }

    fn arrived(&self, session: &SessionId, at: Timestamp) {
        self.waiting().insert(session.clone(), at);
        self.next.arrived(session, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_base::Digest;
    use ghost_investigate::Limits;
    use ghost_investigate::event::{Chain, Delivered, ModelAnswered, ModelAsked, Opened, Origin};
    use ghost_investigate::model::{Investigator, Stop, Usage};

    fn investigator() -> Investigator {
        Investigator { provider: "scripted".to_owned(), model: String::new(), host: None, window: 1_000 }
    }

    /// Returns what the last of these events counts for.
    fn last(events: Vec<Event>) -> Vec<Measure> {
        let session: SessionId = "ghost-1".parse().unwrap();
        let opened = Opened {
            symptom: "slow".to_owned(),
            requester: "U1".to_owned(),
            origin: Origin { place: "slack".to_owned(), team: None, channel: None, thread: None },
            quotes: Vec::new(),
            nonce: "n".to_owned(),
            investigator: investigator(),
            limits: Limits::default(),
            scope: None,
            hosts: Vec::new(),
            cloud_too: false,
            clusters: Vec::new(),
            surroundings: None,
            gathered: Box::default(),
            by_program: false,
            outside: None,
            alert: None,
            version: "1".to_owned(),
        };
        let mut chain = Chain::behind(session.clone(), &[]);
        let mut seal = |event: &Event| chain.seal(Timestamp::from_millis(0), event).unwrap().1;
        let mut recorded = vec![seal(&Event::Opened(opened))];
        recorded.extend(events.iter().map(seal));
        let state = State::fold(&session, &recorded).unwrap();
        measured(&state, recorded.last().unwrap())
    }

    #[test]
    fn tokens_are_counted_once_each_and_so_is_what_they_cost() {
        let asked = ModelAsked { turn: 0, messages: 1, tokens: 1, compacted: 0, digest: Digest::of("") };
        let usage = Usage { input: Some(100), cached: Some(60), cache_written: Some(30), output: Some(7) };
        let answered = ModelAnswered {
            turn: 0,
            investigator: investigator(),
            text: "so".to_owned(),
            calls: Vec::new(),
            carry: None,
            usage,
            cost_micros: Some(42),
            latency_ms: 1,
            stop: Stop::End,
        };
        let counted = last(vec![Event::ModelAsked(asked.clone()), Event::ModelAnswered(answered.clone())]);
        let wanted = [
            Measure::Tokens(Direction::Input, 10),
            Measure::Tokens(Direction::Cached, 60),
            Measure::Tokens(Direction::CacheWrite, 30),
            Measure::Tokens(Direction::Output, 7),
            Measure::Cost(42),
        ];
        assert_eq!(counted, wanted);
        let silent = ModelAnswered { usage: Usage::default(), cost_micros: None, ..answered };
        assert_eq!(last(vec![Event::ModelAsked(asked), Event::ModelAnswered(silent)]), []);
    }

    #[test]
    fn the_first_board_is_the_first_reply_and_no_later_one_is() {
        let board = |digest| {
            let (what, place) = (Delivered::BOARD.to_owned(), "C1/1.2".to_owned());
            Event::Delivered(Delivered { what, place, digest: Digest::of(digest) })
        };
        assert_eq!(last(vec![board("a")]), [Measure::FirstReply]);
        assert_eq!(last(vec![board("a"), board("b")]), []);
        assert_eq!(last(Vec::new()), []);
    }

    #[test]
    fn each_verdict_has_its_word() {
        for (verdict, word) in [("SAFE", "safe"), ("RISKY", "risky"), ("BLOCKED", "blocked")] {
            assert_eq!(judged(verdict).map(Judged::word), Some(word));
        }
        assert_eq!(judged("else"), None);
    }
}
