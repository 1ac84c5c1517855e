//! `cleanup_task`: asks once more to remove what a capture of the session left in the cloud.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{history, purpose, told};
use crate::model::ToolSpec;
use crate::tool::argument::{parse, schema};
use crate::tool::errand::Trail;
use crate::tool::{Bench, Move, Site, Tool};
use ghost_cloud::capture::State;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The `task_id` of a capture of this session.
    task_id: String,
    /// Why now.
    #[serde(default)]
    #[schemars(with = "String")]
    reasoning: Option<String>,
    /// The hypothesis that it was for.
    #[serde(default)]
    #[schemars(with = "String")]
    hypothesis_id: Option<String>,
}

/// See the module.
pub(super) struct CleanupTask {
    site: Site,
}

impl CleanupTask {
    pub(super) fn new(site: Site) -> Self {
        Self { site }
    }

    fn clean(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Result<Move, Box<Move>> {
        let read: Arguments =
            parse(arguments, history::CLEANUP).map_err(|refused| Box::new(Move::Return(refused)))?;
        let why = read.reasoning.unwrap_or_else(|| "nothing may be left".to_owned());
        purpose::check(&why, read.hypothesis_id.as_deref(), bench)?;
        let mut walked = history::rebuilt(&read.task_id, bench, &self.site)?;
        if !walked.task.state().is_over() {
            let hint = "cancel_task ends it and cleans up behind it";
            return Err(purpose::fail(format!("the capture {} is still under way", walked.task.id()), hint));
        }
        if history::say(history::CLEANUP, &mut walked) {
            walked.along(&mut Trail::new(bench, read.hypothesis_id))?;
        }
        walked.semantics.clear();
        // Packets that were fetched stay; whether they were does not matter here.
        let status = if walked.task.state() == State::NeedsCleanup { "failed" } else { "completed" };
        let mut outcome = told::outcome(status, &walked, bench);
        if let Some(reason) = outcome.content.get_mut("reason") {
            *reason = Value::from(
                "something is still left in the cloud, or may be: the removal was denied or failed",
            );
        }
        Ok(Move::Return(Box::new(outcome)))
    }
}

impl Tool for CleanupTask {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: history::CLEANUP.to_owned(),
            description: "Asks a human once more to remove what a capture of this session left in the cloud, where the removal was \
                denied or failed before; packets that were fetched stay here. Example: {\"task_id\":\"ghost-7k2f-1\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Move {
        self.clean(arguments, bench).unwrap_or_else(|next| *next)
    }
}
