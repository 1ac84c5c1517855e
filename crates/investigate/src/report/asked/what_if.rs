//! What becomes of another connection than the one that was asked about, judged on what the session read.
//!
//! Goes in: the record of a session, and a connection by the names of its ends. Comes out: its judgement. Never: a new read; what was not
//! read leaves the judgement open.

use serde_json::{Value, json};

use crate::judged::{JudgedFlow, JudgedFlows, TOOL};
use crate::model::Call;
use crate::state::CallState;
use crate::tool::{CallContext, Reads, ToolAction};

use super::Recorded;
use super::wanted::Wanted;

/// Judges a connection on what was recorded; `None` where that cannot be done, as an end is not known there.
pub(super) fn judge(recorded: &Recorded<'_>, wanted: &Wanted) -> Option<JudgedFlow> {
    let tool = recorded.tools.find(TOOL)?;
    let mut arguments = json!({
        "reasoning": "a question behind the answer",
        "source": wanted.source, "destination": wanted.destination, "protocol": wanted.protocol,
    });
    if let (Some(port), Some(fields)) = (wanted.port, arguments.as_object_mut()) {
        fields.insert("port".to_owned(), port.into());
    }
    let call = CallState {
        call: Call { id: "asked".to_owned(), tool: TOOL.to_owned(), arguments: arguments.clone() },
        steps: Vec::new(),
        observations: Vec::new(),
        returned: None,
    };
    let Value::Object(fields) = &arguments else { return None };
    let state = recorded.state.shown();
    let context = CallContext {
        state,
        call: &call,
        evidence: recorded.evidence,
        tools: recorded.tools,
        now: state.last_at,
        reads: Reads::Recorded,
    };
    let ToolAction::Return(result) = tool.advance(fields, &context) else { return None };
    if result.is_error {
        return None;
    }
    JudgedFlows::of_result(&result.content)?.flows.into_iter().next()
}
