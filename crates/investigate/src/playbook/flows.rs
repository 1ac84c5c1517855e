//! The flows that people complain about, as `check_path` judged them.

use serde_json::Value;

use crate::judged::{self, JudgedFlow, JudgedFlows};
use crate::playbook::story::{Done, Ending, Story};

/// The tool that judges flows.
pub(super) const TOOL: &str = judged::TOOL;

/// Returns what the last judgement of complaints found; `None` where there was none.
pub(super) fn judgement(story: &Story) -> Option<JudgedFlows> {
    let completed = |done: &&Done| {
        done.ending == Ending::Completed && judged::is_of_complaints(&Value::Object(done.arguments.clone()))
    };
    let last = story.calls(TOOL).rfind(completed);
    last.and_then(|done| JudgedFlows::of_result(&done.result))
}

/// Returns the flows of that judgement.
pub(super) fn judged(story: &Story) -> Vec<JudgedFlow> {
    judgement(story).unwrap_or_default().flows
}
