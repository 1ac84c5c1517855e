//! The flows that people complain about, as `check_path` judged them.

use serde_json::Value;

use crate::judged::{self, JudgedFlows};
use crate::playbook::conversation::{CallEnding, Conversation, FinishedCall};

/// The tool that judges flows.
pub(super) const TOOL: &str = judged::TOOL;

/// Returns what the last judgement of complaints found; `None` where there was none.
pub(super) fn judgement(conversation: &Conversation) -> Option<JudgedFlows> {
    let completed = |finished: &&FinishedCall| {
        finished.ending == CallEnding::Completed
            && judged::is_of_complaints(&Value::Object(finished.arguments.clone()))
    };
    let last = conversation.calls(TOOL).rfind(completed);
    last.and_then(|finished| JudgedFlows::of_result(&finished.result))
}
