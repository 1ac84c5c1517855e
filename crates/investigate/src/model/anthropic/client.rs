//! The provider itself: asks, listens, asks again.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::model::anthropic::carry::Thoughts;
use crate::model::anthropic::decode::{Decoder, Step, Turn};
use crate::model::anthropic::encode::Former;
use crate::model::anthropic::{encode, error};
use crate::model::wire::{Class, Client, Endpoint, Failed, Key, attempts};
use crate::model::{
    Answer, Ask, BuildError, Egress, Investigator, Listener, Model, ModelError, Retries, Stop, Timeouts,
};
use ghost_base::Secret;

/// Its name.
pub(super) const PROVIDER: &str = "anthropic";

/// Where it is, if the configuration does not say otherwise.
const BASE: &str = "https://api.anthropic.com";

/// The version of the interface that is spoken here.
const VERSION: &str = "2023-06-01";

/// How Anthropic is reached, and as which model.
#[derive(Debug, Clone)]
pub struct Options {
    /// The model's name.
    pub model: String,
    /// The key.
    pub key: Secret,
    /// The base address, with or without `/v1`; Anthropic's own where there is none.
    pub base: Option<String>,
    /// How many tokens fit into the model's window, the answer included.
    pub window: u32,
    /// How often a request is repeated.
    pub retries: Retries,
    /// How long an answer is waited for.
    pub timeouts: Timeouts,
    /// Where conversations may go.
    pub egress: Egress,
}

/// A model of Anthropic.
pub struct Anthropic {
    client: Client,
    path: &'static str,
    model: String,
    window: u32,
    retries: Retries,
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Anthropic").field("investigator", &self.investigator()).finish_non_exhaustive()
    }
}

impl Anthropic {
    /// Sets the provider up. Nothing is sent yet.
    ///
    /// # Errors
    /// Fails where the address, the key or `egress` does not allow it.
    pub fn new(options: Options) -> Result<Self, BuildError> {
        let Options { model, key, base, window, retries, timeouts, egress } = options;
        let base = base.unwrap_or_else(|| BASE.to_owned());
        let path = if base.trim_end_matches('/').ends_with("/v1") { "messages" } else { "v1/messages" };
        let endpoint = Endpoint {
            provider: PROVIDER,
            base,
            key: Some(Key { header: "x-api-key", prefix: "", secret: key }),
            headers: vec![("anthropic-version", VERSION.to_owned())],
            egress,
            classify: error::classify,
        };
        Ok(Self { client: Client::new(endpoint, timeouts)?, path, model, window, retries })
    }

    /// Asks once. A turn that does not arrive whole is none.
    async fn once(&self, request: &encode::Request, listener: &dyn Listener) -> Result<Turn, Failed> {
        let unreadable = |what: &str| self.client.unreadable(what.to_owned());
        let mut events = self.client.events(self.path, &request.body).await?;
        let mut decoder = Decoder::default();
        loop {
            let Some(event) = events.next().await? else { return Err(events.cut()) };
            let data = events.json(&event)?;
            if event.name == "error" || data.get("type").is_some_and(|kind| kind == "error") {
                return Err(events.reported(500, &event.data));
            }
            match decoder.read(&data).map_err(unreadable)? {
                Step::Quiet => {}
                Step::Words(words) => listener.text(&words),
                Step::End => return decoder.finish().map_err(unreadable),
            }
        }
    }
}

/// Tells whether the provider takes thoughts no longer that it signed, for a reason that cannot be seen from here: they belong
/// to another account, or a gateway changed something. There is no type for it.
fn refuses_thoughts(error: &ModelError) -> bool {
    matches!(error, ModelError::Rejected { what, .. } if what.contains("`signature` in `thinking`"))
}

#[async_trait]
impl Model for Anthropic {
    fn investigator(&self) -> Investigator {
        self.client.investigator(&self.model, self.window)
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        if let Some(tool) = ask.tools.iter().find(|tool| !encode::is_name(&tool.name)) {
            let what = format!("a tool cannot be called {:?} here", tool.name);
            return Err(Class::Rejected.failed(PROVIDER, what, None).error);
        }
        let mut request = encode::request(&self.model, ask, Former::Thoughts);
        let mut turn = attempts(self.retries, listener, || self.once(&request, listener)).await;
        if let Err(error) = &turn
            && request.has_thoughts
            && refuses_thoughts(error)
        {
            listener.retry(error, Duration::ZERO);
            request = encode::request(&self.model, ask, Former::Words);
            turn = attempts(self.retries, listener, || self.once(&request, listener)).await;
        }
        let turn = turn?;
        let stop = match turn.stop {
            Stop::Refused { why } => Stop::Refused { why: self.client.clean(&why) },
            stop @ (Stop::End | Stop::Calls | Stop::Length | Stop::Malformed { .. }) => stop,
        };
        Ok(Answer {
            investigator: self.investigator(),
            text: turn.text,
            carry: Thoughts::wrap(&self.model, request.before, turn.blocks),
            calls: turn.calls,
            usage: turn.usage,
            stop,
        })
    }
}
