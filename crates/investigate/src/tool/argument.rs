//! Arguments of calls: their schema, their type, and what stands in for those that were left out.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::conversation;
use crate::event::{Instruction, Refusal};
use crate::model::Ask;
use crate::playbook::{self, Ends};
use crate::state::{Entry, State};
use crate::tool::{CallContext, CallResult, Site};

/// Returns the schema of a type, without references: not every model follows them.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    for key in ["$schema", "title", "description"] {
        schema.remove(key);
    }
    schema.to_value()
}

/// Reads arguments, or says what is wrong with them.
pub(super) fn parse<T: DeserializeOwned>(
    arguments: &Map<String, Value>,
    tool: &str,
) -> Result<T, Box<CallResult>> {
    serde_json::from_value(Value::Object(arguments.clone())).map_err(|error| {
        let reason = format!("the arguments do not fit the schema of {tool}: {error}");
        Box::new(CallResult::refuse(Refusal::Malformed, reason))
    })
}

/// Refuses a text that is empty or longer than anybody reads.
pub(super) fn sized(name: &str, text: &str, max_bytes: usize) -> Result<(), Box<CallResult>> {
    let problem = if text.trim().is_empty() {
        format!("{name} is empty")
    } else if text.len() > max_bytes {
        format!("{name} has {} bytes, the most is {max_bytes}", text.len())
    } else {
        return Ok(());
    };
    Err(Box::new(CallResult::refuse(Refusal::Malformed, problem)))
}

/// Returns what the incident is about. What was learned after the call was made does not count: the record of a call is read again
/// later, and has to mean the same.
pub(super) fn incident_ends(context: &CallContext<'_>) -> Ends {
    let own = &context.call.call.id;
    let made = |entry: &Entry| match entry {
        Entry::Turn(turn) => turn.calls.iter().any(|call| call.call.id == *own),
        Entry::Message { .. } | Entry::Note { .. } => false,
    };
    let mut before = context.state.clone();
    if let Some(at) = before.entries.iter().position(made) {
        before.entries.truncate(at);
    }
    playbook::ends(&incident_question(&before, context))
}

/// Returns what people said before a call was made: the record of a call is read again later, and has to mean the same.
pub(super) fn incident_text(context: &CallContext<'_>) -> String {
    let own = &context.call.call.id;
    let mut text = context.state.opened.symptom.clone();
    for entry in &context.state.entries {
        match entry {
            Entry::Turn(turn) if turn.calls.iter().any(|call| call.call.id == *own) => break,
            Entry::Message { text: said, instruction: Instruction::Steer, .. } => {
                text.push('\n');
                text.push_str(said);
            }
            Entry::Turn(_) | Entry::Message { .. } | Entry::Note { .. } => {}
        }
    }
    text
}

/// Returns the resource group of the incident, where the configuration names none.
pub(super) fn incident_group(site: &Site, context: &CallContext<'_>) -> Option<String> {
    if site.group.is_some() { None } else { incident_ends(context).group }
}

/// Returns the machine of the incident: the one that is called, or the one that calls for what it sends.
///
/// # Errors
/// Returns what to do where the incident names none.
pub(super) fn incident_machine(context: &CallContext<'_>, outbound: bool) -> Result<String, Box<CallResult>> {
    let Ends { source, destination, .. } = incident_ends(context);
    let (first, other) = if outbound { (source, destination) } else { (destination, source) };
    first.or(other).ok_or_else(|| {
        let reason = "vm_name is missing, and the incident names no machine that is known; name it, or call topology first";
        Box::new(CallResult::refuse(Refusal::Malformed, reason))
    })
}

/// Returns the question that the playbook would be asked.
pub(super) fn incident_question(state: &State, context: &CallContext<'_>) -> Ask {
    Ask {
        turn: state.spent.turns,
        system: String::new(),
        tools: context.tools.specs().to_vec(),
        messages: conversation::messages(state),
        max_output_tokens: 1,
        fruitless: 0,
        shortened: 0,
    }
}
