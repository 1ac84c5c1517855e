//! From a type to a schema, and from arguments to the type.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::event::Refusal;
use crate::tool::Outcome;

/// Returns the schema of a type, without references: not every model follows them.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    for key in ["$schema", "title", "description"] {
        schema.remove(key);
    }
    schema.to_value()
}

/// Reads arguments, or says in words what is wrong with them.
pub(super) fn parse<T: DeserializeOwned>(
    arguments: &Map<String, Value>,
    tool: &str,
) -> Result<T, Box<Outcome>> {
    serde_json::from_value(Value::Object(arguments.clone())).map_err(|error| {
        let reason = format!("the arguments do not fit the schema of {tool}: {error}");
        Box::new(Outcome::refuse(Refusal::Malformed, reason))
    })
}

/// Refuses a text that is empty or longer than anybody reads.
pub(super) fn sized(name: &str, text: &str, most: usize) -> Result<(), Box<Outcome>> {
    let problem = if text.trim().is_empty() {
        format!("{name} is empty")
    } else if text.len() > most {
        format!("{name} has {} bytes, the most is {most}", text.len())
    } else {
        return Ok(());
    };
    Err(Box::new(Outcome::refuse(Refusal::Malformed, problem)))
}
