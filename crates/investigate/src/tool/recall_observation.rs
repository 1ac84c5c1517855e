//! `recall_observation`: what was seen before, again and in part.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::event::{ObservationId, Refusal};
use crate::model::ToolSpec;
use crate::tool::argument::{parse, schema};
use crate::tool::{CallContext, CallResult, Tool, ToolAction};
use ghost_shell::{ClipLimits, clip, redact};

const NAME: &str = "recall_observation";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Which, such as `o3`.
    observation_id: String,
    /// Only lines that hold this text.
    #[serde(default)]
    #[schemars(with = "String")]
    contains: Option<String>,
    /// The first line to show, from 1.
    #[serde(default)]
    #[schemars(with = "u32")]
    from_line: Option<u32>,
}

/// See the module.
pub(super) struct RecallObservation;

impl Tool for RecallObservation {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Shows the kept text of an observation again: from a line on, or only the lines that hold a text. Runs \
                nothing. Use it where a result was cut or is no longer in the conversation. Example: \
                {\"observation_id\":\"o3\",\"contains\":\"5001\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        ToolAction::Return(recall(arguments, context).map_or_else(|refused| refused, Box::new))
    }
}

fn recall(arguments: &Map<String, Value>, context: &CallContext<'_>) -> Result<CallResult, Box<CallResult>> {
    let Arguments { observation_id, contains, from_line } = parse(arguments, NAME)?;
    let refuse = |reason: String| Box::new(CallResult::refuse(Refusal::Malformed, reason));
    let id: ObservationId =
        observation_id.parse().map_err(|error| refuse(format!("{observation_id:?}: {error}")))?;
    let whole = context.whole(id).ok_or_else(|| {
        let last = context.state.observations.len();
        refuse(format!("there is no {id}, or its text is gone; there are o1 to o{last}"))
    })?;
    let first = usize::try_from(from_line.unwrap_or(1).max(1)).unwrap_or(usize::MAX);
    let wanted = |line: &&str| contains.as_deref().is_none_or(|text| line.contains(text));
    let lines: Vec<&str> = whole.lines().skip(first - 1).filter(wanted).collect();
    let tokens = usize::try_from(context.state.limits.result_tokens).unwrap_or(usize::MAX);
    // It was redacted before it was kept; a part of it may look like a secret by itself.
    let shown = clip(&redact(&lines.join("\n")), ClipLimits { tokens, ..ClipLimits::MODEL });
    let content = json!({
        "observation": id,
        "total_lines": whole.lines().count(),
        "matching_lines": lines.len(),
        "clipping": shown.clipping(),
        "text": context.fence("observation", shown.as_str()),
    });
    Ok(CallResult::completed(content))
}
