//! `suggest_next_step`: what the playbook would do now.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::model::ToolSpec;
use crate::playbook;
use crate::tool::argument::{parse, schema};
use crate::tool::{Bench, Move, Outcome, Tool, subject};

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

    fn advance(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Move {
        Move::Return(suggest(arguments, bench).map_or_else(|refused| refused, Box::new))
    }
}

fn suggest(arguments: &Map<String, Value>, bench: &Bench<'_>) -> Result<Outcome, Box<Outcome>> {
    let Arguments {} = parse(arguments, NAME)?;
    let turn = playbook::next(&subject::question(bench.state, bench));
    let calls: Vec<Value> =
        turn.calls.iter().map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments })).collect();
    Ok(Outcome::of(json!({ "status": "completed", "why": turn.text, "calls": calls })))
}
