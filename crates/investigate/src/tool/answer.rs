//! What came of a recorded command, as errands hear it.

use serde_json::Value;

use crate::event::Done;
use crate::state::Step;
use crate::tool::Bench;
use ghost_cloud::operation::CommandOutcome;

/// Reads the end of a command. Its output is the whole one: a clipped text would be taken for something else.
pub(super) fn answer(bench: &Bench<'_>, step: &Step, done: &Done) -> CommandOutcome {
    let reason = done.reason.clone();
    if done.modified_command.is_some() {
        return CommandOutcome::Unknown { reason: "another command was run in its place".to_owned() };
    }
    match (done.status.as_str(), done.error.as_deref()) {
        ("completed", _) => ran(bench, done),
        // It was cut off before, and a no to running it once more does not tell how far it came.
        _ if step.outcome_unknown => CommandOutcome::Unknown { reason },
        ("denied", _) => CommandOutcome::Denied { reason, all: bench.state.denied_as_plan(step) },
        (_, Some("blocked" | "empty_command")) => CommandOutcome::Refused { reason },
        (_, Some("spawn_failed")) if done.stderr.trim().is_empty() => CommandOutcome::NotRun { reason },
        (_, Some("spawn_failed")) => CommandOutcome::NotRun { reason: done.stderr.trim().to_owned() },
        (_, Some("audit_failed")) if done.duration_ms.is_none() => CommandOutcome::NotRun { reason },
        (_, Some("timeout")) => CommandOutcome::Unknown { reason: "it took too long".to_owned() },
        (_, Some("canceled")) => CommandOutcome::Unknown { reason: "it was interrupted".to_owned() },
        (_, _) => CommandOutcome::Unknown { reason },
    }
}

fn ran(bench: &Bench<'_>, done: &Done) -> CommandOutcome {
    let Some(exit) = done.exit_code else {
        return CommandOutcome::Unknown { reason: "a signal ended it".to_owned() };
    };
    let whole = done.evidence.as_deref().and_then(|digest| bench.evidence.text(digest));
    let clipped = done.output_metadata.pointer("/stdout/applied").and_then(Value::as_bool).unwrap_or(false);
    let stdout = match whole {
        Some(text) => text,
        None if clipped => {
            return CommandOutcome::Unknown { reason: "its whole output could not be kept".to_owned() };
        }
        None => done.output.clone(),
    };
    CommandOutcome::Ran { exit: Some(exit), stdout, stderr: done.stderr.clone() }
}
