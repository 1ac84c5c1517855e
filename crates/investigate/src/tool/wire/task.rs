//! `check_task`, `cancel_task` and `cleanup_task`: the captures of a session after the call that began them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{argument, capture, result};
use crate::model::ToolSpec;
use crate::tool::argument::{parse, schema};
use crate::tool::call_replay::CallReplay;
use crate::tool::{CallContext, Site, Tool, ToolAction};
use ghost_cloud::capture::State;

const NAME: &str = "check_task";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckArguments {
    /// The `task_id` of a capture of this session.
    task_id: String,
    /// Why it is asked.
    #[serde(default)]
    #[schemars(with = "String")]
    #[expect(dead_code, reason = "every tool takes one, and this one asks nobody")]
    reasoning: Option<String>,
}

/// See the module.
pub(in crate::tool) struct CheckTask {
    site: Site,
}

impl CheckTask {
    pub(in crate::tool) fn new(site: Site) -> Self {
        Self { site }
    }

    fn check(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext<'_>,
    ) -> Result<ToolAction, Box<ToolAction>> {
        let CheckArguments { task_id, .. } =
            parse(arguments, NAME).map_err(|refused| Box::new(ToolAction::Return(refused)))?;
        let mut capture = capture::rebuilt(&task_id, context, &self.site)?;
        capture.removes_later = capture.waits_for_removal();
        // What earlier calls support is cited from them.
        capture.semantics.clear();
        Ok(ToolAction::Return(Box::new(result::outcome("completed", &capture, context))))
    }
}

impl Tool for CheckTask {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Says how far a capture of this session is, what of it is here and what is left in the cloud. It runs \
                nothing. Example: {\"task_id\":\"ghost-7k2f-1\"}"
                .to_owned(),
            parameters: schema::<CheckArguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        self.check(arguments, context).unwrap_or_else(|next| *next)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CancelArguments {
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
pub(in crate::tool) struct CancelTask {
    site: Site,
}

impl CancelTask {
    pub(in crate::tool) fn new(site: Site) -> Self {
        Self { site }
    }

    fn cancel(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext<'_>,
    ) -> Result<ToolAction, Box<ToolAction>> {
        let read: CancelArguments =
            parse(arguments, capture::CANCEL).map_err(|refused| Box::new(ToolAction::Return(refused)))?;
        let why = read.reason.or(read.reasoning).unwrap_or_else(|| "it is no longer wanted".to_owned());
        argument::check(&why, read.hypothesis_id.as_deref(), context)?;
        let mut capture = capture::rebuilt(&read.task_id, context, &self.site)?;
        if capture::apply(capture::CANCEL, &mut capture) {
            capture.replay(&mut CallReplay::new(context, read.hypothesis_id))?;
        }
        capture.removes_later = capture.waits_for_removal();
        capture.semantics.clear();
        Ok(ToolAction::Return(Box::new(result::outcome("completed", &capture, context))))
    }
}

impl Tool for CancelTask {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: capture::CANCEL.to_owned(),
            description: "Ends a capture of this session that is still running: nothing of it is kept, and what it left in the \
                cloud is removed, for which a human is asked. A capture that is over stays as it is. Example: \
                {\"task_id\":\"ghost-7k2f-1\",\"reason\":\"the rules explain it already\"}"
                .to_owned(),
            parameters: schema::<CancelArguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        self.cancel(arguments, context).unwrap_or_else(|next| *next)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CleanupArguments {
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
pub(in crate::tool) struct CleanupTask {
    site: Site,
}

impl CleanupTask {
    pub(in crate::tool) fn new(site: Site) -> Self {
        Self { site }
    }

    fn clean(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext<'_>,
    ) -> Result<ToolAction, Box<ToolAction>> {
        let read: CleanupArguments =
            parse(arguments, capture::CLEANUP).map_err(|refused| Box::new(ToolAction::Return(refused)))?;
        let why = read.reasoning.unwrap_or_else(|| "nothing may be left".to_owned());
        argument::check(&why, read.hypothesis_id.as_deref(), context)?;
        let mut capture = capture::rebuilt(&read.task_id, context, &self.site)?;
        if !capture.task.state().is_over() && !capture.waits_for_removal() {
            let hint = "cancel_task ends it and cleans up behind it";
            return Err(argument::fail(format!("the capture {} is still running", capture.task.id()), hint));
        }
        if capture::apply(capture::CLEANUP, &mut capture) || capture.waits_for_removal() {
            capture.replay(&mut CallReplay::new(context, read.hypothesis_id))?;
        }
        capture.semantics.clear();
        // Packets that were fetched stay; whether they were does not matter here.
        let status = if capture.task.state() == State::NeedsCleanup { "failed" } else { "completed" };
        let mut outcome = result::outcome(status, &capture, context);
        if let Some(reason) = outcome.content.get_mut("reason") {
            *reason = Value::from(
                "something is still left in the cloud, or may be: the removal was denied or failed",
            );
        }
        Ok(ToolAction::Return(Box::new(outcome)))
    }
}

impl Tool for CleanupTask {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: capture::CLEANUP.to_owned(),
            description: "Asks a human once more to remove what a capture of this session left in the cloud, where the removal was \
                denied or failed before; packets that were fetched stay here. Example: {\"task_id\":\"ghost-7k2f-1\"}"
                .to_owned(),
            parameters: schema::<CleanupArguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        self.clean(arguments, context).unwrap_or_else(|next| *next)
    }
}
