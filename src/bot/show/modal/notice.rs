//! A dialog that only says something, where no message can.

use serde_json::Value;

use crate::bot::show::Meta;
use crate::bot::show::block::{Line, say};
use crate::bot::show::modal::form::modal;

/// Returns a dialog that says something.
#[must_use]
pub fn notice_modal(words: &str) -> Value {
    modal("notice", "Ghost", None, &Meta::default(), vec![say(Line::new().text(words))])
}
