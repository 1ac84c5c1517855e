//! An errand over the commands of a call: replayed from the record each time, so that it goes on wherever it was cut off.

use crate::agent::event::ObservationId;
use crate::agent::state::Step;
use crate::agent::tool::{Bench, Chore, Command, Move};
use crate::base::Timestamp;
use crate::cloud::errand::{Answer, Carried, Errand, Next, Order};

/// A walk along what a call has done so far.
pub(super) struct Trail<'a, 'b> {
    bench: &'a Bench<'b>,
    hypothesis: Option<String>,
    at: usize,
    chores: usize,
    now: Timestamp,
    seen: Vec<ObservationId>,
}

impl<'a, 'b> Trail<'a, 'b> {
    pub(super) fn new(bench: &'a Bench<'b>, hypothesis: Option<String>) -> Self {
        let turn = bench
            .state
            .turns()
            .rev()
            .find(|turn| turn.calls.iter().any(|call| call.call.id == bench.call.call.id));
        let now = turn.map_or(bench.state.opened_at, |turn| turn.at);
        Self { bench, hypothesis, at: 0, chores: 0, now, seen: Vec::new() }
    }

    pub(super) fn bench(&self) -> &'a Bench<'b> {
        self.bench
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    pub(super) fn carry<E: Errand>(&mut self, errand: &mut E) -> Result<E::Result, Box<Move>> {
        loop {
            match errand.next(self.now) {
                Next::Run(order) => {
                    let (answer, at) = self.step(&order)?;
                    errand.heard(&answer, at);
                }
                Next::Wait { until, .. } => self.wait(until)?,
                Next::Over(result) => return Ok(result),
            }
        }
    }

    pub(super) fn step(&mut self, order: &Order) -> Result<(Answer, Timestamp), Box<Move>> {
        let command = match &order.what {
            Carried::Line(line) => line.text(),
            Carried::Script { carrier, script, variables } => {
                format!("{} {script} {variables:?}", carrier.text())
            }
        };
        let Some(step) = self.recorded() else {
            let (hypothesis, reasoning, plan) =
                (self.hypothesis.clone(), order.why.clone(), order.plan.clone());
            return Err(Box::new(Move::Run(Box::new(Command {
                command,
                reasoning,
                hypothesis,
                script: None,
                plan,
            }))));
        };
        assert_eq!(step.command, command);
        let Some((done, at)) = step.done.as_ref().zip(step.done_at) else {
            return Err(Box::new(Move::Wait(self.bench.now)));
        };
        let observed = |id: &&ObservationId| {
            self.bench.state.observation(**id).is_some_and(|known| known.observed.step == Some(step.id))
        };
        self.seen.extend(self.bench.call.observations.iter().find(observed).copied());
        self.at += 1;
        self.now = self.now.max(at);
        let reason = done.reason.clone();
        let answer = match done.status.as_str() {
            "completed" => {
                Answer::Ran { exit: done.exit_code, stdout: done.output.clone(), stderr: done.stderr.clone() }
            }
            "denied" => Answer::Denied { reason, all: order.plan.len() > 1 },
            _ => Answer::Unknown { reason },
        };
        Ok((answer, self.now))
    }

    pub(super) fn chore(&mut self, chore: Chore) -> Result<String, Box<Move>> {
        let observations = self.bench.call.observations.iter();
        let known = observations.filter_map(|id| self.bench.state.observation(*id));
        let mut done = known.filter(|known| known.observed.step.is_none());
        let Some(found) = done.nth(self.chores) else { return Err(Box::new(Move::Chore(chore))) };
        let text = self.bench.evidence.text(&found.observed.digest.to_string()).unwrap_or_default();
        self.chores += 1;
        self.seen.push(found.observed.id);
        self.now = self.now.max(found.at);
        Ok(text)
    }

    pub(super) fn wait(&mut self, until: Timestamp) -> Result<(), Box<Move>> {
        let left = self.bench.call.observations.iter().filter_map(|id| self.bench.state.observation(*id));
        let left = left.filter(|known| known.observed.step.is_none()).count() > self.chores;
        if until > self.bench.now && self.recorded().is_none() && !left {
            return Err(Box::new(Move::Wait(until)));
        }
        self.now = self.now.max(until);
        Ok(())
    }

    pub(super) fn seen(&self) -> Vec<ObservationId> {
        self.seen.clone()
    }

    fn recorded(&self) -> Option<&'a Step> {
        self.bench.call.steps.get(self.at).and_then(|id| self.bench.state.step(*id))
    }
}
