//! A call of the model: its tool is asked for the next action, again after each command.

use serde_json::Value;

use crate::HypothesisState;
use crate::decision::confirm::{LOOK_AGAIN, LookAgain, look_again};
use crate::decision::{DecisionContext, Effect};
use crate::event::{Event, HypothesisSet, ObservationId, Observed, Proposed, Refusal, Returned, StepId};
use crate::gate::advised;
use crate::state::{CallState, State, Step};
use crate::tool::{CallContext, CallResult, FileTask, ProposedCommand, Reads, ToolAction, evidence_source};
use ghost_base::{Digest, Timestamp};

/// After this many denials a hypothesis cannot be tested.
const MAX_DENIALS: u32 = 3;
/// Limits the result of a call, whatever a tool returns.
const MAX_RESULT_BYTES: usize = 256 * 1024;

/// Returns what to do next for a call whose commands are all over.
pub(super) fn advance(
    state: &State,
    call: &CallState,
    context: &DecisionContext<'_>,
    now: Timestamp,
) -> Effect {
    if let Some(observed) = unobserved(state, call) {
        return Effect::Record(vec![Event::Observed(observed)]);
    }
    let ended = state.end_request.is_some() || state.budget_spent.is_some();
    if ended && call.steps.is_empty() {
        return finish(state, call, CallResult::refuse(Refusal::Ended, "the session is ending"));
    }
    let Some(tool) = context.tools.find(&call.call.tool) else {
        let reason = format!("there is no tool {:?}; there are: {}", call.call.tool, context.tools.names());
        return finish(state, call, CallResult::refuse(Refusal::Malformed, reason));
    };
    let Value::Object(arguments) = &call.call.arguments else {
        let reason = "the arguments are no JSON object".to_owned();
        return finish(state, call, CallResult::refuse(Refusal::Malformed, reason));
    };
    let context_of_call =
        CallContext { state, call, evidence: context.evidence, tools: context.tools, now, reads: Reads::New };
    match tool.advance(arguments, &context_of_call) {
        ToolAction::Run(_) | ToolAction::RunAll(_) if state.hypotheses.is_empty() => {
            let reason =
                "the board is empty: put hypotheses on it with manage_hypotheses before any diagnostic";
            finish(state, call, CallResult::refuse(Refusal::EmptyBoard, reason))
        }
        ToolAction::Run(_) | ToolAction::RunAll(_) | ToolAction::Wait(_) if ended => {
            finish(state, call, CallResult::refuse(Refusal::Ended, "the session is ending"))
        }
        // One turn can call more than the rest of the budget. What has begun is completed.
        ToolAction::Run(_) | ToolAction::RunAll(_)
            if call.steps.is_empty() && state.spent.commands >= state.limits.commands =>
        {
            let reason = format!("the budget of {} commands is spent", state.limits.commands);
            finish(state, call, CallResult::refuse(Refusal::Ended, reason))
        }
        ToolAction::Run(command) => propose(state, call, &call.call.tool, vec![*command], context),
        ToolAction::RunAll(commands) => propose(state, call, &call.call.tool, commands, context),
        ToolAction::FileTask(task) => Effect::FileTask { call: call.call.id.clone(), task },
        ToolAction::Wait(until) => Effect::Wait { until: Some(until) },
        ToolAction::Return(mut outcome) => {
            match look_again(state, call, context) {
                Some(LookAgain::Read(command)) => {
                    return propose(state, call, LOOK_AGAIN, vec![*command], context);
                }
                Some(LookAgain::Over(checked)) => {
                    return Effect::Record(vec![Event::ForecastChecked(checked)]);
                }
                None => {}
            }
            outcome.events = advised(std::mem::take(&mut outcome.events), state, context.policy);
            finish(state, call, *outcome)
        }
    }
}

/// Says what a call still has to clear up behind the report; nothing where it left nothing.
pub(super) fn behind_report(
    state: &State,
    call: &CallState,
    context: &DecisionContext<'_>,
    now: Timestamp,
) -> Option<Effect> {
    let Value::Object(arguments) = &call.call.arguments else { return None };
    let tool = context.tools.find(&call.call.tool)?;
    call.returned.as_ref()?;
    let context_of_call =
        CallContext { state, call, evidence: context.evidence, tools: context.tools, now, reads: Reads::New };
    let action = tool.behind_report(arguments, &context_of_call)?;
    if let Some(observed) = unobserved(state, call) {
        return Some(Effect::Record(vec![Event::Observed(observed)]));
    }
    match action {
        ToolAction::Run(command) => Some(propose(state, call, &call.call.tool, vec![*command], context)),
        ToolAction::RunAll(commands) => Some(propose(state, call, &call.call.tool, commands, context)),
        ToolAction::FileTask(task) => Some(Effect::FileTask { call: call.call.id.clone(), task }),
        ToolAction::Wait(until) => Some(Effect::Wait { until: Some(until) }),
        ToolAction::Return(_) => None,
    }
}

/// Returns the evidence of the first command that has none recorded yet.
fn unobserved(state: &State, call: &CallState) -> Option<Observed> {
    let steps = call.steps.iter().filter_map(|id| state.step(*id));
    let seen = |step: &Step| state.observations.iter().any(|known| known.observed.step == Some(step.id));
    let step = steps.into_iter().find(|step| ran(step) && !seen(step))?;
    let done = step.done.as_ref()?;
    let kept = done.evidence.as_deref().and_then(|digest| digest.parse::<Digest>().ok());
    let bytes = done.output_facts().stdout.total_bytes;
    Some(Observed {
        id: next_observation(state),
        call: call.call.id.clone(),
        step: Some(step.id),
        tool: call.call.tool.clone(),
        what: step.current().to_owned(),
        source: evidence_source(step.current()),
        digest: kept.unwrap_or_else(|| Digest::of(&done.output)),
        bytes: bytes.unwrap_or_else(|| u64::try_from(done.output.len()).unwrap_or(u64::MAX)),
    })
}

fn next_observation(state: &State) -> ObservationId {
    ObservationId(u32::try_from(state.observations.len()).unwrap_or(u32::MAX).saturating_add(1))
}

/// Returns what is recorded of a file task: its text is stored under a digest.
#[must_use]
pub fn observed_file_task(
    state: &State,
    call: &CallState,
    task: &FileTask,
    digest: Digest,
    bytes: u64,
) -> Observed {
    Observed {
        id: next_observation(state),
        call: call.call.id.clone(),
        step: None,
        tool: call.call.tool.clone(),
        what: task.what(),
        source: task.source(),
        digest,
        bytes,
    }
}

/// Tells whether a command ran, so that it showed something: a failure and a timeout show something, too.
fn ran(step: &Step) -> bool {
    step.done.as_ref().is_some_and(|done| {
        done.status == "completed" || matches!(done.error.as_deref(), Some("timeout" | "canceled"))
    })
}

fn propose(
    state: &State,
    call: &CallState,
    tool: &str,
    commands: Vec<ProposedCommand>,
    context: &DecisionContext<'_>,
) -> Effect {
    let mut events = Vec::new();
    let first = u32::try_from(state.steps.len()).unwrap_or(u32::MAX).saturating_add(1);
    for (step, command) in (first..).map(StepId).zip(commands) {
        let ProposedCommand { command, reasoning, hypothesis, script, plan } = command;
        let judged = super::command::judge(state, step, 1, (&command, script.as_ref()), context);
        let (call, tool) = (call.call.id.clone(), tool.to_owned());
        let proposed = Proposed { step, call, tool, command, reasoning, hypothesis, script, plan };
        events.extend([Event::Proposed(proposed), Event::Classified(judged)]);
    }
    Effect::Record(events)
}

fn finish(state: &State, call: &CallState, outcome: CallResult) -> Effect {
    let CallResult { content, is_error, refused, mut events } = outcome;
    let mut content = content.to_string();
    if content.len() > MAX_RESULT_BYTES {
        content = r#"{"status":"error","reason":"the result is too long"}"#.to_owned();
    }
    let returned =
        Returned { call: call.call.id.clone(), tool: call.call.tool.clone(), content, is_error, refused };
    events.extend(given_up(state));
    events.push(Event::Returned(returned));
    Effect::Record(events)
}

/// Gives up on hypotheses whose commands were denied too often.
fn given_up(state: &State) -> Vec<Event> {
    let denied = state.active().filter(|hypothesis| hypothesis.denials >= MAX_DENIALS);
    denied
        .map(|hypothesis| {
            Event::HypothesisSet(HypothesisSet {
                id: hypothesis.id.clone(),
                description: None,
                state: HypothesisState::Unverifiable,
                by: "code".to_owned(),
                why: Some(format!("{} of its commands were denied", hypothesis.denials)),
            })
        })
        .collect()
}
