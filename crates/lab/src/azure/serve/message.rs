//! From the wire's messages to the cloud's, and back.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::{Body as Flow, to_bytes};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::destination::Service;
use crate::azure::request::{Answer, Body, Request, Verb};

/// How large a blob that comes whole may be, in MiB: the platform's own limit.
const MAX_BLOB_MIB: u32 = 256;
/// How large everything else may be, in MiB.
const MAX_BODY_MIB: u32 = 4;
/// How many MiB of bodies are held at the same time; what comes beyond that waits.
pub(super) const MAX_BODIES_MIB: usize = 640;
/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(300);

const MIB: usize = 1 << 20;

/// Reads a request whole. What cannot be read is answered at once.
pub(super) async fn read(
    parts: Parts,
    body: Incoming,
    base: String,
    service: &Service,
    held: &Semaphore,
) -> Result<Request, Answer> {
    let verb = Verb::of(parts.method.as_str()).ok_or_else(|| plain(405, "the method is not known here"))?;
    let most = match service {
        Service::Blob(_) => MAX_BLOB_MIB,
        Service::Manager | Service::Identity | Service::Lab => MAX_BODY_MIB,
    };
    let long = || match service {
        Service::Blob(_) => refused(
            413,
            "RequestBodyTooLarge",
            "The request body is too large and exceeds the maximum permissible limit.",
        ),
        Service::Manager | Service::Identity | Service::Lab => plain(413, "the body is too large"),
    };
    let size = body.size_hint();
    let wanted =
        size.upper().map_or(most, |bytes| u32::try_from(bytes.div_ceil(MIB as u64)).unwrap_or(u32::MAX));
    if wanted > most {
        return Err(long());
    }
    // The server ends only after its connections.
    let _room = held.acquire_many(wanted).await;
    let limit = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(MIB);
    let bytes = match timeout(BODY_TIMEOUT, to_bytes(Flow::new(body), limit)).await {
        Err(_) => return Err(plain(408, "the body did not arrive in time")),
        // Too long, or cut off: nobody is there to tell in the second case.
        Ok(Err(_)) => {
            return Err(if size.exact().is_some() { plain(400, "the body was cut off") } else { long() });
        }
        Ok(Ok(bytes)) => bytes.to_vec(),
    };
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in &parts.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let known = headers.entry(name.as_str().to_owned()).or_default();
        if !known.is_empty() {
            known.push(',');
        }
        known.push_str(&value);
    }
    let query = parts.uri.query().map(pairs).unwrap_or_default();
    Ok(Request { verb, base, path: parts.uri.path().to_owned(), query, headers, body: bytes })
}

/// Takes a query apart.
fn pairs(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| {
        let text = text.replace('+', " ");
        percent_encoding::percent_decode_str(&text).decode_utf8_lossy().into_owned()
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

/// Answers with a line of text.
pub(super) fn plain(status: u16, text: &str) -> Answer {
    Answer { status, headers: Vec::new(), body: Body::Text("text/plain; charset=utf-8", format!("{text}\n")) }
}

/// Refuses as the blob service does.
fn refused(status: u16, code: &str, message: &str) -> Answer {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
    );
    Answer { status, headers: Vec::new(), body: Body::Text("application/xml", text) }
        .with("x-ms-error-code", code)
}

/// Writes an answer. A header that no wire can carry is left out.
pub(super) fn write(answer: Answer) -> Response<Flow> {
    let (kind, body) = match answer.body {
        Body::Empty => (None, Flow::empty()),
        Body::Json(document) => (Some("application/json; charset=utf-8"), Flow::from(document.to_string())),
        Body::Text(kind, text) => (Some(kind), Flow::from(text)),
        Body::Bytes(bytes) => (Some("application/octet-stream"), Flow::from(bytes)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(kind) = kind {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in &answer.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            headers.insert(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded_in_its_order() {
        let read = pairs("$filter=a+eq%20'b%2Bc'&&comp=list&flag&x=1=2");
        let expected = [("$filter", "a eq 'b+c'"), ("comp", "list"), ("flag", ""), ("x", "1=2")];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn the_answers_own_type_wins_and_a_header_that_cannot_be_sent_is_left_out() {
        let answer =
            Answer { status: 404, headers: Vec::new(), body: Body::Text("text/html", "x".to_owned()) };
        let response =
            write(answer.with("Content-Type", "application/json").with("x", "a\nb").with("bad name", "y"));
        assert_eq!(response.status(), 404);
        assert_eq!(response.headers().get("content-type").unwrap(), "application/json");
        assert_eq!(response.headers().len(), 1);
    }
}
