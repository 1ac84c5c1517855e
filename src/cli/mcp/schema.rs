//! Schemas: of arguments from the types that read them, of answers from the words of the contracts.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Returns the schema of arguments. Everything stands in place: some clients follow no references.
pub(super) fn input<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.remove("title");
    Arc::new(schema)
}

/// Describes an object with these fields, which are always there; it may have others.
pub(super) fn object(fields: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: JsonObject =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

/// Describes any object.
pub(super) fn any() -> Value {
    json!({ "type": "object" })
}

/// Describes a text.
pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// Describes one of these words.
pub(super) fn words(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

/// Describes a whole number.
pub(super) fn whole() -> Value {
    json!({ "type": "integer" })
}

/// Describes a number.
pub(super) fn number() -> Value {
    json!({ "type": "number" })
}

/// Describes yes or no.
pub(super) fn truth() -> Value {
    json!({ "type": "boolean" })
}

/// Describes a list.
pub(super) fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

/// Describes something that may be null.
pub(super) fn maybe(of: Value) -> Value {
    json!({ "anyOf": [of, { "type": "null" }] })
}
