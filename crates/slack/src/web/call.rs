//! One call: wait for its turn, ask with a time limit, obey a 429, and ask again with a new token where there is one.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::Value;
use slack_morphism::prelude::{
    ClientResult, SlackApiToken, SlackApiTokenValue, SlackClientApiCallContext,
    SlackClientHttpConnector as _, SlackClientHyperHttpsConnector,
};
use tokio::time::timeout;

use crate::pace::{CallQueue, CallRequest, Priority, Turn};
use crate::web::error::CallError;
use crate::web::granted::Tokens;
use crate::web::tls::{Roots, connector};
use ghost_base::Secret;

/// Where Slack is.
const SLACK: &str = "https://slack.com/api";

/// How calls are made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the methods are, with or without a slash at the end (`SLACK_API_URL`); none is Slack itself.
    pub url: Option<String>,
    /// Whom we trust to be Slack.
    pub roots: Roots,
    /// How long one call may take, without the time that it waits for its turn.
    pub limit: Duration,
}

impl Settings {
    /// Settings for Slack itself.
    #[must_use]
    pub fn new(roots: Roots) -> Self {
        Self { url: None, roots, limit: Duration::from_secs(20) }
    }
}

/// Hears how each call ended: its method, and the error where there is one.
pub type CallObserver = dyn Fn(&str, Option<&CallError>) + Send + Sync;

/// The Web API. Clones are cheap and share connections and turns.
#[derive(Clone)]
pub struct Web {
    inner: Arc<Inner>,
    priority: Priority,
}

struct Inner {
    connector: SlackClientHyperHttpsConnector,
    tokens: Arc<dyn Tokens>,
    queue: Arc<CallQueue>,
    limit: Duration,
    roots: Roots,
    url: String,
    /// Methods that this workspace does not know, so that it is asked once.
    missing: Mutex<Vec<String>>,
    observer: OnceLock<Box<CallObserver>>,
}

/// How a method takes its arguments: methods that read do not take JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Query,
    Json,
}

/// Which token a method takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Bot,
    App,
}

impl fmt::Debug for Web {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Web").field("priority", &self.priority).finish_non_exhaustive()
    }
}

impl Web {
    /// Makes a client. Its calls wait for their turns in a line of its own.
    #[must_use]
    pub fn new(settings: Settings, tokens: Arc<dyn Tokens>) -> Self {
        Self::with_queue(settings, tokens, Arc::new(CallQueue::default()))
    }

    /// Makes a client whose calls wait in this line.
    #[must_use]
    pub fn with_queue(settings: Settings, tokens: Arc<dyn Tokens>, queue: Arc<CallQueue>) -> Self {
        let Settings { url, roots, limit } = settings;
        let url = url.as_deref().unwrap_or(SLACK).trim_end_matches('/').to_owned();
        let connector = connector(&roots, &url);
        let missing = Mutex::default();
        Self {
            inner: Arc::new(Inner {
                connector,
                tokens,
                queue,
                limit,
                roots,
                url,
                missing,
                observer: OnceLock::new(),
            }),
            priority: Priority::Other,
        }
    }

    /// Returns the same client with another place in line.
    #[must_use]
    pub fn at(&self, priority: Priority) -> Self {
        Self { inner: Arc::clone(&self.inner), priority }
    }

    /// Returns the line in which calls wait.
    #[must_use]
    pub fn queue(&self) -> &CallQueue {
        &self.inner.queue
    }

    /// Names who hears how each call of this client and its clones ends, from now on. The first one stays.
    pub fn observe_calls(&self, observer: Box<CallObserver>) {
        drop(self.inner.observer.set(observer));
    }

    /// Returns where the methods are, without a slash at the end.
    pub(crate) fn url(&self) -> &str {
        &self.inner.url
    }

    pub(crate) fn limit(&self) -> Duration {
        self.inner.limit
    }

    pub(crate) fn bot_token(&self) -> Secret {
        self.inner.tokens.bot()
    }

    /// Returns whom calls trust, so that sockets trust the same.
    #[must_use]
    pub fn roots(&self) -> &Roots {
        &self.inner.roots
    }

    /// Calls a method with the bot's token and JSON, for what has no name here yet.
    ///
    /// # Errors
    /// Fails where Slack refuses, cannot be reached, or does not answer in time. It never fails because of 429.
    pub async fn call(&self, method: &str, arguments: &Value) -> Result<Value, CallError> {
        self.ask(TokenKind::Bot, Encoding::Json, method, arguments, None)
            .await
            .map(|answer| answer.unwrap_or(Value::Null))
    }

    /// Calls a method that reads.
    pub(crate) async fn get(&self, method: &str, arguments: &Value) -> Result<Value, CallError> {
        self.ask(TokenKind::Bot, Encoding::Query, method, arguments, None)
            .await
            .map(|answer| answer.unwrap_or(Value::Null))
    }

    /// Calls a method unless another call with the same name takes its place in line; then there is no answer.
    pub(crate) async fn call_unless_replaced(
        &self,
        method: &str,
        arguments: &Value,
        name: String,
    ) -> Result<Option<Value>, CallError> {
        self.ask(TokenKind::Bot, Encoding::Json, method, arguments, Some(name)).await
    }

    /// Calls a method with the app's own token, once: whoever opens sockets has a pace of its own.
    pub(crate) async fn call_as_app(&self, method: &str) -> Result<Value, CallError> {
        let none = Value::Object(serde_json::Map::new());
        self.try_once(TokenKind::App, Encoding::Json, method, &none).await
    }

    /// Returns the place that calls have in line.
    #[must_use]
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// Tells whether a workspace is known not to know a method.
    pub(crate) fn is_missing(&self, method: &str) -> bool {
        let missing = self.inner.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.iter().any(|known| known == method)
    }

    /// Remembers that a workspace does not know a method; tells whether that is news.
    pub(crate) fn note_missing(&self, method: &str) -> bool {
        let mut missing = self.inner.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let news = !missing.iter().any(|known| known == method);
        if news {
            missing.push(method.to_owned());
        }
        news
    }

    async fn ask(
        &self,
        token_kind: TokenKind,
        encoding: Encoding,
        method: &str,
        arguments: &Value,
        name: Option<String>,
    ) -> Result<Option<Value>, CallError> {
        let channel = ["channel", "channel_id"].iter().find_map(|name| arguments.get(name)?.as_str());
        let mut ask = CallRequest::new(self.priority, method, channel);
        ask.name = name;
        let mut place = self.inner.queue.enqueue(ask);
        loop {
            match place.turn().await {
                Turn::Replaced => return Ok(None),
                Turn::Go => {}
            }
            match self.try_once(token_kind, encoding, method, arguments).await {
                Err(CallError::RateLimited { retry_after, .. }) => {
                    tracing::info!(
                        slack.method = method,
                        wait_ms = retry_after.as_millis(),
                        "slack answered 429 to {method}"
                    );
                    place.refused(retry_after);
                }
                done => return done.map(Some),
            }
        }
    }

    async fn try_once(
        &self,
        token_kind: TokenKind,
        encoding: Encoding,
        method: &str,
        arguments: &Value,
    ) -> Result<Value, CallError> {
        let token = self.token(token_kind);
        let done = self.send(&token, encoding, method, arguments).await;
        let Err(error) = &done else { return done };
        if !error.is_about_token() {
            return done;
        }
        // It may have been changed a moment ago.
        let fresh = self.token(token_kind);
        if fresh == token { done } else { self.send(&fresh, encoding, method, arguments).await }
    }

    fn token(&self, token_kind: TokenKind) -> Secret {
        match token_kind {
            TokenKind::Bot => self.inner.tokens.bot(),
            TokenKind::App => self.inner.tokens.app(),
        }
    }

    async fn send(
        &self,
        token: &Secret,
        encoding: Encoding,
        method: &str,
        arguments: &Value,
    ) -> Result<Value, CallError> {
        if token.is_empty() || !token.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(CallError::refused(method, "not_authed"));
        }
        let token = SlackApiToken::new(SlackApiTokenValue(token.expose().to_owned()));
        let span = tracing::debug_span!("slack.call", slack.method = method);
        let connector = &self.inner.connector;
        let context = context(Some(&token), &span);
        let answer = async {
            match encoding {
                Encoding::Json => connector.http_post(method, arguments, context).await,
                Encoding::Query => connector.http_get(method, &query(arguments), context).await,
            }
        };
        self.within(method, answer).await
    }

    /// Posts to an address that Slack gave us; no token goes there, as the address itself is the right.
    pub(crate) async fn post_to(&self, what: &str, url: &str, body: Body<'_>) -> Result<Value, CallError> {
        let Ok(url) = url.parse() else { return Err(CallError::refused(what, "invalid_url")) };
        let span = tracing::debug_span!("slack.call", slack.method = what);
        let mut context = context(None, &span);
        context.is_sensitive_url = true;
        let connector = &self.inner.connector;
        let answer = async {
            match body {
                Body::Json(value) => connector.http_post_uri(url, value, context).await,
                Body::Bytes(bytes) => {
                    let media = "application/octet-stream".to_owned();
                    connector.http_post_uri_binary(url, media, bytes, context).await
                }
            }
        };
        self.within(what, answer).await
    }

    async fn within(
        &self,
        method: &str,
        answer: impl Future<Output = ClientResult<Value>>,
    ) -> Result<Value, CallError> {
        let done = match timeout(self.inner.limit, answer).await {
            Ok(done) => done.map_err(|error| CallError::of(method, error)),
            Err(_) => Err(CallError::Late { method: method.to_owned(), after: self.inner.limit }),
        };
        if let Some(observer) = self.inner.observer.get() {
            observer(method, done.as_ref().err());
        }
        done
    }
}

/// What is posted to an address.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Body<'a> {
    Json(&'a Value),
    Bytes(&'a [u8]),
}

fn context<'a>(token: Option<&'a SlackApiToken>, span: &'a tracing::Span) -> SlackClientApiCallContext<'a> {
    SlackClientApiCallContext {
        rate_control_params: None,
        token,
        tracing_span: span,
        is_sensitive_url: false,
    }
}

/// Turns the fields of an object into those of an address; null is left out.
fn query(arguments: &Value) -> Vec<(&str, Option<String>)> {
    let fields = arguments.as_object().into_iter().flatten();
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    };
    fields.map(|(name, value)| (name.as_str(), text(value))).collect()
}
