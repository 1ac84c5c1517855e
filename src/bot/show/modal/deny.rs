//! The dialog that asks why not.

use serde_json::Value;

use crate::bot::show::modal::form::{Field, field, filled, meta, modal};
use crate::bot::show::text::length;
use crate::bot::show::{FormError, Meta};
use ghost_slack::arrive::View;

const CALLBACK: &str = "deny";
const REASON: &str = "reason";
const MIN_INPUT_LEN: usize = 3;
const MAX_INPUT_LEN: usize = 2_000;

/// A denial as somebody submitted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// Where it belongs.
    pub meta: Meta,
    /// Why.
    pub reason: String,
}

/// Returns the dialog that asks for a reason.
#[must_use]
pub fn deny_modal(meta: &Meta) -> Value {
    let reason = Field {
        name: REASON,
        label: "Why not?",
        hint: "The investigator reads this and looks for another way. It stands in the report and in the audit.",
        initial: "",
        least: MIN_INPUT_LEN,
        most: MAX_INPUT_LEN,
        live: false,
    };
    modal(CALLBACK, "Deny this command", Some("Deny"), meta, vec![field(&reason)])
}

/// Reads the dialog back.
///
/// # Errors
/// Fails where it is another dialog, or says nothing.
pub fn read_deny(view: &View) -> Result<Denied, FormError> {
    let meta = meta(view, CALLBACK)?;
    let reason = filled(view, REASON).trim().to_owned();
    let problem = match length(&reason) {
        ..MIN_INPUT_LEN => "Say in a few words why not.",
        MIN_INPUT_LEN..=MAX_INPUT_LEN => return Ok(Denied { meta, reason }),
        _ => "At most 2,000 characters, please.",
    };
    Err(FormError::Field { field: REASON, problem: problem.to_owned() })
}
