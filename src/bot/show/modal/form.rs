//! What every dialog is made of, and how it is read back.

use serde_json::{Value, json};

use crate::bot::show::Meta;
use crate::bot::show::block::plain_text;
use crate::bot::show::text::head;
use ghost_slack::arrive::View;

/// Why a submitted dialog says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// It is not the dialog that was expected, or it lost where it belongs.
    #[error("this is not a dialog of ours")]
    Foreign,
    /// A field is not as it should be.
    #[error("{field}: {problem}")]
    Field {
        /// Which field: its block.
        field: &'static str,
        /// What is wrong, for whoever filled it in.
        problem: String,
    },
}

impl FormError {
    /// Returns the answer to the submission that shows the problem beside its field; `None` where there is no field.
    #[must_use]
    pub fn response(&self) -> Option<Value> {
        match self {
            Self::Foreign => None,
            Self::Field { field, problem } => Some(errors(field, problem)),
        }
    }
}

pub(super) fn errors(field: &str, problem: &str) -> Value {
    json!({ "response_action": "errors", "errors": { field: head(problem, 300).0 } })
}

/// Builds a dialog; one without `submit` is only read.
pub(super) fn modal(
    callback: &str,
    title: &str,
    submit: Option<&str>,
    meta: &Meta,
    blocks: Vec<Value>,
) -> Value {
    let mut view = json!({
        "type": "modal",
        "callback_id": callback,
        "title": plain_text(head(title, 24).0),
        "close": plain_text(if submit.is_some() { "Cancel" } else { "Close" }),
        "private_metadata": meta.write(),
        "blocks": blocks,
    });
    if let (Some(object), Some(submit)) = (view.as_object_mut(), submit) {
        object.insert("submit".to_owned(), plain_text(head(submit, 24).0));
    }
    view
}

pub(super) struct Field<'a> {
    /// The name of its block and of its element.
    pub(super) name: &'static str,
    pub(super) label: &'a str,
    pub(super) hint: &'a str,
    pub(super) initial: &'a str,
    pub(super) least: usize,
    pub(super) most: usize,
    /// Whether every typed character is sent.
    pub(super) live: bool,
}

pub(super) fn field(field: &Field<'_>) -> Value {
    let mut element = json!({
        "type": "plain_text_input",
        "action_id": field.name,
        "multiline": true,
        "min_length": field.least,
        "max_length": field.most,
        "focus_on_load": true,
    });
    if let Some(object) = element.as_object_mut() {
        if !field.initial.is_empty() {
            object.insert("initial_value".to_owned(), field.initial.into());
        }
        if field.live {
            let config = json!({ "trigger_actions_on": ["on_character_entered"] });
            object.insert("dispatch_action_config".to_owned(), config);
        }
    }
    let mut block = json!({
        "type": "input",
        "block_id": field.name,
        "label": plain_text(field.label),
        "element": element,
        "dispatch_action": field.live,
    });
    if let Some(object) = block.as_object_mut().filter(|_| !field.hint.is_empty()) {
        object.insert("hint".to_owned(), plain_text(head(field.hint, 2000).0));
    }
    block
}

/// Reads where a dialog belongs.
pub(super) fn meta(view: &View, callback: &str) -> Result<Meta, FormError> {
    if view.callback_id != callback {
        return Err(FormError::Foreign);
    }
    serde_json::from_str(&view.private_metadata).map_err(|_| FormError::Foreign)
}

/// Reads a field as it was filled in; an empty one is `null` or absent.
pub(super) fn filled<'a>(view: &'a View, name: &str) -> &'a str {
    view.values.text(name, name).unwrap_or_default()
}
