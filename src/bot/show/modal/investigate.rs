//! The dialog that opens an investigation about a message.

use serde_json::Value;

use crate::bot::show::modal::form::{Field, field, filled, meta, modal};
use crate::bot::show::text::head;
use crate::bot::show::{FormError, Meta};
use ghost_slack::arrive::View;

const CALLBACK: &str = "investigate";
const SYMPTOM: &str = "symptom";
const MAX_INPUT_LEN: usize = 3_000;

/// An investigation as somebody asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where it belongs.
    pub meta: Meta,
    /// What is wrong.
    pub symptom: String,
}

/// Returns the dialog; the text of the message is filled in.
#[must_use]
pub fn investigate_modal(meta: &Meta, message: &str) -> Value {
    let (initial, left) = head(message.trim(), MAX_INPUT_LEN);
    let hint = if left == 0 {
        "What fails, from where to where, since when. The investigation runs in the thread of the message."
    } else {
        "Only the beginning of the message fits in here; the investigator reads the thread as well."
    };
    let symptom = Field {
        name: SYMPTOM,
        label: "What is wrong?",
        hint,
        initial,
        least: 3,
        most: MAX_INPUT_LEN,
        live: false,
    };
    modal(CALLBACK, "Investigate this", Some("Investigate"), meta, vec![field(&symptom)])
}

/// Reads the dialog back.
///
/// # Errors
/// Fails where it is another dialog, or says nothing.
pub fn read_investigate(view: &View) -> Result<Wanted, FormError> {
    let meta = meta(view, CALLBACK)?;
    let symptom = filled(view, SYMPTOM).trim().to_owned();
    if head(&symptom, 2).1 == 0 {
        let problem = "Say in a few words what is wrong.".to_owned();
        return Err(FormError::Field { field: SYMPTOM, problem });
    }
    Ok(Wanted { meta, symptom })
}
