//! What a person puts into an element, in the form in which Slack tells the app.

use serde_json::{Map, Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::model::{Workspace, text_of};
use crate::state::user::set;

/// Turns a plain value into what the payload holds for this element; its own form is taken as it is.
pub(crate) fn filled(element: &Value, value: &Value) -> Result<Value, SlackError> {
    let kind = text_of(element, "type");
    if value.is_object() && text_of(value, "type") == kind {
        return Ok(value.clone());
    }
    let one = || Some(value).filter(|value| !value.is_null()).map(|value| option(element, value)).transpose();
    let many = || -> Result<Vec<Value>, SlackError> {
        let list = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
        list.iter().filter(|value| !value.is_null()).map(|value| option(element, value)).collect()
    };
    let (name, content) = match kind {
        "static_select" | "radio_buttons" | "overflow" | "external_select" => {
            ("selected_option", json!(one()?))
        }
        "checkboxes" | "multi_static_select" | "multi_external_select" => {
            ("selected_options", json!(many()?))
        }
        "users_select" => ("selected_user", value.clone()),
        "conversations_select" => ("selected_conversation", value.clone()),
        "channels_select" => ("selected_channel", value.clone()),
        "multi_users_select" => ("selected_users", json!(texts(value))),
        "multi_conversations_select" => ("selected_conversations", json!(texts(value))),
        "multi_channels_select" => ("selected_channels", json!(texts(value))),
        "datepicker" => ("selected_date", value.clone()),
        "timepicker" => ("selected_time", value.clone()),
        "datetimepicker" => ("selected_date_time", value.clone()),
        "rich_text_input" => ("rich_text_value", value.clone()),
        "file_input" => ("files", json!(texts(value))),
        _ => ("value", value.clone()),
    };
    Ok(json!({"type": kind, name: content}))
}

/// The content of a filled field, whatever its name; nothing where the person left it empty.
pub(crate) fn content(field: &Value) -> Option<&Value> {
    let (_, content) = field.as_object()?.iter().find(|(name, _)| *name != "type")?;
    let empty = match content {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    (!empty).then_some(content)
}

/// What an element holds before anybody touched it.
pub(crate) fn initial(element: &Value) -> Value {
    let kind = text_of(element, "type");
    let mut field = Map::new();
    field.insert("type".to_owned(), json!(kind));
    let before = element.as_object().into_iter().flatten().find(|(name, _)| name.starts_with("initial_"));
    if let Some((name, value)) = before {
        let name = if name == "initial_value" {
            "value".to_owned()
        } else {
            name.replacen("initial", "selected", 1)
        };
        field.insert(name, value.clone());
        return Value::Object(field);
    }
    filled(element, &Value::Null).unwrap_or(Value::Object(field))
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// Finds the option that has this value; a list from outside has any.
fn option(element: &Value, value: &Value) -> Result<Value, SlackError> {
    let external = text_of(element, "type").ends_with("external_select");
    if external && value.is_object() && value.get("value").is_some_and(Value::is_string) {
        // As the app offered it.
        return Ok(value.clone());
    }
    let value = value.as_str().unwrap_or_else(|| text_of(value, "value"));
    if external {
        return Ok(json!({"text": {"type": "plain_text", "text": value, "emoji": true}, "value": value}));
    }
    let groups = element.get("option_groups").and_then(Value::as_array).into_iter().flatten();
    let grouped = groups.filter_map(|group| group.get("options"));
    let lists = element.get("options").into_iter().chain(grouped).filter_map(Value::as_array);
    let found = lists.flatten().find(|option| text_of(option, "value") == value);
    found.cloned().ok_or_else(|| SlackError::new("option_not_found"))
}

/// What `actions` of a payload says about an element that was used.
pub(crate) fn action(
    element: &Value,
    block: &str,
    value: Option<&Value>,
    moment: &str,
) -> Result<Value, SlackError> {
    let kind = text_of(element, "type");
    let mut action = match kind {
        "button" | "icon_button" | "workflow_button" => {
            let mut action = json!({"type": kind});
            for name in ["text", "value", "style"] {
                if let (Some(content), Some(map)) = (element.get(name), action.as_object_mut()) {
                    map.insert(name.to_owned(), content.clone());
                }
            }
            action
        }
        "feedback_buttons" => {
            let said = value.and_then(Value::as_str).unwrap_or_default();
            let buttons = ["positive_button", "negative_button"].map(|name| element.get(name));
            let pressed = buttons.into_iter().flatten().find(|button| text_of(button, "value") == said);
            let pressed = pressed.ok_or_else(|| SlackError::new("option_not_found"))?;
            json!({"type": kind, "text": pressed.get("text"), "value": said})
        }
        _ => filled(element, value.unwrap_or(&Value::Null))?,
    };
    if let Some(map) = action.as_object_mut() {
        map.insert("action_id".to_owned(), json!(text_of(element, "action_id")));
        map.insert("block_id".to_owned(), json!(block));
        map.insert("action_ts".to_owned(), json!(moment));
    }
    Ok(action)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn select() -> Value {
        json!({"type": "static_select", "options": [{"text": {"type": "plain_text", "text": "One"}, "value": "1"}]})
    }

    #[test]
    fn a_choice_is_sent_as_the_whole_option() {
        assert_eq!(filled(&select(), &json!("1")).unwrap()["selected_option"]["text"]["text"], "One");
        assert_eq!(filled(&select(), &json!("2")).unwrap_err().code(), "option_not_found");
    }

    #[test]
    fn what_was_left_empty_has_no_content() {
        for (element, value) in [
            (json!({"type": "plain_text_input"}), json!("")),
            (json!({"type": "checkboxes"}), json!([])),
            (select(), Value::Null),
        ] {
            assert_eq!(content(&filled(&element, &value).unwrap()), None, "{element}");
        }
        assert_eq!(content(&json!({"type": "plain_text_input", "value": "x"})), Some(&json!("x")));
    }

    #[test]
    fn an_untouched_element_holds_what_it_began_with() {
        let element = json!({"type": "plain_text_input", "initial_value": "web-1"});
        assert_eq!(initial(&element), json!({"type": "plain_text_input", "value": "web-1"}));
        let element = json!({"type": "datepicker", "initial_date": "2026-01-01"});
        assert_eq!(initial(&element), json!({"type": "datepicker", "selected_date": "2026-01-01"}));
    }
}
