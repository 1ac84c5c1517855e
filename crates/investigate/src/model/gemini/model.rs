//! Asking Gemini.

use async_trait::async_trait;

use crate::model::call::Turn;
use crate::model::gemini::decode::{End, Reader};
use crate::model::gemini::{PROVIDER, encode, error};
use crate::model::wire::{Class, Client, Endpoint, Failed, Key, attempts};
use crate::model::{
    Answer, Ask, BuildError, Egress, Investigator, Listener, Message, Model, ModelError, Retries, Timeouts,
};
use ghost_base::Secret;

/// Where Google answers, if the configuration does not say otherwise.
const BASE: &str = "https://generativelanguage.googleapis.com/v1beta";

/// How Gemini is asked.
#[derive(Debug, Clone)]
pub struct Options {
    /// The model, such as `gemini-2.5-pro`.
    pub model: String,
    /// The key of the interface.
    pub key: Secret,
    /// What addresses begin with, the version included; Google's own where there is none.
    pub base: Option<String>,
    /// How many tokens fit into the model's window, the answer included.
    pub window: u32,
    /// Where conversations may go.
    pub egress: Egress,
    /// How long an answer is waited for.
    pub timeouts: Timeouts,
    /// How often it is asked again.
    pub retries: Retries,
}

/// Gemini.
#[derive(Debug)]
pub struct Gemini {
    client: Client,
    model: String,
    path: String,
    window: u32,
    retries: Retries,
}

impl Gemini {
    /// Makes the provider ready; nothing is sent yet.
    ///
    /// # Errors
    /// Fails where the address, the key or the model's name cannot be used, or conversations may not go there.
    pub fn new(options: Options) -> Result<Self, BuildError> {
        let Options { model, key, base, window, egress, timeouts, retries } = options;
        let model = model.trim().trim_start_matches("models/").to_owned();
        let named = |char: char| char.is_ascii_alphanumeric() || "-._/".contains(char);
        if model.is_empty() || !model.chars().all(named) || model.contains("..") {
            let what = "the model's name has letters that no name has".to_owned();
            return Err(BuildError::Address { provider: PROVIDER, what });
        }
        let folder = if model.contains('/') { "" } else { "models/" };
        let path = format!("{folder}{model}:streamGenerateContent?alt=sse");
        let endpoint = Endpoint {
            provider: PROVIDER,
            base: base.unwrap_or_else(|| BASE.to_owned()),
            // In a header: addresses stand in the logs of proxies.
            key: Some(Key { header: "x-goog-api-key", prefix: "", secret: key }),
            headers: Vec::new(),
            egress,
            classify: error::classify,
        };
        Ok(Self { client: Client::new(endpoint, timeouts)?, model, path, window, retries })
    }

    async fn once(&self, ask: &Ask, listener: &dyn Listener, signed: bool) -> Result<Turn, Failed> {
        let body = encode::body(ask, &self.model, signed);
        let mut events = self.client.events(&self.path, &body).await?;
        let mut reader = Reader::default();
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => break,
                // The turn was whole before the connection broke.
                Err(_) if reader.is_over() => break,
                Err(failed) => return Err(failed),
            };
            let piece = events.json(&event)?;
            if let Some(error) = error::find(&piece) {
                return Err(events.reported(error::status(error), &event.data));
            }
            reader.feed(&piece, listener);
        }
        match reader.finish(&self.model) {
            End::Whole(turn) => Ok(turn),
            End::BrokeOff => Err(events.cut()),
            End::Unsigned => {
                Err(Class::Rejected.failed(PROVIDER, "a thought signature is missing".to_owned(), None))
            }
        }
    }
}

#[async_trait]
impl Model for Gemini {
    fn investigator(&self) -> Investigator {
        self.client.investigator(&self.model, self.window)
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let mut turn = attempts(self.retries, listener, || self.once(ask, listener, true)).await;
        if let Err(error) = &turn
            && error::distrusts(error)
            && ask.messages.iter().any(is_carried)
        {
            // Thoughts that were signed for another key or version. The conversation counts for more than they do.
            listener.retry(error, std::time::Duration::ZERO);
            turn = attempts(self.retries, listener, || self.once(ask, listener, false)).await;
        }
        Ok(turn?.answer(ask, self.investigator(), |words| self.client.clean(words)))
    }
}

fn is_carried(message: &Message) -> bool {
    matches!(message, Message::Assistant { carry: Some(carry), .. } if carry.provider == PROVIDER)
}
