//! The one client of a provider. It knows its key and where it may go, and tells neither to anyone.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url, redirect, retry};
use rustls::crypto::{CryptoProvider, ring};
use serde_json::Value;
use tokio::time::Instant;

use crate::model::wire::address;
use crate::model::wire::body::{Body, Events};
use crate::model::wire::egress::{BuildError, Egress};
use crate::model::wire::info;
use crate::model::wire::status::{self, Class, Failed};
use crate::model::{Investigator, ModelError};
use ghost_base::{Clock, Secret, SystemClock};

/// How long a provider is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until a connection stands.
    pub connect: Duration,
    /// Between the request and the first byte, and between two pieces of an answer.
    pub idle: Duration,
    /// For a whole answer, from the request to its last byte.
    pub total: Duration,
}

/// Ten seconds, a minute and a half, ten minutes.
impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(90),
            total: Duration::from_secs(600),
        }
    }
}

/// How a provider is reached.
pub(crate) struct Endpoint {
    /// Its name in errors.
    pub(crate) provider: &'static str,
    /// What every path is appended to.
    pub(crate) base: String,
    /// Its key, where it wants one.
    pub(crate) key: Option<Key>,
    /// Further headers of every request, in small letters.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Where conversations may go.
    pub(crate) egress: Egress,
    /// What the provider's own error means, given a status and a body; nothing where the status alone decides.
    pub(crate) classify: fn(u16, &Value) -> Option<Class>,
}

/// A key and the header that carries it.
pub(crate) struct Key {
    /// The header, in small letters.
    pub(crate) header: &'static str,
    /// What stands before the key, such as `Bearer `.
    pub(crate) prefix: &'static str,
    /// The key.
    pub(crate) secret: Secret,
}

/// Sends requests to one provider.
pub(crate) struct Client {
    http: reqwest::Client,
    provider: &'static str,
    base: Url,
    headers: HeaderMap,
    secret: Option<Secret>,
    timeouts: Timeouts,
    classify: fn(u16, &Value) -> Option<Class>,
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Client")
            .field("provider", &self.provider)
            .field("host", &self.host())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Sets a client up.
    ///
    /// # Errors
    /// Fails where the address, the key or the machine does not allow it.
    pub(crate) fn new(endpoint: Endpoint, timeouts: Timeouts) -> Result<Self, BuildError> {
        let Endpoint { provider, base, key, headers: named, egress, classify } = endpoint;
        let base = address::read(provider, &base)?;
        egress.admit(&base)?;
        let mut headers = HeaderMap::new();
        for (name, value) in named {
            let what = || BuildError::Address { provider, what: format!("the header {name} cannot be sent") };
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(&value).map_err(|_| what())?);
        }
        if let Some(key) = &key {
            headers.insert(HeaderName::from_static(key.header), carry(provider, key)?);
        }
        let http = build(&base, timeouts)
            .map_err(|error| BuildError::Tls { provider, what: chain(&error.without_url()) })?;
        let secret = key.map(|key| key.secret);
        Ok(Self { http, provider, base, headers, secret, timeouts, classify })
    }

    /// Returns the provider's name.
    pub(crate) fn provider(&self) -> &'static str {
        self.provider
    }

    /// Returns the host that receives the conversation.
    pub(crate) fn host(&self) -> String {
        address::host(&self.base)
    }

    /// Says who answers.
    pub(crate) fn investigator(&self, model: &str, window: u32) -> Investigator {
        Investigator {
            provider: self.provider.to_owned(),
            model: model.to_owned(),
            host: Some(self.host()),
            window,
        }
    }

    pub(super) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Sends a request whose answer is a stream of events.
    ///
    /// # Errors
    /// Fails with the provider's error, or where there is no stream.
    pub(crate) async fn events(&self, path: &str, body: &Value) -> Result<Events<'_>, Failed> {
        let deadline = Instant::now() + self.timeouts.total;
        let response = self.send(path, body, deadline).await?;
        if response.status().as_u16() != 200 || !is(&response, "text/event-stream") {
            return Err(self.refused(response, deadline).await);
        }
        Ok(Events::new(Body::new(self, response, deadline)))
    }

    async fn send(&self, path: &str, body: &Value, deadline: Instant) -> Result<Response, Failed> {
        let request = self
            .http
            .post(address::join(&self.base, path))
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .body(body.to_string());
        self.within(deadline, request.send()).await?.map_err(|error| self.broken(error))
    }

    /// Reads an answer that is an error.
    async fn refused(&self, response: Response, deadline: Instant) -> Failed {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let header = |name: &str| headers.get(name)?.to_str().ok();
        let pause = status::pause(header, SystemClock.now());
        let body = Body::new(self, response, deadline).beginning(status::LONGEST_BODY).await;
        self.failed(status, &String::from_utf8_lossy(&body), pause)
    }

    /// Makes the error of a body: the provider's own words decide, then the status.
    pub(super) fn failed(&self, status: u16, body: &str, pause: Option<Duration>) -> Failed {
        let json = serde_json::from_str(body).unwrap_or(Value::Null);
        let class = (self.classify)(status, &json).unwrap_or_else(|| Class::of_status(status));
        let secret = self.secret.as_ref().map(Secret::expose);
        let pause = pause.or_else(|| info::pause(&json));
        class.failed(self.provider, status::words(status, body, secret), pause)
    }

    /// Takes secrets, line ends and length out of words of the provider.
    pub(crate) fn clean(&self, words: &str) -> String {
        status::clean(words, self.secret.as_ref().map(Secret::expose))
    }

    /// Makes the error of a connection.
    pub(super) fn broken(&self, error: reqwest::Error) -> Failed {
        let error = error.without_url();
        if error.is_timeout() {
            let after = self.timeouts.connect;
            return ModelError::Timeout { provider: self.provider.to_owned(), after }.into();
        }
        Class::Unavailable.failed(self.provider, self.clean(&chain(&error)), None)
    }

    /// Makes the error of an answer that is not as documented. `what` holds no words of the answer.
    pub(crate) fn unreadable(&self, what: String) -> Failed {
        Class::Unreadable.failed(self.provider, what, None)
    }
}

fn build(base: &Url, timeouts: Timeouts) -> Result<reqwest::Client, reqwest::Error> {
    // Whoever set a provider of TLS first has chosen for the process; a second one would be refused anyway.
    if CryptoProvider::get_default().is_none() {
        drop(ring::default_provider().install_default());
    }
    let here = [([127, 0, 0, 1], 0).into(), ([0, 0, 0, 0, 0, 0, 0, 1_u16], 0).into()];
    let mut http = reqwest::Client::builder()
        .user_agent(concat!("ghost-agent/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(timeouts.connect)
        // The file of hosts must not send what is allowed for this machine somewhere else.
        .resolve_to_addrs("localhost", &here);
    if base.scheme() == "http" {
        // A machine without certificates can still talk to itself.
        http = http.tls_certs_only([]);
    } else {
        http = http.https_only(true);
    }
    http.build()
}

/// Makes the value of the header that carries the key.
fn carry(provider: &'static str, key: &Key) -> Result<HeaderValue, BuildError> {
    if key.secret.is_empty() {
        return Err(BuildError::Key { provider, what: "is empty" });
    }
    let value = format!("{}{}", key.prefix, key.secret.expose());
    let mut value = HeaderValue::from_str(&value)
        .map_err(|_| BuildError::Key { provider, what: "has letters that no key has" })?;
    value.set_sensitive(true);
    Ok(value)
}

fn is(response: &Response, kind: &str) -> bool {
    let value =
        response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind)
}

/// Tells an error with its causes, which is where the reason stands.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base: &str, key: &str) -> Endpoint {
        Endpoint {
            provider: "openai",
            base: base.to_owned(),
            key: Some(Key { header: "authorization", prefix: "Bearer ", secret: Secret::new(key) }),
            headers: Vec::new(),
            egress: Egress::Anywhere,
            classify: |_, _| None,
        }
    }

    #[test]
    fn a_client_shows_neither_its_key_nor_its_headers() {
        let client =
            Client::new(endpoint("http://127.0.0.1:9", "plain-word-key-9"), Timeouts::default()).unwrap();
        assert_eq!(format!("{client:?}"), r#"Client { provider: "openai", host: "127.0.0.1:9", .. }"#);
        assert!(!format!("{:?}", client.headers).contains("plain-word"));
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_refused_and_not_repeated() {
        for key in ["", " \n", "plain\nword", "plain\u{7}word"] {
            let error = Client::new(endpoint("http://127.0.0.1:9", key), Timeouts::default()).unwrap_err();
            assert!(matches!(error, BuildError::Key { .. }));
            assert!(!error.to_string().contains("plain"));
        }
    }

    #[test]
    fn a_client_is_only_made_for_a_host_that_is_allowed() {
        let mut inside = endpoint("https://api.example.com", "key");
        inside.egress = Egress::Only(Vec::new());
        let error = Client::new(inside, Timeouts::default()).unwrap_err();
        assert_eq!(error, BuildError::Forbidden { host: "api.example.com".to_owned() });
    }
}
