//! What the token of the bot may do. Slack tells that in a header, which the client below does not hand on.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use ghost_base::Secret;
use hyper::body::{Body as _, Incoming};
use hyper::{Request, Response, header};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::time::timeout;

use crate::web::call::Web;
use crate::web::error::CallError;
use crate::web::people::Identity;
use crate::web::tls::bare;

const METHOD: &str = "auth.test";

/// The answer has some hundred bytes.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Whose a token is, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    pub identity: Identity,
    /// Its scopes; nothing where Slack does not say.
    pub scopes: Option<BTreeSet<String>>,
}

impl Web {
    /// `auth.test`, once and out of turn, with the scopes of the bot's token.
    ///
    /// # Errors
    /// Fails where Slack refuses, cannot be reached, or does not answer in time.
    pub async fn granted(&self) -> Result<Granted, CallError> {
        let limit = self.limit();
        match timeout(limit, self.ask_granted()).await {
            Ok(granted) => granted,
            Err(_) => Err(CallError::Late { method: METHOD.to_owned(), after: limit }),
        }
    }

    async fn ask_granted(&self) -> Result<Granted, CallError> {
        let broken = |what: &str| CallError::Unreachable { method: METHOD.to_owned(), what: what.to_owned() };
        let token = self.bot_token();
        let bearer = header::HeaderValue::from_str(&format!("Bearer {}", token.expose()));
        let (false, Ok(mut bearer)) = (token.is_empty(), bearer) else {
            return Err(CallError::refused(METHOD, "not_authed"));
        };
        bearer.set_sensitive(true);
        let request = Request::post(format!("{}/{METHOD}", self.url()))
            .header(header::AUTHORIZATION, bearer)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(String::new())
            .map_err(|_| broken("the address is none"))?;
        let client = Client::builder(TokioExecutor::new()).build::<_, String>(bare(self.roots()));
        let mut response = client.request(request).await.map_err(|error| {
            broken(if error.is_connect() { "no connection comes about" } else { "the connection broke" })
        })?;
        let named = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        if response.status().as_u16() == 429 {
            let seconds = named("retry-after").and_then(|text| text.parse().ok()).unwrap_or(1);
            let retry_after = Duration::from_secs(seconds);
            return Err(CallError::RateLimited { method: METHOD.to_owned(), retry_after });
        }
        let scopes = named("x-oauth-scopes").map(|text| {
            text.split(',').map(str::trim).filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
        });
        let status = response.status();
        let bytes = read(&mut response).await.ok_or_else(|| broken("the answer breaks off"))?;
        let Ok(answer) = serde_json::from_slice::<Value>(&bytes) else {
            return Err(broken(&format!("the answer is none of Slack's (HTTP {})", status.as_u16())));
        };
        if answer.get("ok") != Some(&Value::Bool(true)) {
            let code = answer.get("error").and_then(Value::as_str).unwrap_or("unknown_error");
            return Err(CallError::refused(METHOD, code));
        }
        Ok(Granted {
            identity: Identity::read(&answer).ok_or_else(|| CallError::odd(METHOD, "user_id"))?,
            scopes,
        })
    }
}

/// The whole text of a file that somebody shared, and why there is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The address is none of Slack's: no token goes there.
    #[error("the file is not on Slack")]
    Foreign,
    #[error("the file has more than {limit} bytes")]
    Large { limit: usize },
    /// Slack answers with its sign-in page or refuses: `files:read` is missing.
    #[error("Slack does not hand the file out")]
    Refused,
    /// The bytes are no text.
    #[error("the file is no text")]
    Binary,
    #[error("{0}")]
    Unreachable(&'static str),
}

impl Web {
    /// Reads a text file from its private address, of at most `limit` bytes. The token goes to Slack's own hosts alone.
    ///
    /// # Errors
    /// Fails where the file is elsewhere, too large, no text, or not handed out.
    pub async fn text_file(&self, url: &str, limit: usize) -> Result<String, FileError> {
        let home = self.url().split("/api").next().unwrap_or_default();
        let is_own = url.starts_with("https://files.slack.com/") || url.starts_with(&format!("{home}/"));
        if !is_own {
            return Err(FileError::Foreign);
        }
        match timeout(self.limit(), self.ask_text_file(url, limit)).await {
            Ok(text) => text,
            Err(_) => Err(FileError::Unreachable("no answer came in time")),
        }
    }

    async fn ask_text_file(&self, url: &str, limit: usize) -> Result<String, FileError> {
        let broken = FileError::Unreachable;
        let token = self.bot_token();
        let mut bearer = header::HeaderValue::from_str(&format!("Bearer {}", token.expose()))
            .map_err(|_| broken("the token is none"))?;
        bearer.set_sensitive(true);
        let request = Request::get(url)
            .header(header::AUTHORIZATION, bearer)
            .body(String::new())
            .map_err(|_| broken("the address is none"))?;
        let client = Client::builder(TokioExecutor::new()).build::<_, String>(bare(self.roots()));
        let mut response = client.request(request).await.map_err(|_| broken("no connection comes about"))?;
        let named = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let media = named("content-type").unwrap_or_default().to_ascii_lowercase();
        let length = named("content-length").and_then(|text| text.parse::<usize>().ok());
        if response.status().as_u16() != 200 || media.starts_with("text/html") {
            return Err(FileError::Refused);
        }
        if length.is_some_and(|length| length > limit) {
            return Err(FileError::Large { limit });
        }
        let bytes = read_up_to(&mut response, limit).await.ok_or(FileError::Large { limit })?;
        let text = String::from_utf8(bytes).map_err(|_| FileError::Binary)?;
        match text.contains('\0') {
            true => Err(FileError::Binary),
            false => Ok(text),
        }
    }
}

async fn read(response: &mut Response<Incoming>) -> Option<Vec<u8>> {
    read_up_to(response, MAX_ANSWER_BYTES).await
}

async fn read_up_to(response: &mut Response<Incoming>, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(response.body_mut()).poll_frame(context)).await {
        if let Ok(data) = frame.ok()?.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > most {
            return None;
        }
    }
    Some(bytes)
}

/// Knows the tokens of the present moment.
pub trait Tokens: Send + Sync {
    /// Returns the bot's token, `xoxb-…`.
    fn bot(&self) -> Secret;

    /// Returns the app's own token, `xapp-…`, which opens sockets.
    fn app(&self) -> Secret;
}

/// Tokens that never change.
#[derive(Debug, Clone)]
pub struct FixedTokens {
    /// The bot's token.
    pub bot: Secret,
    /// The app's own token; empty where requests are signed in place of sockets.
    pub app: Secret,
}

impl Tokens for FixedTokens {
    fn bot(&self) -> Secret {
        self.bot.clone()
    }

    fn app(&self) -> Secret {
        self.app.clone()
    }
}
