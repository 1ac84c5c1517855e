//! `suggest_next_step`: what the playbook would do now.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::model::ToolSpec;
use crate::playbook;
use crate::tool::argument::{incident_question, parse, schema};
use crate::tool::{CallContext, CallResult, Tool, ToolAction};

const NAME: &str = "suggest_next_step";

/// It takes nothing; a reason that comes along all the same is no mistake.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {}

/// See the module.
pub(super) struct SuggestNextStep;

impl Tool for SuggestNextStep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Says what an experienced engineer would call next in this very conversation, and why, by what was \
                looked at so far. Runs nothing, costs nothing. Use it where you are stuck, or before you end. Example: {}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        ToolAction::Return(suggest(arguments, context).map_or_else(|refused| refused, Box::new))
    }
}

fn suggest(arguments: &Map<String, Value>, context: &CallContext<'_>) -> Result<CallResult, Box<CallResult>> {
    let Arguments {} = parse(arguments, NAME)?;
    let turn = playbook::next(&incident_question(context.state, context));
    let calls: Vec<Value> =
        turn.calls.iter().map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments })).collect();
    Ok(CallResult::completed(json!({ "status": "completed", "why": turn.text, "calls": calls })))
}
