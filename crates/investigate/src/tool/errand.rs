//! An errand over the commands of a call: replayed from the record each time, so that it goes on wherever it was cut off.

use serde_json::json;

use crate::event::ObservationId;
use crate::state::Step;
use crate::tool::answer::answer;
use crate::tool::known::known;
use crate::tool::{Bench, Chore, Command, Move, Outcome, Scripted};
use ghost_base::Timestamp;
use ghost_cloud::operation::{CommandKind, CommandOutcome, CommandRequest, Next, Operation};
use ghost_shell::script_line;

/// A walk along what a call has done so far. A tool is written straight through, with `?` behind each errand: where the record ends,
/// the next move comes back in place of a result.
///
/// The time of the walk comes from the record alone: the turn that made the call, then the end of each command, the moment of each
/// chore and of each wait. So the same record is walked the same way whenever and by whomever.
pub(super) struct Trail<'a, 'b> {
    bench: &'a Bench<'b>,
    hypothesis: Option<String>,
    /// How many of the call's commands were used by the errands before.
    at: usize,
    /// How many of its chores.
    chores: usize,
    now: Timestamp,
    seen: Vec<ObservationId>,
    /// Those of them that earlier calls made.
    known: Vec<ObservationId>,
}

impl<'a, 'b> Trail<'a, 'b> {
    /// Begins at the call's first command.
    pub(super) fn new(bench: &'a Bench<'b>, hypothesis: Option<String>) -> Self {
        let ours =
            |turn: &&crate::state::Turn| turn.calls.iter().any(|call| call.call.id == bench.call.call.id);
        let now = bench.state.turns().rev().find(ours).map_or(bench.state.opened_at, |turn| turn.at);
        Self { bench, hypothesis, at: 0, chores: 0, now, seen: Vec::new(), known: Vec::new() }
    }

    /// Returns the bench.
    pub(super) fn bench(&self) -> &'a Bench<'b> {
        self.bench
    }

    /// Returns the time as of the walk.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Takes an errand along the record.
    ///
    /// # Errors
    /// Returns what is to be done next, where the errand is not over yet.
    pub(super) fn carry<E: Operation>(&mut self, errand: &mut E) -> Result<E::Result, Box<Move>> {
        self.along(errand, Self::step)
    }

    /// Takes an errand along that lists what surrounds the look: what the session read a moment ago is not read once more.
    ///
    /// # Errors
    /// Returns what is to be done next, where the errand is not over yet.
    pub(super) fn around<E: Operation>(&mut self, errand: &mut E) -> Result<E::Result, Box<Move>> {
        self.along(errand, |trail, order| match trail.known(order) {
            Some(answer) => Ok((answer, trail.now)),
            None => trail.step(order),
        })
    }

    fn along<E: Operation>(
        &mut self,
        errand: &mut E,
        step: impl Fn(&mut Self, &CommandRequest) -> Result<(CommandOutcome, Timestamp), Box<Move>>,
    ) -> Result<E::Result, Box<Move>> {
        loop {
            match errand.next(self.now) {
                Next::Run(order) => {
                    let (answer, at) = step(self, &order)?;
                    errand.on_result(&answer, at);
                }
                Next::Wait { until, .. } => self.wait(until)?,
                Next::Over(result) => return Ok(result),
            }
        }
    }

    /// Returns what an earlier call read by the same line. What the call ran itself is its own answer, so that the record is walked
    /// the same way each time.
    fn known(&mut self, order: &CommandRequest) -> Option<CommandOutcome> {
        let CommandKind::Line(line) = &order.what else { return None };
        let command = line.text();
        if self.recorded().is_some_and(|own| own.command.trim() == command.trim()) {
            return None;
        }
        let step = known(self.bench.state, self.bench.call, &command, self.now)?;
        let answer = answer(self.bench, step, step.done.as_ref()?);
        // What is not whole any more is read once more.
        if !matches!(answer, CommandOutcome::Ran { .. }) {
            return None;
        }
        let mut observed = self.bench.state.observations.iter().map(|one| &one.observed);
        let id = observed.find(|observed| observed.step == Some(step.id))?.id;
        self.seen.push(id);
        self.known.push(id);
        Some(answer)
    }

    /// Returns what came of an order, and when it ended.
    ///
    /// # Errors
    /// Returns the order as a move, where it was not carried out yet.
    pub(super) fn step(&mut self, order: &CommandRequest) -> Result<(CommandOutcome, Timestamp), Box<Move>> {
        let (command, script) = match &order.what {
            CommandKind::Line(line) => (line.text(), None),
            CommandKind::Script { carrier, script, variables } => {
                let variables: Vec<(String, String)> =
                    variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
                let carrier = carrier.words().to_vec();
                let line = script_line(&carrier, script, &variables)
                    .map_err(|error| self.failed(&format!("the script cannot be run: {error}")))?;
                (line, Some(Scripted { carrier, script: (*script).to_owned(), variables }))
            }
        };
        self.walk(command, script, &order.why, &order.plan)
    }

    /// Returns what came of a command, and when it ended. `plan` is all that one consent covers, this one among them.
    ///
    /// # Errors
    /// Returns the command as a move, where it did not run yet.
    pub(super) fn command(
        &mut self,
        command: &str,
        why: &str,
        plan: &[String],
    ) -> Result<(CommandOutcome, Timestamp), Box<Move>> {
        self.walk(command.to_owned(), None, why, plan)
    }

    fn walk(
        &mut self,
        command: String,
        script: Option<Scripted>,
        why: &str,
        plan: &[String],
    ) -> Result<(CommandOutcome, Timestamp), Box<Move>> {
        let Some(step) = self.recorded() else {
            let hypothesis = self.hypothesis.clone();
            let (reasoning, plan) = (why.to_owned(), plan.to_vec());
            return Err(Box::new(Move::Run(Box::new(Command {
                command,
                reasoning,
                hypothesis,
                script,
                plan,
            }))));
        };
        if step.command.trim() != command.trim() || step.script != script {
            return Err(self.failed("what was read before does not lead to what was run then; ask again"));
        }
        let Some((done, at)) = step.done.as_ref().zip(step.done_at) else {
            return Err(Box::new(Move::Wait(self.bench.now)));
        };
        let observed = |id: &&ObservationId| {
            self.bench.state.observation(**id).is_some_and(|known| known.observed.step == Some(step.id))
        };
        self.seen.extend(self.bench.call.observations.iter().find(observed).copied());
        self.at += 1;
        self.now = self.now.max(at);
        Ok((answer(self.bench, step, done), self.now))
    }

    /// Returns what came of a chore.
    ///
    /// # Errors
    /// Returns the chore, where it was not done yet.
    pub(super) fn chore(&mut self, chore: Chore) -> Result<String, Box<Move>> {
        let observations = self.bench.call.observations.iter();
        let known = observations.filter_map(|id| self.bench.state.observation(*id));
        let mut done = known.filter(|known| known.observed.step.is_none());
        let Some(found) = done.nth(self.chores) else { return Err(Box::new(Move::Chore(chore))) };
        if found.observed.what != chore.what() {
            return Err(self.failed("what was read before does not lead to what was done then; ask again"));
        }
        let Some(text) = self.bench.evidence.text(&found.observed.digest.to_string()) else {
            return Err(self.failed(&format!("the text of {} is gone", found.observed.id)));
        };
        self.chores += 1;
        self.seen.push(found.observed.id);
        self.now = self.now.max(found.at);
        Ok(text)
    }

    /// Goes on at a moment.
    ///
    /// # Errors
    /// Returns the wait, where the moment has not come yet.
    pub(super) fn wait(&mut self, until: Timestamp) -> Result<(), Box<Move>> {
        // Whatever is recorded behind it happened when it was over.
        if until > self.bench.now && self.recorded().is_none() && !self.is_chore_left() {
            return Err(Box::new(Move::Wait(until)));
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// Returns the observations that the walk has used so far, in order.
    pub(super) fn seen(&self) -> Vec<ObservationId> {
        // What was made of commands shows more than they do: the last of it first.
        let made = |id: &ObservationId| {
            self.bench.state.observation(*id).is_some_and(|known| known.observed.step.is_none())
        };
        let (mut chores, commands): (Vec<_>, Vec<_>) = self.seen.iter().copied().partition(made);
        chores.reverse();
        chores.extend(commands);
        chores
    }

    /// Returns those of them that earlier calls made.
    pub(super) fn known_before(&self) -> Vec<ObservationId> {
        self.known.clone()
    }

    fn recorded(&self) -> Option<&'a Step> {
        self.bench.call.steps.get(self.at).and_then(|id| self.bench.state.step(*id))
    }

    fn is_chore_left(&self) -> bool {
        let observations = self.bench.call.observations.iter();
        let known = observations.filter_map(|id| self.bench.state.observation(*id));
        known.filter(|known| known.observed.step.is_none()).count() > self.chores
    }

    fn failed(&self, why: &str) -> Box<Move> {
        let content = json!({ "status": "failed", "reason": why, "observations": self.seen });
        Box::new(Move::Return(Box::new(Outcome { is_error: true, ..Outcome::of(content) })))
    }
}
