//! The link through the bot's port.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde_json::Value;

use super::link::{Link, LinkError, StandingQuery, check};
use super::server::{AskBody, AttendBody, Named, StandingParameters, TakeBody};
use ghost_base::{Secret, SessionId, causes};
use ghost_investigate::event::OutsideRequest;
use ghost_investigate::outside::Standing;

/// How long the other end may take to be there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a call may take beyond what is asked to be waited.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// An answer is short; what is longer is another server's.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Where the bot listens, and as whom it is asked.
#[derive(Debug, Clone)]
pub struct HttpPlace {
    /// Its address, without a path.
    pub url: String,
    /// What names the caller.
    pub token: Secret,
}

/// One caller, over HTTP.
pub struct HttpLink {
    place: HttpPlace,
    client: reqwest::Client,
}

impl HttpLink {
    /// Prepares calls. Nothing of the environment chooses where they go: no proxy, no redirect.
    ///
    /// # Errors
    /// Fails where no client can be made.
    pub fn new(place: HttpPlace) -> Result<Self, LinkError> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|error| LinkError::Refused(causes(&error)))?;
        Ok(Self { place, client })
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        wait: Duration,
    ) -> Result<(StatusCode, Vec<u8>), LinkError> {
        let url = format!("{}{path}", self.place.url.trim_end_matches('/'));
        let request = self
            .client
            .request(method, url)
            .bearer_auth(self.place.token.expose())
            .timeout(wait + CALL_TIMEOUT);
        let request = match &body {
            Some(body) => request.json(body),
            None => request,
        };
        let away = |error: reqwest::Error| LinkError::Unreachable(causes(&error));
        let mut response = request.send().await.map_err(away)?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(part) = response.chunk().await.map_err(away)? {
            if bytes.len() + part.len() > MAX_ANSWER_BYTES {
                return Err(LinkError::Refused("the answer is none of a bot".to_owned()));
            }
            bytes.extend_from_slice(&part);
        }
        Ok((status, bytes))
    }

    async fn post(&self, path: &str, body: &impl Serialize) -> Result<Vec<u8>, LinkError> {
        let body = serde_json::to_value(body).map_err(|error| LinkError::Refused(error.to_string()))?;
        let (status, answer) = self.call(Method::POST, path, Some(body), Duration::ZERO).await?;
        if status == StatusCode::ACCEPTED { Ok(answer) } else { Err(refused(status, &answer)) }
    }
}

#[async_trait]
impl Link for HttpLink {
    async fn ask(&self, nonce: &str, request: &OutsideRequest) -> Result<SessionId, LinkError> {
        check(request)?;
        let body = AskBody { nonce: nonce.to_owned(), request: request.clone() };
        let answer = self.post("/outside", &body).await?;
        let named: Option<Named> = serde_json::from_slice(&answer).ok();
        let id = named.and_then(|named| named.id.parse().ok());
        id.ok_or_else(|| LinkError::Refused("the answer is none of a bot".to_owned()))
    }

    async fn standing(&self, id: &SessionId, query: StandingQuery) -> Result<Option<Standing>, LinkError> {
        let StandingParameters { wait_ms, beyond_granted } = StandingParameters {
            wait_ms: u64::try_from(query.wait.as_millis()).unwrap_or_default(),
            beyond_granted: query.beyond_granted,
        };
        let path = format!("/outside/{id}?wait_ms={wait_ms}&beyond_granted={beyond_granted}");
        let (status, answer) = self.call(Method::GET, &path, None, query.wait).await?;
        match status {
            StatusCode::OK => {
                let standing = serde_json::from_slice(&answer);
                standing
                    .map(Some)
                    .map_err(|error| LinkError::Refused(format!("the answer is none of a bot: {error}")))
            }
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(refused(status, &answer)),
        }
    }

    async fn take(&self, id: &SessionId, key: &str) -> Result<(), LinkError> {
        self.post(&format!("/outside/{id}/take"), &TakeBody { key: key.to_owned() }).await.map(drop)
    }

    async fn attend(&self, id: &SessionId, waits: bool) -> Result<(), LinkError> {
        self.post(&format!("/outside/{id}/attend"), &AttendBody { waits }).await.map(drop)
    }
}

fn refused(status: StatusCode, answer: &[u8]) -> LinkError {
    let said = serde_json::from_slice::<Value>(answer).ok();
    let said = said.as_ref().and_then(|said| said.get("error")?.as_str()).unwrap_or_default();
    let why = if said.is_empty() { status.to_string() } else { format!("{said} ({})", status.as_u16()) };
    match status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
            LinkError::Unreachable(why)
        }
        _ => LinkError::Refused(why),
    }
}
