//! The captures of a session, each made again from the calls that belong to it.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::order::{self, CAPTURE};
use super::purpose::malformed;
use super::walk::Walked;
use crate::state::{CallState, State as Session};
use crate::tool::errand::Trail;
use crate::tool::{Bench, Move, Site};
use ghost_base::Timestamp;
use ghost_cloud::capture::{CaptureTask, State};

/// The name of the tool that cancels.
pub(super) const CANCEL: &str = "cancel_task";
/// The name of the tool that cleans up.
pub(super) const CLEANUP: &str = "cleanup_task";

/// What begins a capture, in a command.
const BEGINS: &str = "packet-capture create";

/// Says whether a call got so far that there is a capture of it.
fn is_capture(call: &CallState) -> bool {
    call.call.tool == CAPTURE && !call.steps.is_empty()
}

/// Returns the calls before this one, oldest first.
fn before<'a>(bench: &Bench<'a>) -> impl Iterator<Item = &'a CallState> {
    let own = bench.call.call.id.clone();
    bench.state.calls().take_while(move |call| call.call.id != own)
}

/// Returns when a call was made.
pub(super) fn made(state: &Session, call: &CallState) -> Timestamp {
    let turn = state.turns().rev().find(|turn| turn.calls.iter().any(|one| one.call.id == call.call.id));
    turn.map_or(state.opened_at, |turn| turn.at)
}

fn is_about(call: &CallState, id: &str) -> bool {
    call.call.arguments.get("task_id").and_then(Value::as_str) == Some(id)
}

/// Makes the capture of a call, at its beginning.
pub(super) fn fresh(
    arguments: &Map<String, Value>,
    bench: &Bench<'_>,
    site: &Site,
) -> Result<Walked, Box<Move>> {
    let order = order::order(&order::read(arguments)?, bench, site)?;
    let earlier = before(bench).filter(|call| is_capture(call)).count();
    let number = u32::try_from(earlier).unwrap_or(u32::MAX).saturating_add(1);
    let task = CaptureTask::new(bench.state.session.clone(), number, order, made(bench.state, bench.call));
    task.map(Walked::new).map_err(|error| malformed(error.to_string()))
}

/// Makes a capture again from all that was recorded before this call.
pub(super) fn rebuilt(id: &str, bench: &Bench<'_>, site: &Site) -> Result<Walked, Box<Move>> {
    let calls: Vec<&CallState> = before(bench).collect();
    let mut captures = calls.iter().filter(|call| is_capture(call));
    let number = id.strip_prefix(bench.state.session.as_str()).and_then(|rest| rest.strip_prefix('-'));
    let number = number.and_then(|number| number.parse::<usize>().ok()).filter(|number| *number > 0);
    let own = number.and_then(|number| captures.nth(number - 1));
    let Some((own, arguments)) = own.and_then(|own| Some((*own, own.call.arguments.as_object()?))) else {
        let count = calls.iter().filter(|call| is_capture(call)).count();
        let known: Vec<String> =
            (1..=count).map(|number| format!("{}-{number}", bench.state.session)).collect();
        let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
        let asked: String = id.chars().take(80).collect();
        return Err(malformed(format!("this session has no capture {asked:?}; its captures: {known}")));
    };
    let past = |call| Bench { call, ..*bench };
    let mut walked = fresh(arguments, &past(own), site)?;
    // Where its record ends, it stays as it is.
    let _ = walked.along(&mut Trail::new(&past(own), None));
    let later = calls.iter().skip_while(|call| call.call.id != own.call.id).skip(1);
    for call in later.filter(|call| is_about(call, id)) {
        walked.call(made(bench.state, call));
        if say(&call.call.tool, &mut walked) {
            let _ = walked.along(&mut Trail::new(&past(call), None));
        }
    }
    walked.call(made(bench.state, bench.call));
    Ok(walked)
}

/// Tells the capture what a tool wants of it; `false` where that is nothing.
pub(super) fn say(tool: &str, walked: &mut Walked) -> bool {
    let over = walked.task.state().is_over();
    match tool {
        CANCEL if !over => walked.task.cancel(),
        CLEANUP if over && walked.remains() => walked.task.clean_up(),
        _ => return false,
    }
    true
}

/// Returns the captures of the session that may still be under way in the cloud, by their names: an investigation does not end
/// before they do.
#[must_use]
pub fn running_tasks(bench: &Bench<'_>) -> Vec<String> {
    let calls: Vec<&CallState> = before(bench).collect();
    let mut running = Vec::new();
    for (at, capture) in calls.iter().filter(|call| is_capture(call)).enumerate() {
        let id = format!("{}-{}", bench.state.session, at + 1);
        let begun = capture.steps.iter().filter_map(|step| bench.state.step(*step)).any(|step| {
            let ran =
                step.outcome_unknown || step.done.as_ref().is_none_or(|done| done.duration_ms.is_some());
            ran && step.current().contains(BEGINS)
        });
        // The last call that told how far it is, tells how far it is.
        let told = calls.iter().rev().filter(|call| call.call.id == capture.call.id || is_about(call, &id));
        if begun && !told.filter_map(|call| over(call)).next().unwrap_or(false) {
            running.push(id);
        }
    }
    running
}

/// Says whether a capture was over when a call returned; `None` where the call does not tell.
fn over(call: &CallState) -> Option<bool> {
    let content: Value = serde_json::from_str(&call.returned.as_ref()?.content).ok()?;
    State::deserialize(content.get("state")?).ok().map(State::is_over)
}
