//! How long a question is, where no tokenizer is at hand: four bytes a token.

use crate::model::{Ask, Message};

/// Counts the tokens of a whole question.
pub(super) fn tokens(ask: &Ask) -> u64 {
    let tools: usize = ask
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len())
        .sum();
    let bytes = ask.system.len() + tools + ask.messages.iter().map(message).sum::<usize>();
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

/// Counts the bytes of a message.
pub(super) fn message(message: &Message) -> usize {
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
