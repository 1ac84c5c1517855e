//! An operation over the commands of a call, replayed from the record each time, so that it continues wherever it was interrupted.

use std::time::Duration;

use serde_json::json;

use crate::event::{Done, ObservationId, RECHECK_PROVIDER};
use crate::state::{CallState, Entry, State, Step};
use crate::tool::{CallContext, CallResult, DeclaredScript, FileTask, ProposedCommand, Reads, ToolAction};
use ghost_base::Timestamp;
use ghost_cloud::operation::{CommandKind, CommandOutcome, CommandRequest, Next, Operation};
use ghost_shell::script_line;

/// What a call has done so far, read from its record in order. A tool is written straight through, with `?` behind each operation:
/// where the record ends, the next action is returned in place of a result.
///
/// The time of the replay comes from the record alone: the turn that made the call, then the end of each command, of each file task
/// and of each wait. So the same record replays identically at any time and in any process.
pub(super) struct CallReplay<'a, 'b> {
    context: &'a CallContext<'b>,
    hypothesis: Option<String>,
    /// How many of the call's commands were used by the operations before.
    at: usize,
    /// How many of its file tasks were.
    file_tasks: usize,
    now: Timestamp,
    observed: Vec<ObservationId>,
    /// Those of them that earlier calls made.
    reused: Vec<ObservationId>,
    /// Whether somebody reads the result, and not only what it supports.
    is_read: bool,
}

/// A result, and the observation that shows it, where something was shown.
pub(super) type ShownResult<T> = (T, Option<ObservationId>);

impl<'a, 'b> CallReplay<'a, 'b> {
    /// Begins at the call's first command.
    pub(super) fn new(context: &'a CallContext<'b>, hypothesis: Option<String>) -> Self {
        let ours =
            |turn: &&crate::state::Turn| turn.calls.iter().any(|call| call.call.id == context.call.call.id);
        let now = context.state.turns().rev().find(ours).map_or(context.state.opened_at, |turn| turn.at);
        Self {
            context,
            hypothesis,
            at: 0,
            file_tasks: 0,
            now,
            observed: Vec::new(),
            reused: Vec::new(),
            is_read: true,
        }
    }

    /// Reads only what the record supports: what nothing rests on need not be worked out.
    pub(super) fn silent(self) -> Self {
        Self { is_read: false, ..self }
    }

    /// Tells whether somebody reads the result.
    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    pub(super) fn context(&self) -> &'a CallContext<'b> {
        self.context
    }

    /// Returns the time as of the replay.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Runs an operation along the record.
    ///
    /// # Errors
    /// Returns what is to be done next, where the operation is not over yet.
    pub(super) fn run<E: Operation>(&mut self, operation: &mut E) -> Result<E::Result, Box<ToolAction>> {
        self.drive(operation, Self::request)
    }

    /// Runs operations along the record, side by side: none needs the result of another. Their results come in their order, each with the
    /// observation of its last command, where that one showed something.
    ///
    /// # Errors
    /// Returns what is to be done next, where they are not all over yet.
    pub(super) fn run_all<E: Operation>(
        &mut self,
        operations: &mut [E],
    ) -> Result<Vec<ShownResult<E::Result>>, Box<ToolAction>> {
        let mut observed: Vec<Option<ObservationId>> = vec![None; operations.len()];
        loop {
            let (mut results, mut wanted, mut until) = (Vec::new(), Vec::new(), None::<Timestamp>);
            let mut answers = Vec::new();
            for (at, operation) in operations.iter().enumerate() {
                match operation.next(self.now) {
                    Next::Over(result) => results.push(result),
                    Next::Wait { until: own, .. } => until = Some(until.map_or(own, |other| other.min(own))),
                    Next::Run(request) => {
                        let before = self.observed.len();
                        match self.request(&request).map_err(|action| *action) {
                            Ok(answer) => {
                                let own = self.observed.get(before..).and_then(|own| own.last().copied());
                                answers.push((at, answer, own));
                            }
                            Err(ToolAction::Run(command)) => wanted.push(*command),
                            Err(other) => return Err(Box::new(other)),
                        }
                    }
                }
            }
            if wanted.len() > 1 {
                return Err(Box::new(ToolAction::RunAll(wanted)));
            }
            if let Some(only) = wanted.pop() {
                return Err(Box::new(ToolAction::Run(Box::new(only))));
            }
            if results.len() == operations.len() {
                return Ok(results.into_iter().zip(observed).collect());
            }
            if answers.is_empty() {
                self.wait(until.unwrap_or(self.now))?;
            }
            for (at, (answer, ended), own) in answers {
                if let Some(operation) = operations.get_mut(at) {
                    operation.on_result(&answer, ended);
                }
                if let Some(place) = observed.get_mut(at) {
                    *place = own;
                }
            }
        }
    }

    /// Runs an operation that lists the surroundings: what the session read a moment ago is not read again.
    ///
    /// # Errors
    /// Returns what is to be done next, where the operation is not over yet.
    pub(super) fn run_or_reuse<E: Operation>(
        &mut self,
        operation: &mut E,
    ) -> Result<E::Result, Box<ToolAction>> {
        self.drive(operation, |replay, request| match replay.reuse(request) {
            Some(answer) => Ok((answer, replay.now)),
            None => replay.request(request),
        })
    }

    fn drive<E: Operation>(
        &mut self,
        operation: &mut E,
        result_of: impl Fn(&mut Self, &CommandRequest) -> Result<(CommandOutcome, Timestamp), Box<ToolAction>>,
    ) -> Result<E::Result, Box<ToolAction>> {
        loop {
            match operation.next(self.now) {
                Next::Run(request) => {
                    let (answer, at) = result_of(self, &request)?;
                    operation.on_result(&answer, at);
                }
                Next::Wait { until, .. } => self.wait(until)?,
                Next::Over(result) => return Ok(result),
            }
        }
    }

    /// Returns what an earlier call read by the same line. What the call ran itself is its own answer, so that the record
    /// replays identically each time.
    fn reuse(&mut self, request: &CommandRequest) -> Option<CommandOutcome> {
        if self.context.reads == Reads::Recorded {
            return None;
        }
        let CommandKind::Line(line) = &request.what else { return None };
        let command = line.text();
        if self.recorded().is_some_and(|own| own.command.trim() == command.trim()) {
            return None;
        }
        let step = recent_read(self.context.state, self.context.call, &command, self.now)?;
        let answer = outcome_of(self.context, step, step.done.as_ref()?);
        // What is not whole any more is read once more.
        if !matches!(answer, CommandOutcome::Ran { .. }) {
            return None;
        }
        let mut observed = self.context.state.observations.iter().map(|one| &one.observed);
        let id = observed.find(|observed| observed.step == Some(step.id))?.id;
        self.observed.push(id);
        self.reused.push(id);
        Some(answer)
    }

    /// Returns the result of a request, and when it ended.
    ///
    /// # Errors
    /// Returns the request as an action, where it was not carried out yet.
    pub(super) fn request(
        &mut self,
        request: &CommandRequest,
    ) -> Result<(CommandOutcome, Timestamp), Box<ToolAction>> {
        let (command, script) = match &request.what {
            CommandKind::Line(line) => (line.text(), None),
            CommandKind::Script { carrier, script, variables } => {
                let variables: Vec<(String, String)> =
                    variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
                let carrier = carrier.words().to_vec();
                let line = script_line(&carrier, script, &variables)
                    .map_err(|error| self.failed(&format!("the script cannot be run: {error}")))?;
                (line, Some(DeclaredScript { carrier, script: (*script).to_owned(), variables }))
            }
        };
        self.command_result(command, script, &request.why, &request.plan)
    }

    /// Returns the result of a command, and when it ended. `plan` is all that one consent covers, this one among them.
    ///
    /// # Errors
    /// Returns the command as an action, where it did not run yet.
    pub(super) fn command(
        &mut self,
        command: &str,
        why: &str,
        plan: &[String],
    ) -> Result<(CommandOutcome, Timestamp), Box<ToolAction>> {
        self.command_result(command.to_owned(), None, why, plan)
    }

    fn command_result(
        &mut self,
        command: String,
        script: Option<DeclaredScript>,
        why: &str,
        plan: &[String],
    ) -> Result<(CommandOutcome, Timestamp), Box<ToolAction>> {
        if self.context.reads == Reads::Recorded {
            return Ok((self.read_before(&command, script.as_ref()), self.now));
        }
        let Some(step) = self.recorded() else {
            let hypothesis = self.hypothesis.clone();
            let (reasoning, plan) = (why.to_owned(), plan.to_vec());
            return Err(Box::new(ToolAction::Run(Box::new(ProposedCommand {
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
            return Err(Box::new(ToolAction::Wait(self.context.now)));
        };
        let observed = |id: &&ObservationId| {
            self.context.state.observation(**id).is_some_and(|known| known.observed.step == Some(step.id))
        };
        self.observed.extend(self.context.call.observations.iter().find(observed).copied());
        self.at += 1;
        self.now = self.now.max(at);
        Ok((outcome_of(self.context, step, done), self.now))
    }

    /// Returns what the session read by the same command, the last time.
    fn read_before(&mut self, command: &str, script: Option<&DeclaredScript>) -> CommandOutcome {
        let state = self.context.state;
        let same = |step: &&Step| {
            step.script.as_ref() == script && step.current().trim() == command.trim() && is_read(step)
        };
        let Some((step, done)) =
            state.steps.iter().rev().find(same).and_then(|step| Some((step, step.done.as_ref()?)))
        else {
            return CommandOutcome::NotRun { reason: "it was not read in this session".to_owned() };
        };
        let mut observed = state.observations.iter().map(|one| &one.observed);
        self.observed
            .extend(observed.find(|observed| observed.step == Some(step.id)).map(|observed| observed.id));
        outcome_of(self.context, step, done)
    }

    /// Returns the result of a file task.
    ///
    /// # Errors
    /// Returns the task as an action, where it was not done yet.
    pub(super) fn file_task(&mut self, task: FileTask) -> Result<String, Box<ToolAction>> {
        if self.context.reads == Reads::Recorded {
            return Err(self.failed("it was not done in this session"));
        }
        let observations = self.context.call.observations.iter();
        let known = observations.filter_map(|id| self.context.state.observation(*id));
        let mut done = known.filter(|known| known.observed.step.is_none());
        let Some(found) = done.nth(self.file_tasks) else { return Err(Box::new(ToolAction::FileTask(task))) };
        if found.observed.what != task.what() {
            return Err(self.failed("what was read before does not lead to what was done then; ask again"));
        }
        let Some(text) = self.context.evidence.text(&found.observed.digest.to_string()) else {
            return Err(self.failed(&format!("the text of {} is gone", found.observed.id)));
        };
        self.file_tasks += 1;
        self.observed.push(found.observed.id);
        self.now = self.now.max(found.at);
        Ok(text)
    }

    /// Continues at a moment.
    ///
    /// # Errors
    /// Returns the wait, where the moment has not come yet.
    pub(super) fn wait(&mut self, until: Timestamp) -> Result<(), Box<ToolAction>> {
        // Whatever is recorded behind it happened when it was over.
        if self.context.reads == Reads::New
            && until > self.context.now
            && self.recorded().is_none()
            && !self.is_file_task_left()
        {
            return Err(Box::new(ToolAction::Wait(until)));
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// Returns the observations that were used so far: the results of file tasks first, the latest of them first.
    pub(super) fn observations(&self) -> Vec<ObservationId> {
        // What file tasks made of commands shows more than the commands do.
        let made = |id: &ObservationId| {
            self.context.state.observation(*id).is_some_and(|known| known.observed.step.is_none())
        };
        let (mut file_tasks, commands): (Vec<_>, Vec<_>) = self.observed.iter().copied().partition(made);
        file_tasks.reverse();
        file_tasks.extend(commands);
        file_tasks
    }

    /// Returns those of the observations that earlier calls made.
    pub(super) fn reused(&self) -> Vec<ObservationId> {
        self.reused.clone()
    }

    /// Tells whether the record holds another command.
    pub(super) fn has_more(&self) -> bool {
        self.recorded().is_some()
    }

    fn recorded(&self) -> Option<&'a Step> {
        self.context.call.steps.get(self.at).and_then(|id| self.context.state.step(*id))
    }

    fn is_file_task_left(&self) -> bool {
        let observations = self.context.call.observations.iter();
        let known = observations.filter_map(|id| self.context.state.observation(*id));
        known.filter(|known| known.observed.step.is_none()).count() > self.file_tasks
    }

    fn failed(&self, why: &str) -> Box<ToolAction> {
        let content = json!({ "status": "failed", "reason": why, "observations": self.observed });
        Box::new(ToolAction::Return(Box::new(CallResult {
            is_error: true,
            ..CallResult::completed(content)
        })))
    }
}

/// Reads the end of a command. Its output is the whole one: a clipped text would be taken for something else.
pub(super) fn outcome_of(context: &CallContext<'_>, step: &Step, done: &Done) -> CommandOutcome {
    let reason = done.reason.clone();
    if done.modified_command.is_some() {
        return CommandOutcome::Unknown { reason: "another command was run in its place".to_owned() };
    }
    match (done.status.as_str(), done.error.as_deref()) {
        ("completed", _) => ran(context, done),
        // It was interrupted before, and a denial to run it again does not show how far it got.
        _ if step.outcome_unknown => CommandOutcome::Unknown { reason },
        ("denied", _) => CommandOutcome::Denied { reason, all: context.state.denied_as_plan(step) },
        (_, Some("blocked" | "empty_command")) => CommandOutcome::Refused { reason },
        (_, Some("spawn_failed")) if done.stderr.trim().is_empty() => CommandOutcome::NotRun { reason },
        (_, Some("spawn_failed")) => CommandOutcome::NotRun { reason: done.stderr.trim().to_owned() },
        (_, Some("audit_failed")) if done.duration_ms.is_none() => CommandOutcome::NotRun { reason },
        (_, Some("timeout")) => CommandOutcome::Unknown { reason: "it took too long".to_owned() },
        (_, Some("canceled")) => CommandOutcome::Unknown { reason: "it was interrupted".to_owned() },
        (_, _) => CommandOutcome::Unknown { reason },
    }
}

fn ran(context: &CallContext<'_>, done: &Done) -> CommandOutcome {
    let Some(exit) = done.exit_code else {
        return CommandOutcome::Unknown { reason: "a signal ended it".to_owned() };
    };
    let whole = done.evidence.as_deref().and_then(|digest| context.evidence.text(digest));
    let clipped = done.output_facts().stdout.applied;
    let stdout = match whole {
        Some(text) => text,
        None if clipped => {
            return CommandOutcome::Unknown { reason: "its whole output could not be kept".to_owned() };
        }
        None => done.output.clone(),
    };
    CommandOutcome::Ran { exit: Some(exit), stdout, stderr: done.stderr.clone() }
}

/// A list of resources is reused for this long.
const MAX_LIST_AGE: Duration = Duration::from_secs(120);

/// Returns the step of a call before this one that read the same.
fn recent_read<'a>(state: &'a State, call: &CallState, command: &str, now: Timestamp) -> Option<&'a Step> {
    let is_fresh = |step: &&Step| {
        let consented = !step.consents.is_empty() || step.outcome_unknown;
        !consented && step.done_at.is_some_and(|at| now.since(at) <= MAX_LIST_AGE)
    };
    let mut fresh = steps_before(state, &call.call.id).take_while(is_fresh);
    fresh.find(|step| step.script.is_none() && step.current().trim() == command.trim() && is_read(step))
}

fn is_read(step: &Step) -> bool {
    let whole = step.done.as_ref().is_some_and(|done| done.exit_code == Some(0));
    step.is_completed() && whole
}

/// Returns the steps of the calls before a call, the latest first, back to where somebody spoke.
fn steps_before<'a>(state: &'a State, call: &str) -> impl Iterator<Item = &'a Step> {
    let mut calls: Vec<&CallState> = Vec::new();
    for entry in &state.entries {
        match entry {
            Entry::Message { .. } => calls.clear(),
            Entry::Note { .. } => {}
            Entry::Turn(turn) => {
                // What was fixed is looked at as it is now.
                if turn.investigator.provider == RECHECK_PROVIDER {
                    calls.clear();
                }
                if turn.calls.iter().any(|one| one.call.id == call) {
                    calls.extend(turn.calls.iter().take_while(|one| one.call.id != call));
                    break;
                }
                calls.extend(&turn.calls);
            }
        }
    }
    calls.into_iter().rev().flat_map(|call| call.steps.iter().rev()).filter_map(|id| state.step(*id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, HumanMessage, Instruction, Reply};
    use crate::report::tests::Ledger;

    const LIST: &str = "az vm list -g rg -o json";

    /// A session in which the first call has run something, and the second one is open.
    fn read(command: &str, status: &str, between: impl Fn(&mut Ledger)) -> bool {
        let mut ledger = Ledger::open("8080 hangs");
        ledger.turn(0, &["c1"], None);
        ledger.propose(1, "c1", command, "H1", "SAFE");
        ledger.run(1, None);
        ledger.done(1, status, "executed", "");
        between(&mut ledger);
        ledger.turn(1, &["c2"], None);
        let state = ledger.state();
        let call = state.call_named("c2").unwrap();
        recent_read(&state, call, LIST, ledger.now).is_some()
    }

    #[test]
    fn what_was_listed_a_moment_ago_is_known() {
        assert!(read(LIST, "completed", |_| {}));
        assert!(!read("az vm list -g other -o json", "completed", |_| {}));
        assert!(!read(LIST, "error", |_| {}), "a failure says nothing");
        assert!(!read(LIST, "completed", |ledger| ledger.wait(120)), "nothing holds for ever");
    }

    #[test]
    fn what_somebody_said_or_consented_to_may_have_changed_it() {
        let said = |ledger: &mut Ledger| {
            let (who, text) = ("ben".to_owned(), "I moved the machine".to_owned());
            ledger.add(Event::HumanMessage(HumanMessage { who, text, instruction: Instruction::Steer }));
        };
        assert!(!read(LIST, "completed", said));
        let changed = |ledger: &mut Ledger| {
            ledger.turn(1, &["c1b"], None);
            ledger.propose(2, "c1b", "az network nsg rule delete -g rg", "H1", "RISKY");
            ledger.ask("a1", 2, 1);
            ledger.answer("a1", 2, "ben", Reply::Approve);
            ledger.run(2, Some("a1"));
            ledger.done(2, "completed", "executed", "");
        };
        assert!(!read(LIST, "completed", changed));
    }
}
