//! What a person fills in, and what the client itself refuses.

use serde_json::{Map, Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::field::{content, filled, initial};
use crate::state::model::{Workspace, text_of};
use crate::state::user::set;

/// What stands in every element that takes something: what was given, else what it began with.
pub(crate) fn state_of(blocks: &Value, args: &Args) -> Result<Map<String, Value>, SlackError> {
    let given = args.json("values", "invalid_arguments")?.unwrap_or(Value::Null);
    let mut state = Map::new();
    for block in blocks.as_array().into_iter().flatten() {
        let id = text_of(block, "block_id");
        let elements = block.get("elements").and_then(Value::as_array).into_iter().flatten();
        let elements = block.get("element").into_iter().chain(block.get("accessory")).chain(elements);
        for element in elements {
            let name = text_of(element, "action_id");
            let silent =
                ["button", "overflow", "image", "feedback_buttons", "icon_button", "workflow_button"];
            if name.is_empty() || silent.contains(&text_of(element, "type")) {
                continue;
            }
            let field = match given.get(id).and_then(|block| block.get(name)) {
                Some(value) => filled(element, value)?,
                None => initial(element),
            };
            let row = state.entry(id.to_owned()).or_insert_with(|| json!({}));
            set(row, name, field);
        }
    }
    Ok(state)
}

/// What the client itself refuses: a required field that is empty, a text that is too short or too long.
pub(crate) fn lacking(blocks: &Value, state: &Map<String, Value>) -> Map<String, Value> {
    let mut wrong = Map::new();
    for block in blocks.as_array().into_iter().flatten().filter(|block| text_of(block, "type") == "input") {
        let id = text_of(block, "block_id");
        let Some(element) = block.get("element") else { continue };
        let field = state.get(id).and_then(|row| row.get(text_of(element, "action_id")));
        let inside = field.and_then(content);
        let optional = block.get("optional").and_then(Value::as_bool).unwrap_or(false);
        let length = inside.and_then(Value::as_str).map(|text| text.chars().count());
        let bound =
            |name: &str| element.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let problem = match (inside, length) {
            (None, _) if !optional => Some("Please complete this required field.".to_owned()),
            (Some(_), Some(length)) if bound("min_length").is_some_and(|least| length < least) => {
                Some(format!("Must be at least {} characters.", bound("min_length").unwrap_or(0)))
            }
            (Some(_), Some(length)) if length > bound("max_length").unwrap_or(3000) => {
                Some(format!("Must be at most {} characters.", bound("max_length").unwrap_or(3000)))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            wrong.insert(id.to_owned(), json!(problem));
        }
    }
    wrong
}

impl Workspace {
    /// Puts whole files in place of their names, as an app gets them.
    pub(crate) fn name_files(&self, state: &mut Map<String, Value>) {
        let rows = state.values_mut().filter_map(Value::as_object_mut);
        for field in
            rows.flat_map(|row| row.values_mut()).filter(|field| text_of(field, "type") == "file_input")
        {
            let Some(list) = field.get_mut("files").and_then(Value::as_array_mut) else { continue };
            *list = list
                .iter()
                .filter_map(|file| self.files.get(file.as_str().unwrap_or_else(|| text_of(file, "id"))))
                .map(|file| file.form(self))
                .collect();
        }
    }
}
