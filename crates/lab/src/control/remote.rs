//! A lab in another process.

use std::path::Path;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use rustls::crypto::{CryptoProvider, ring};
use serde_json::Value;

use super::handler::OrderError;
use super::record::{Record, RecordError};
use crate::azure::{Answer, Body, Request};

/// How long an order may take: cases are injected, scripts run.
const ORDER_TIMEOUT: Duration = Duration::from_secs(600);

/// A lab in another process.
#[derive(Debug)]
pub struct Remote {
    record: Record,
    client: reqwest::Client,
}

/// Why a lab does not apply a setting.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// There is none.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// It does not answer.
    #[error("the lab at {url} does not answer")]
    Silent {
        /// Where it should be.
        url: String,
        /// What happened.
        #[source]
        source: reqwest::Error,
    },
    /// It says why not.
    #[error(transparent)]
    Refused(#[from] OrderError),
}

impl Remote {
    /// Finds the lab of a file.
    ///
    /// # Errors
    /// Fails where no lab lives by this file; what a dead one has left behind is cleaned up.
    pub fn find(path: &Path) -> Result<Self, RemoteError> {
        let record = Record::find(path)?;
        if CryptoProvider::get_default().is_none() {
            drop(ring::default_provider().install_default());
        }
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let silent = |source| RemoteError::Silent { url: record.url.clone(), source };
        let client = client.tls_certs_only([]).timeout(ORDER_TIMEOUT).build().map_err(silent)?;
        Ok(Self { record, client })
    }

    /// Returns what the lab's file says.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Gives an order and returns its result.
    ///
    /// # Errors
    /// Fails where the lab refuses it, or does not answer.
    pub async fn order(&self, name: &str, body: &Value) -> Result<Value, RemoteError> {
        let silent = |source| RemoteError::Silent { url: self.record.url.clone(), source };
        let request =
            self.client.post(format!("{}/lab/{name}", self.record.url)).bearer_auth(&self.record.token);
        let request = if body.is_null() { request } else { request.json(body) };
        let response = request.send().await.map_err(silent)?;
        let good = response.status().is_success();
        let reported: Value = response.json().await.map_err(silent)?;
        if good {
            return Ok(reported);
        }
        let text = |field: &str| reported.get(field).and_then(Value::as_str).map(str::to_owned);
        let what = text("error").unwrap_or_else(|| "the lab refuses, and does not say why".to_owned());
        Err(OrderError { what, hint: text("hint") }.into())
    }

    /// Sends a request to the resource manager, or to the blob service of an account, and returns the answer; the lab's own token
    /// signs what is not signed.
    ///
    /// # Errors
    /// Fails where the lab does not answer.
    pub async fn send(&self, account: Option<&str>, request: &Request) -> Result<Answer, RemoteError> {
        let silent = |source| RemoteError::Silent { url: self.record.url.clone(), source };
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let query: Vec<String> = request
            .query
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        let mark = if query.is_empty() { "" } else { "?" };
        let path =
            account.map_or_else(|| request.path.clone(), |account| format!("/{account}{}", request.path));
        let url = format!("{}{path}{mark}{}", self.record.url, query.join("&"));
        let method = Method::from_bytes(request.verb.name().as_bytes()).unwrap_or(Method::GET);
        let mut sent = self.client.request(method, url);
        for (name, value) in &request.headers {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
                sent = sent.header(name, value);
            }
        }
        if request.header("authorization").is_none() && request.parameter("sig").is_none() {
            sent = sent.bearer_auth(&self.record.token);
        }
        let response = sent.body(request.body.clone()).send().await.map_err(silent)?;
        let status = response.status().as_u16();
        let headers: Vec<(String, String)> = response
            .headers()
            .iter()
            .map(|(name, value)| {
                (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect();
        let bytes = response.bytes().await.map_err(silent)?.to_vec();
        Ok(Answer { status, body: body(&headers, bytes), headers })
    }
}

/// Reads a body by what it says it is.
fn body(headers: &[(String, String)], bytes: Vec<u8>) -> Body {
    let kind = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let kind = kind.map_or("", |(_, value)| value.as_str());
    if bytes.is_empty() {
        return Body::Empty;
    }
    if kind.starts_with("application/json")
        && let Ok(document) = serde_json::from_slice(&bytes)
    {
        return Body::Json(document);
    }
    let known = ["application/json", "application/xml", "text/html", "text/plain"];
    match (known.into_iter().find(|known| kind.starts_with(known)), String::from_utf8(bytes)) {
        (Some(kind), Ok(text)) => Body::Text(kind, text),
        (None, Ok(text)) => Body::Bytes(text.into_bytes()),
        (_, Err(error)) => Body::Bytes(error.into_bytes()),
    }
}
