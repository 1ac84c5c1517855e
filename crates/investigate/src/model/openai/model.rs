//! Asking OpenAI, or a server that speaks like it.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;

use crate::model::call::Turn;
use crate::model::openai::responses::decode::Step;
use crate::model::openai::{PROVIDER, chat, error, responses};
use crate::model::wire::{Client, Endpoint, Failed, Key, attempts};
use crate::model::{
    Answer, Ask, BuildError, Egress, Investigator, Listener, Message, Model, ModelError, Retries, Timeouts,
};
use ghost_base::Secret;

/// Where OpenAI answers, if the configuration does not say otherwise.
const BASE: &str = "https://api.openai.com/v1";

/// Which of the two interfaces a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /responses`: OpenAI itself and Azure OpenAI.
    Responses,
    /// `POST /chat/completions`: nearly everybody.
    Chat,
}

/// What a server calls the most tokens of an answer in the chat dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// `max_completion_tokens`: OpenAI itself, whose reasoning models refuse the older word.
    MaxCompletionTokens,
    /// `max_tokens`: most others.
    MaxTokens,
}

/// How the key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `Authorization: Bearer`.
    Bearer,
    /// `api-key`, as Azure OpenAI wants it.
    ApiKey,
}

/// How a server is asked.
#[derive(Debug, Clone)]
pub struct Options {
    /// The model, or the name of a deployment.
    pub model: String,
    /// The key; none for a server on this machine.
    pub key: Option<Secret>,
    /// How it is sent.
    pub sign: Sign,
    /// What addresses begin with, the version included; OpenAI's own where there is none. A query stays, such as
    /// `?api-version=` for Azure OpenAI.
    pub base: Option<String>,
    /// Which interface it speaks.
    pub dialect: Dialect,
    /// Its word for the most tokens of an answer; the responses dialect has its own.
    pub limit: Limit,
    /// Whether the model reasons, so that its encrypted reasoning is asked for in the responses dialect. `None`: told from
    /// the model's name. OpenAI refuses the question for models that do not reason.
    pub reasons: Option<bool>,
    /// A stable word, at most 64 letters, that leads requests with the same beginning to the same cache
    /// (`prompt_cache_key`). `None` for servers that do not know it.
    pub cache_key: Option<String>,
    /// How many tokens fit into the model's window, the answer included.
    pub window: u32,
    /// Where conversations may go.
    pub egress: Egress,
    /// How long an answer is waited for.
    pub timeouts: Timeouts,
    /// How often it is asked again.
    pub retries: Retries,
}

/// OpenAI, or a server that speaks like it.
#[derive(Debug)]
pub struct OpenAi {
    client: Client,
    model: String,
    dialect: Dialect,
    limit: Limit,
    reasons: bool,
    cache_key: Option<String>,
    window: u32,
    retries: Retries,
}

impl OpenAi {
    /// Makes the provider ready; nothing is sent yet.
    ///
    /// # Errors
    /// Fails where the address, the key or the model's name cannot be used, or conversations may not go there.
    pub fn new(options: Options) -> Result<Self, BuildError> {
        let Options { model, key, sign, base, dialect, limit, reasons, cache_key, .. } = options;
        let model = model.trim().to_owned();
        if model.is_empty() {
            let what = "the model has no name".to_owned();
            return Err(BuildError::Address { provider: PROVIDER, what });
        }
        let key = key.filter(|key| !key.is_empty()).map(|secret| match sign {
            Sign::Bearer => Key { header: "authorization", prefix: "Bearer ", secret },
            Sign::ApiKey => Key { header: "api-key", prefix: "", secret },
        });
        let endpoint = Endpoint {
            provider: PROVIDER,
            base: base.unwrap_or_else(|| BASE.to_owned()),
            key,
            headers: Vec::new(),
            egress: options.egress,
            classify: error::classify,
        };
        let client = Client::new(endpoint, options.timeouts)?;
        let reasons = reasons.unwrap_or_else(|| reasons_by_name(&model));
        let (window, retries) = (options.window, options.retries);
        Ok(Self { client, model, dialect, limit, reasons, cache_key, window, retries })
    }

    async fn once(&self, ask: &Ask, listener: &dyn Listener, carried: bool) -> Result<Turn, Failed> {
        let turn = match self.dialect {
            Dialect::Responses => self.response(ask, listener, carried).await,
            Dialect::Chat => self.chat(ask, listener).await,
        };
        turn.map_err(error::discreet)
    }

    async fn response(&self, ask: &Ask, listener: &dyn Listener, carried: bool) -> Result<Turn, Failed> {
        let host = self.client.host();
        let frame = responses::encode::Frame {
            model: &self.model,
            host: &host,
            reasons: self.reasons,
            carried,
            cache_key: self.cache_key.as_deref(),
        };
        let mut events = self.client.events("responses", &responses::encode::body(ask, frame)).await?;
        let mut reader = responses::decode::Reader::default();
        while let Some(event) = events.next().await? {
            if event.data == "[DONE]" {
                break;
            }
            match reader.feed(&events.json(&event)?, listener) {
                Step::More => {}
                Step::Over => break,
                Step::Failed(error) => {
                    let body = json!({ "error": error }).to_string();
                    return Err(events.reported(error::status(&error), &body));
                }
            }
        }
        reader.finish(&self.model, &host).ok_or_else(|| events.cut())
    }

    async fn chat(&self, ask: &Ask, listener: &dyn Listener) -> Result<Turn, Failed> {
        let limit = match self.limit {
            Limit::MaxCompletionTokens => "max_completion_tokens",
            Limit::MaxTokens => "max_tokens",
        };
        let frame = chat::encode::Frame { model: &self.model, limit, cache_key: self.cache_key.as_deref() };
        let mut events = self.client.events("chat/completions", &chat::encode::body(ask, frame)).await?;
        let mut reader = chat::decode::Reader::default();
        let mut told = false;
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => break,
                // The turn was whole before the connection broke.
                Err(_) if reader.is_over() => break,
                Err(failed) => return Err(failed),
            };
            if event.data.trim() == "[DONE]" {
                told = true;
                break;
            }
            if let Err(error) = reader.feed(&events.json(&event)?, listener) {
                let body = json!({ "error": error }).to_string();
                return Err(events.reported(error::status(&error), &body));
            }
        }
        reader.finish(told).ok_or_else(|| events.cut())
    }
}

#[async_trait]
impl Model for OpenAi {
    fn investigator(&self) -> Investigator {
        self.client.investigator(&self.model, self.window)
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let mut turn = attempts(self.retries, listener, || self.once(ask, listener, true)).await;
        if let Err(error) = &turn
            && error::distrusts(error)
            && self.dialect == Dialect::Responses
            && ask.messages.iter().any(is_carried)
        {
            // Reasoning that was encrypted for another key. The conversation counts for more than it does.
            listener.retry(error, Duration::ZERO);
            turn = attempts(self.retries, listener, || self.once(ask, listener, false)).await;
        }
        Ok(turn?.answer(ask, self.investigator(), |words| self.client.clean(words)))
    }
}

fn is_carried(message: &Message) -> bool {
    matches!(message, Message::Assistant { carry: Some(carry), .. } if carry.provider == PROVIDER)
}

/// Tells from its name whether a model of OpenAI reasons: the o series, and the gpt series from the fifth on.
fn reasons_by_name(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let number = |text: &str| -> Option<u32> {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    if name.contains("-chat") {
        return false;
    }
    let gpt = name.strip_prefix("gpt-").and_then(number).is_some_and(|major| major >= 5);
    let series = name.strip_prefix('o').and_then(number).is_some();
    gpt || series || name.starts_with("codex")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_told_from_the_name() {
        for name in
            ["o3", "o4-mini", "gpt-5", "gpt-5.1-codex", "openai/gpt-5-mini", "gpt-10", "codex-mini-latest"]
        {
            assert!(reasons_by_name(name), "{name}");
        }
        for name in
            ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "gpt-oss-120b", "olmo", "llama3.3", "deployment"]
        {
            assert!(!reasons_by_name(name), "{name}");
        }
    }
}
