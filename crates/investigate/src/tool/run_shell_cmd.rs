//! `run_shell_cmd`: one command through the gate.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::event::{Done, Refusal};
use crate::model::ToolSpec;
use crate::state::{Denial, Step};
use crate::suspect::{SupportedFaults, raw};
use crate::tool::argument::{parse, schema, sized};
use crate::tool::{CallContext, CallResult, ProposedCommand, Tool, ToolAction};
use ghost_shell::MAX_COMMAND_BYTES;

/// How often the same command may run before it is called a loop.
const MAX_REPETITIONS: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// One plain command without pipes, redirections or substitutions, such as `az network nsg rule list -g RG --nsg-name NSG -o json`.
    command: String,
    /// What it will tell, and what follows from each answer. A human who has to approve it reads this.
    reasoning: String,
    /// The hypothesis that it tests, such as `H1`.
    #[serde(default)]
    #[schemars(with = "String")]
    hypothesis_id: Option<String>,
}

/// See the module.
pub(super) struct RunShellCmd;

const NAME: &str = "run_shell_cmd";

impl Tool for RunShellCmd {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Runs one command. Read-only commands run immediately in a sandbox; what could change something waits for a \
                human; what is catastrophic is refused. The output is redacted and cut to 200 lines; the whole of it stays \
                under the observation's id. Examples: {\"command\":\"dig +short db.internal\",\"reasoning\":\"does the name \
                resolve? if not, DNS explains the timeout\",\"hypothesis_id\":\"H2\"}, {\"command\":\"az network nic \
                list-effective-nsg -g prod -n web-1-nic -o json\",\"reasoning\":\"effective rules decide, not configured \
                ones\",\"hypothesis_id\":\"H1\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn supports(&self, _arguments: &Map<String, Value>, context: &CallContext<'_>) -> SupportedFaults {
        let ran =
            context.steps().find(|step| step.done.as_ref().is_some_and(|done| done.status == "completed"));
        let seen = context.call.observations.first().and_then(|id| context.whole(*id));
        ran.zip(seen).map_or_else(SupportedFaults::default, |(step, printed)| raw(step.current(), &printed))
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        match context.steps().next() {
            Some(step) => ToolAction::Return(Box::new(answer(step, context))),
            None => match propose(arguments, context) {
                Ok(command) => ToolAction::Run(Box::new(command)),
                Err(refused) => ToolAction::Return(refused),
            },
        }
    }
}

fn propose(
    arguments: &Map<String, Value>,
    context: &CallContext<'_>,
) -> Result<ProposedCommand, Box<CallResult>> {
    let Arguments { command, reasoning, hypothesis_id } = parse(arguments, NAME)?;
    sized("command", &command, MAX_COMMAND_BYTES)?;
    sized("reasoning", &reasoning, 4_000)?;
    let refuse = |why, reason: String| Err(Box::new(CallResult::refuse(why, reason)));
    if let Some(id) = hypothesis_id.as_deref().filter(|id| context.state.hypothesis(id).is_none()) {
        let known = context.state.hypotheses.iter().map(|hypothesis| hypothesis.id.as_str());
        let known = known.collect::<Vec<_>>().join(", ");
        return refuse(Refusal::Malformed, format!("there is no hypothesis {id}; there are: {known}"));
    }
    let same = |other: &str| other.trim() == command.trim();
    if let Some(denial) = context.state.denials.iter().find(|denial| same(&denial.command)) {
        let reason = format!("a human denied this very command: {}; propose something else", denial.reason);
        return refuse(Refusal::DeniedBefore, reason);
    }
    let before: Vec<&Step> = context.state.steps.iter().filter(|step| same(&step.command)).collect();
    if before.len() >= MAX_REPETITIONS && context.state.rechecking.is_none() {
        let seen = context.state.observations.iter().rev().find(|seen| {
            seen.observed.step.is_some_and(|step| before.iter().any(|earlier| earlier.id == step))
        });
        let seen = seen.map(|seen| format!("; its last output is {}", seen.observed.id)).unwrap_or_default();
        let reason =
            format!("this command ran {} times already{seen}; change something or go on", before.len());
        return refuse(Refusal::Repeated, reason);
    }
    Ok(ProposedCommand { command, reasoning, hypothesis: hypothesis_id, script: None, plan: Vec::new() })
}

fn answer(step: &Step, context: &CallContext<'_>) -> CallResult {
    let Some(done) = &step.done else {
        return CallResult::refuse(Refusal::Ended, "the session ended before the command did");
    };
    let observation = context.state.observations.iter().find(|seen| seen.observed.step == Some(step.id));
    let shown = |what: &str, text: &str| {
        if text.is_empty() { String::new() } else { context.fence(what, text) }
    };
    let mut content = json!({
        "status": done.status,
        "classification": done.classification,
        "action": done.action,
        "exit_code": done.exit_code,
        "output": shown("output", &done.output),
        "stderr": shown("stderr", &done.stderr),
        "error": done.error,
        "audit_id": done.audit_id,
        "duration_seconds": done.duration_ms.map(seconds),
        "output_metadata": done.output_metadata,
        "observation": observation.map(|seen| seen.observed.id),
    });
    let mut put = |key: &str, value: Value| {
        if let Some(object) = content.as_object_mut() {
            object.insert(key.to_owned(), value);
        }
    };
    if done.status != "completed" {
        put("reason", json!(done.reason));
    }
    if let Some(command) = &done.modified_command {
        put("modified_command", json!(command));
    }
    if let Some(hint) = &done.hint {
        put("hint", json!(hint));
    }
    if step.outcome_unknown {
        put(
            "outcome_unknown",
            json!("an earlier run of this command was cut off; it may or may not have taken effect"),
        );
    }
    if let Some(checked) = context.state.forecasts_checked.iter().find(|checked| checked.step == step.id) {
        put(
            "forecast",
            json!({ "verdict": checked.verdict.word(), "words": checked.words, "flows": checked.flows }),
        );
    }
    if let Some(denial) = context.state.denials.iter().find(|denial| denial.step == step.id) {
        put("_meta", meta(denial, done, context));
    }
    CallResult { content, is_error: done.status != "completed", refused: None, events: Vec::new() }
}

fn seconds(millis: u64) -> f64 {
    std::time::Duration::from_millis(millis).as_secs_f64()
}

/// Says what a denial means for what comes next.
fn meta(denial: &Denial, done: &Done, context: &CallContext<'_>) -> Value {
    let counted = denial
        .hypothesis
        .as_deref()
        .and_then(|id| context.state.hypothesis(id))
        .map_or(0, |found| found.denials);
    let hint = match counted {
        0 | 1 => "do not propose it again; look for another way to test the hypothesis",
        2 => "one more denial makes this hypothesis UNVERIFIABLE; use what is SAFE, or another layer",
        _ => "this hypothesis is UNVERIFIABLE now; go on with another one",
    };
    json!({
        "denial_reason": done.reason,
        "denials_of_hypothesis": counted,
        "approaching_threshold": counted == 2,
        "denial_threshold_reached": counted >= 3,
        "hint": hint,
    })
}
