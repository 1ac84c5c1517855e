//! What Slack adds to blocks, and finding an element in them.

use serde_json::{Value, json};

use crate::state::model::{Workspace, text_of};
use crate::state::user::set;

/// How deep blocks may lie in each other before nobody follows.
const MAX_DEPTH: usize = 32;

/// Gives every block, and every element that can be pressed, the name that it lacks.
pub(crate) fn fill(blocks: &mut Value, workspace: &mut Workspace) {
    let Some(list) = blocks.as_array_mut() else { return };
    for block in list {
        if block.is_object() && text_of(block, "block_id").is_empty() {
            let id = workspace.unguessable();
            set(block, "block_id", json!(id.get(..5)));
        }
        dress(block, workspace, 0);
    }
}

/// The same for the blocks of attachments, which also get a number.
pub(crate) fn fill_attachments(attachments: &mut Value, workspace: &mut Workspace) {
    let Some(list) = attachments.as_array_mut() else { return };
    for (at, attachment) in list.iter_mut().enumerate() {
        set(attachment, "id", json!(at + 1));
        if let Some(blocks) = attachment.get_mut("blocks") {
            fill(blocks, workspace);
        }
    }
}

fn dress(value: &mut Value, workspace: &mut Workspace, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Array(list) => list.iter_mut().for_each(|item| dress(item, workspace, depth + 1)),
        Value::Object(_) => {
            let kind = text_of(value, "type").to_owned();
            if is_pressed(&kind) && text_of(value, "action_id").is_empty() {
                let id = workspace.unguessable();
                set(value, "action_id", json!(id.get(..5)));
            }
            if kind == "plain_text" && value.get("emoji").is_none() {
                set(value, "emoji", json!(true));
            }
            if kind == "mrkdwn" && value.get("verbatim").is_none() {
                set(value, "verbatim", json!(false));
            }
            if let Some(map) = value.as_object_mut() {
                map.values_mut().for_each(|item| dress(item, workspace, depth + 1));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Tells whether an element of this type acts when it is used.
pub(crate) fn is_pressed(kind: &str) -> bool {
    kind.ends_with("_select")
        || kind.ends_with("_input")
        || matches!(
            kind,
            "button"
                | "overflow"
                | "checkboxes"
                | "radio_buttons"
                | "datepicker"
                | "timepicker"
                | "datetimepicker"
                | "feedback_buttons"
                | "icon_button"
                | "workflow_button"
        )
}

/// Finds an element by its action; with a block's name, only in that block. Returns the block's name too.
///
/// Where several buttons have one action, `value` says which is meant.
pub(crate) fn find<'a>(
    blocks: &'a Value,
    block: Option<&str>,
    action: &str,
    value: Option<&str>,
) -> Option<(String, &'a Value)> {
    let meant = |element: &Value| {
        text_of(element, "action_id") == action
            && (text_of(element, "type") != "button"
                || value.is_none_or(|value| text_of(element, "value") == value))
    };
    let blocks = blocks.as_array()?;
    blocks.iter().filter(|each| block.is_none_or(|name| text_of(each, "block_id") == name)).find_map(|each| {
        let own = text_of(each, "block_id").to_owned();
        search(each, &own, &meant, 0)
    })
}

fn search<'a>(
    value: &'a Value,
    block: &str,
    meant: &dyn Fn(&Value) -> bool,
    depth: usize,
) -> Option<(String, &'a Value)> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::Array(list) => list.iter().find_map(|item| search(item, block, meant, depth + 1)),
        Value::Object(map) => {
            if is_pressed(text_of(value, "type")) && meant(value) {
                return Some((block.to_owned(), value));
            }
            let inner = Some(text_of(value, "block_id")).filter(|own| !own.is_empty()).unwrap_or(block);
            map.values().find_map(|item| search(item, inner, meant, depth + 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
