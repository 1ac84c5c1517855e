//! Tokens, as the Messages API counts them.

use serde_json::Value;

use crate::model::Usage;

/// Tokens in the provider's words: `input` leaves out what the cache read and wrote.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    input: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    output: Option<u64>,
}

impl Tokens {
    /// Takes over what an event says. Numbers are sums so far, not differences.
    pub(super) fn read(&mut self, usage: Option<&Value>) {
        let number = |name: &str| usage?.get(name)?.as_u64();
        self.input = number("input_tokens").or(self.input);
        self.read = number("cache_read_input_tokens").or(self.read);
        self.written = number("cache_creation_input_tokens").or(self.written);
        self.output = number("output_tokens").or(self.output);
    }

    /// Returns the tokens in the port's words, in which those of the cache are part of the input.
    pub(super) fn sum(self) -> Usage {
        let cached = self.read.unwrap_or(0).saturating_add(self.written.unwrap_or(0));
        Usage {
            input: self.input.map(|input| input.saturating_add(cached)),
            cached: self.read,
            cache_written: self.written,
            output: self.output,
        }
    }
}
