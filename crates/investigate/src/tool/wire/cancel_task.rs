//! `cancel_task`: ends a capture of the session that is still under way, and removes what it left in the cloud.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{history, purpose, told};
use crate::model::ToolSpec;
use crate::tool::argument::{parse, schema};
use crate::tool::errand::Trail;
use crate::tool::{Bench, Move, Site, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The `task_id` of a capture of this session.
    task_id: String,
    /// Why it is no longer wanted.
    #[serde(default)]
    #[schemars(with = "String")]
    reason: Option<String>,
    /// The same, as other tools call it.
    #[serde(default)]
    #[schemars(with = "String")]
    reasoning: Option<String>,
    /// The hypothesis that it was for.
    #[serde(default)]
    #[schemars(with = "String")]
    hypothesis_id: Option<String>,
}

/// See the module.
pub(super) struct CancelTask {
    site: Site,
}

impl CancelTask {
    pub(super) fn new(site: Site) -> Self {
        Self { site }
    }

    fn cancel(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Result<Move, Box<Move>> {
        let read: Arguments =
            parse(arguments, history::CANCEL).map_err(|refused| Box::new(Move::Return(refused)))?;
        let why = read.reason.or(read.reasoning).unwrap_or_else(|| "it is no longer wanted".to_owned());
        purpose::check(&why, read.hypothesis_id.as_deref(), bench)?;
        let mut walked = history::rebuilt(&read.task_id, bench, &self.site)?;
        if history::say(history::CANCEL, &mut walked) {
            walked.along(&mut Trail::new(bench, read.hypothesis_id))?;
        }
        walked.semantics.clear();
        Ok(Move::Return(Box::new(told::outcome("completed", &walked, bench))))
    }
}

impl Tool for CancelTask {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: history::CANCEL.to_owned(),
            description: "Ends a capture of this session that is still under way: nothing of it is kept, and what it left in the \
                cloud is removed, for which a human is asked. A capture that is over stays as it is. Example: \
                {\"task_id\":\"ghost-7k2f-1\",\"reason\":\"the rules explain it already\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Move {
        self.cancel(arguments, bench).unwrap_or_else(|next| *next)
    }
}
