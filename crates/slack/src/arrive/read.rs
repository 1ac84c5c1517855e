//! Entry points, one for each kind of payload.

use serde_json::Value;

use crate::arrive::arrival::Arrival;
use crate::arrive::event::happening;
use crate::arrive::interaction::{interaction, typed};

/// Reads what the Events API calls back with.
#[must_use]
pub fn event(body: &Value) -> Arrival {
    happening(body)
}

/// Reads what an interaction sends: a press, a form, a shortcut.
#[must_use]
pub fn interactive(body: &Value) -> Arrival {
    interaction(body)
}

/// Reads what a command sends.
#[must_use]
pub fn command(body: &Value) -> Arrival {
    typed(body)
}
