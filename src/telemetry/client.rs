//! Who takes traces and metrics: one address, over HTTP.

use std::time::Duration;

use ghost_base::Secret;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use tokio::time::sleep;

use crate::direct;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);

/// How often something is sent before it is given up.
const ATTEMPTS: u32 = 5;

/// The longest pause between two attempts, whatever the collector asks for.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Whoever takes telemetry.
pub struct Collector {
    client: Client,
    url: String,
    token: Option<Secret>,
}

/// Nobody took what was sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectorError {
    #[error("the collector answered {status}")]
    Refused { status: u16 },
    #[error("the collector cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    #[error("the token has letters that no token has")]
    Token,
}

impl Collector {
    /// Makes a client that goes to this address, and nowhere else.
    ///
    /// # Errors
    /// Fails where no client can be made, a machine without certificates for instance.
    pub fn new(url: &str, token: Option<Secret>) -> Result<Self, reqwest::Error> {
        let client = direct::client(url, CONNECT_TIMEOUT, TIMEOUT)?;
        Ok(Self { client, url: url.trim_end_matches('/').to_owned(), token })
    }

    /// Sends a message, and again where the collector asks for that or does not answer.
    pub(super) async fn send(&self, path: &str, body: Vec<u8>) -> Result<(), CollectorError> {
        let mut pause = Duration::from_secs(1);
        let mut attempt = 1;
        loop {
            let (error, asked) = match self.send_once(path, body.clone()).await {
                Ok(()) => return Ok(()),
                Err(failed) => failed,
            };
            let again = match &error {
                CollectorError::Refused { status } => matches!(status, 429 | 502..=504),
                CollectorError::Unreachable(_) => true,
                CollectorError::Token => false,
            };
            if !again || attempt == ATTEMPTS {
                return Err(error);
            }
            sleep(asked.unwrap_or(pause).min(MAX_PAUSE)).await;
            (pause, attempt) = (pause * 2, attempt + 1);
        }
    }

    async fn send_once(&self, path: &str, body: Vec<u8>) -> Result<(), (CollectorError, Option<Duration>)> {
        let mut request = self.client.post(format!("{}{path}", self.url)).body(body);
        request = request.header(CONTENT_TYPE, "application/x-protobuf");
        if let Some(token) = &self.token {
            let value = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
            let mut value = value.map_err(|_| (CollectorError::Token, None))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        // The address is in the configuration, and may hold more than a host: it is not repeated.
        let unreachable = |error: reqwest::Error| (CollectorError::Unreachable(error.without_url()), None);
        let answer = request.send().await.map_err(unreachable)?;
        let status = answer.status();
        if status == StatusCode::OK || status == StatusCode::ACCEPTED || status == StatusCode::NO_CONTENT {
            return Ok(());
        }
        let seconds =
            answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Err((CollectorError::Refused { status: status.as_u16() }, seconds.map(Duration::from_secs)))
    }
}
