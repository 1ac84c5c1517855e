//! Making a request fit into a window: the oldest results go first, and what they observed stays named.

use serde_json::json;

use crate::model::{Ask, Message};
use crate::state::State;

/// The last messages stay whole as long as that is possible.
const RECENT: usize = 5;
/// What is left of a result, a thought or a note that has to go.
const STUB: usize = 200;

/// Shortens the question until it fits, and returns how many results and messages it shortened.
pub(super) fn compact(ask: &mut Ask, state: &State, window: u32) -> u32 {
    // Our count is an estimate: a tenth is left free.
    let room = u64::from(window.saturating_sub(ask.max_output_tokens)) * 9 / 10;
    let mut shortened = 0;
    // First what lies back, then what is recent; the first message and the last are never touched.
    for recent in [RECENT, 1] {
        let end = ask.messages.len().saturating_sub(recent);
        for at in 1..end {
            if tokens(ask) <= room {
                return shortened;
            }
            if let Some(message) = ask.messages.get_mut(at)
                && shorten(message, state)
            {
                shortened += 1;
            }
        }
    }
    shortened + drop_oldest(ask, room)
}

/// Shortens one message; tells whether it got shorter.
fn shorten(message: &mut Message, state: &State) -> bool {
    let before = message_bytes(message);
    match message {
        Message::User { text } => cut(text),
        // A call stays as it is: a model copies what it sees itself do.
        Message::Assistant { text, .. } => cut(text),
        Message::Results { results } => {
            for result in results.iter_mut().filter(|result| result.content.len() > 2 * STUB) {
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
    message_bytes(message) < before
}

fn cut(text: &mut String) {
    if text.len() > 2 * STUB {
        let end = text.floor_char_boundary(STUB);
        text.truncate(end);
        text.push_str(" […]");
    }
}

/// Drops whole turns from the front, and says so: the last resort for a small window.
fn drop_oldest(ask: &mut Ask, room: u64) -> u32 {
    let mut dropped = 0;
    while tokens(ask) > room {
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

/// Counts the tokens of a whole question.
pub(super) fn tokens(ask: &Ask) -> u64 {
    let tools: usize = ask
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len())
        .sum();
    let bytes = ask.system.len() + tools + ask.messages.iter().map(message_bytes).sum::<usize>();
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

/// Counts the bytes of a message.
fn message_bytes(message: &Message) -> usize {
    match message {
        Message::User { text } => text.len(),
        Message::Assistant { text, calls, carry } => {
            let carried = carry.as_ref().map_or(0, |carry| carry.value.to_string().len());
            let called: usize =
                calls.iter().map(|call| call.tool.len() + call.arguments.to_string().len()).sum();
            text.len() + called + carried
        }
        Message::Results { results } => results.iter().map(|result| result.content.len()).sum(),
    }
}
