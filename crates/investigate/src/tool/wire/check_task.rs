//! `check_task`: how far a capture of the session is, from its record. It asks nobody.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{history, told};
use crate::model::ToolSpec;
use crate::tool::argument::{parse, schema};
use crate::tool::{Bench, Move, Site, Tool};

const NAME: &str = "check_task";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The `task_id` of a capture of this session.
    task_id: String,
    /// Why it is asked.
    #[serde(default)]
    #[schemars(with = "String")]
    #[expect(dead_code, reason = "every tool takes one, and this one asks nobody")]
    reasoning: Option<String>,
}

/// See the module.
pub(super) struct CheckTask {
    site: Site,
}

impl CheckTask {
    pub(super) fn new(site: Site) -> Self {
        Self { site }
    }

    fn check(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Result<Move, Box<Move>> {
        let Arguments { task_id, .. } =
            parse(arguments, NAME).map_err(|refused| Box::new(Move::Return(refused)))?;
        let mut walked = history::rebuilt(&task_id, bench, &self.site)?;
        // What earlier calls bore out is theirs to cite.
        walked.semantics.clear();
        Ok(Move::Return(Box::new(told::outcome("completed", &walked, bench))))
    }
}

impl Tool for CheckTask {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Says how far a capture of this session is, what of it is here and what is left in the cloud. It runs \
                nothing. Example: {\"task_id\":\"ghost-7k2f-1\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Move {
        self.check(arguments, bench).unwrap_or_else(|next| *next)
    }
}
