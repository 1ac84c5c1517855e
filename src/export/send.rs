//! Sends a prepared request, once.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use super::error::SendError;
use super::request::{Prepared, Sent};
use crate::direct;
use ghost_base::{Secret, causes};
use ghost_shell::redact;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the whole request may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The answer repeats the issue; what is longer is no answer to it.
const MAX_ANSWER_BYTES: usize = 2 << 20;

/// So much of what the service says is shown.
const MAX_SAID_CHARS: usize = 300;

/// Sends it. There is no second attempt: whether to send it again is a person's choice.
///
/// # Errors
/// Says whether it arrived, as far as that is known, and what to do.
pub async fn send(prepared: &Prepared, token: &Secret) -> Result<Sent, SendError> {
    let service = prepared.service;
    let client = direct::client(&prepared.url, CONNECT_TIMEOUT, TIMEOUT)
        .map_err(|error| SendError::Unusable { what: causes(&error) })?;
    let mut request = client.post(&prepared.url).json(&prepared.body).headers(headers(prepared, token)?);
    for (name, value) in &prepared.headers {
        request = request.header(*name, value);
    }
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) if error.is_connect() || error.is_builder() => {
            return Err(SendError::Unreachable { service, why: causes(&error) });
        }
        Err(error) => return Err(SendError::CutOff { service, why: causes(&error) }),
    };
    let (status, pause) = (response.status(), limited(&response));
    let answer = body(response).await;
    if status.is_success() {
        return written(prepared, answer);
    }
    let said = said(prepared, answer.unwrap_or_default().as_slice(), token);
    Err(match status {
        StatusCode::UNAUTHORIZED => SendError::Unauthorized { service },
        StatusCode::TOO_MANY_REQUESTS => SendError::Limited { service, retry_after: pause.flatten() },
        StatusCode::FORBIDDEN => match pause {
            Some(retry_after) => SendError::Limited { service, retry_after },
            None => SendError::Forbidden { service, said },
        },
        StatusCode::NOT_FOUND => SendError::NotFound { service, what: prepared.into.clone() },
        StatusCode::PAYLOAD_TOO_LARGE => SendError::TooLarge { service },
        status if status.is_server_error() => SendError::Faulty { service, status: status.as_u16() },
        status => SendError::Refused { service, status: status.as_u16(), said },
    })
}

fn headers(prepared: &Prepared, token: &Secret) -> Result<HeaderMap, SendError> {
    let wrong = || SendError::Unusable { what: "the token has letters that no token has".to_owned() };
    let value = match prepared.scheme {
        "Token" => format!("Token token={}", token.expose()),
        scheme => format!("{scheme} {}", token.expose()),
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| wrong())?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

/// Says whether the answer is about a limit, and when it ends where that is said.
fn limited(response: &Response) -> Option<Option<Duration>> {
    let number = |name: &str| response.headers().get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    let pause = number(RETRY_AFTER.as_str());
    let spent = number("x-ratelimit-remaining") == Some(0);
    (pause.is_some() || spent).then(|| pause.map(Duration::from_secs))
}

async fn body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| causes(&error))? {
        if bytes.len() + part.len() > MAX_ANSWER_BYTES {
            return Err(format!("it is longer than {MAX_ANSWER_BYTES} bytes"));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

fn written(prepared: &Prepared, answer: Result<Vec<u8>, String>) -> Result<Sent, SendError> {
    let service = prepared.service;
    let unreadable = |why: String| SendError::Unreadable { service, why };
    let answer: Value = serde_json::from_slice(&answer.map_err(unreadable)?)
        .map_err(|error| unreadable(error.to_string()))?;
    let place = answer.pointer(prepared.place).and_then(Value::as_str).filter(|place| !place.is_empty());
    let place =
        place.ok_or_else(|| unreadable(format!("it has no {}", prepared.place.trim_start_matches('/'))))?;
    Ok(Sent { place: place.to_owned() })
}

/// Returns what the service says, shortened, and without the token if it repeats it.
fn said(prepared: &Prepared, answer: &[u8], token: &Secret) -> String {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let pointers = match prepared.scheme {
        "Token" => ["/error/message", "/message"],
        _ => ["/message", "/error/message"],
    };
    let text = pointers.iter().find_map(|pointer| answer.pointer(pointer)?.as_str()).unwrap_or("nothing");
    let text = if token.is_empty() { text.to_owned() } else { text.replace(token.expose(), "[secret]") };
    redact(&text).into_string().chars().take(MAX_SAID_CHARS).collect()
}
