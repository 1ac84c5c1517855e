//! Making a request fit into a window: the oldest results go first, and what they observed stays named.

use serde_json::json;

use crate::model::{Ask, Message};
use crate::state::State;

/// The last messages stay whole as long as that is possible.
const RECENT_MESSAGES: usize = 5;
/// What remains of a result, a thought or a note that is shortened.
const SHORTENED_BYTES: usize = 200;

/// Shortens the question until it fits, and returns how many results and messages it shortened.
pub(super) fn compact(ask: &mut Ask, state: &State, window: u32) -> u32 {
    // Our count is an estimate: a tenth is left free.
    let available = u64::from(window.saturating_sub(ask.max_output_tokens)) * 9 / 10;
    let mut shortened = 0;
    // First what lies back, then what is recent; the first message and the last are never touched.
    for recent in [RECENT_MESSAGES, 1] {
        let end = ask.messages.len().saturating_sub(recent);
        for at in 1..end {
            if ask.tokens() <= available {
                return shortened;
            }
            if let Some(message) = ask.messages.get_mut(at)
                && shorten(message, state)
            {
                shortened += 1;
            }
        }
    }
    shortened + drop_oldest(ask, available)
}

/// Shortens one message; tells whether it got shorter.
fn shorten(message: &mut Message, state: &State) -> bool {
    let before = message.bytes();
    match message {
        Message::User { text } => cut(text),
        // A call stays as it is: a model copies what it sees itself do.
        Message::Assistant { text, .. } => cut(text),
        Message::Results { results } => {
            for result in results.iter_mut().filter(|result| result.content.len() > 2 * SHORTENED_BYTES) {
                let seen = state.calls().find(|call| call.call.id == result.id);
                let seen: Vec<String> = seen
                    .map(|call| call.observations.iter().map(ToString::to_string).collect())
                    .unwrap_or_default();
                result.content = json!({
                    "left_out": "this result was left out to make room; recall_observation shows it again",
                    "observations": seen,
                })
                .to_string();
            }
        }
    }
    message.bytes() < before
}

fn cut(text: &mut String) {
    if text.len() > 2 * SHORTENED_BYTES {
        let end = text.floor_char_boundary(SHORTENED_BYTES);
        text.truncate(end);
        text.push_str(" […]");
    }
}

/// Drops whole turns from the front, and says so: the last resort for a small window.
fn drop_oldest(ask: &mut Ask, available: u64) -> u32 {
    let mut dropped = 0;
    while ask.tokens() > available {
        // An answer goes with its results; what comes behind must not begin with results.
        let is_turn = |message: &Message| !matches!(message, Message::Results { .. });
        let Some(end) = ask.messages.iter().skip(2).position(is_turn).map(|at| at + 2) else { break };
        if end + 1 >= ask.messages.len() {
            break;
        }
        dropped += u32::try_from(ask.messages.drain(1..end).count()).unwrap_or(u32::MAX);
    }
    if dropped > 0 {
        let text = format!(
            "{dropped} older messages were left out to make room. What they observed stays under its id."
        );
        ask.messages.insert(1, Message::User { text });
    }
    dropped
}
