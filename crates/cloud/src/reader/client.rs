//! Requests to the resource manager: GET, and the questions of a closed table that are a POST. There is no third kind.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;
use tokio::time::sleep;

use super::challenge::claims;
use super::failure::Failure;
use super::log::RequestLog;
use super::place::Place;
use super::renew::Refused;
use super::table::Question;
use super::throttle::Throttle;
use super::token::{Tokens, innermost};

/// What stays as it is in a query.
const KEPT: AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'$').remove(b',');

/// A larger answer is refused.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// How many tries follow the first.
const RETRIES: u32 = 3;

/// A list has no more pages, an operation no more polls.
const MAX_PAGES: usize = 2_000;
const MAX_POLLS: usize = 2_000;

/// How long lies between two polls where the platform does not say: at first, and at most.
const FIRST_POLL: Duration = Duration::from_secs(1);
const LAST_POLL: Duration = Duration::from_secs(10);

/// No answer makes one line wait longer for the next try.
const MAX_WAIT: Duration = Duration::from_secs(300);

/// An address longer than this is none.
const MAX_ADDRESS_BYTES: usize = 4_096;

/// A request of either kind.
#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Read,
    /// A question, with what it is about where its address does not say so.
    Ask(Option<&'a Value>),
}

impl Kind<'_> {
    const fn method(self) -> Method {
        match self {
            Self::Read => Method::GET,
            Self::Ask(_) => Method::POST,
        }
    }
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// Asks one resource manager as one identity. All sessions share it: its connections, its token, its patience.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) place: Place,
    tokens: Tokens,
    throttle: Throttle,
}

impl Client {
    pub(super) fn new(place: Place, tokens: Tokens) -> Self {
        Self { place, tokens, throttle: Throttle::default() }
    }

    /// Reads a document.
    pub(super) async fn get(
        &self,
        log: &RequestLog,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Value, Failure> {
        let answer = self.send(log, Kind::Read, self.address(path, query)?).await?;
        document(&answer)
    }

    /// Reads the entries of all pages of a list, or as many as are wanted. A page that is missing is a failure, never a shorter list.
    pub(super) async fn list(
        &self,
        log: &RequestLog,
        path: &str,
        query: &[(&str, &str)],
        most: Option<usize>,
    ) -> Result<Vec<Value>, Failure> {
        let mut next = self.address(path, query)?;
        let (mut all, mut seen) = (Vec::new(), Vec::new());
        for _ in 0..MAX_PAGES {
            let mut page = document(&self.send(log, Kind::Read, next.clone()).await?)?;
            match page.get_mut("value").map(Value::take) {
                Some(Value::Array(mut entries)) => all.append(&mut entries),
                _ => return Err(Failure::unreadable("a page of a list has no entries")),
            }
            let link = page.get("nextLink").and_then(Value::as_str).filter(|link| !link.is_empty());
            let Some(link) = link.filter(|_| most.is_none_or(|most| all.len() < most)) else {
                all.truncate(most.unwrap_or(usize::MAX));
                return Ok(all);
            };
            seen.push(next);
            next = self.inside(link, path, "the next page")?;
            if seen.contains(&next) {
                return Err(Failure::unreadable("the pages of a list lead back to one of them"));
            }
        }
        Err(Failure::unreadable("a list does not end"))
    }

    /// Asks a question about something, and waits until the platform has worked it out.
    pub(super) async fn ask(
        &self,
        log: &RequestLog,
        about: &str,
        question: Question,
        body: Option<&Value>,
        version: &str,
    ) -> Result<Value, Failure> {
        let path = format!("{about}/{}", question.word());
        let address = self.address(&path, &[("api-version", version)])?;
        let begun = self.send(log, Kind::Ask(body), address).await?;
        if begun.status != 202 {
            return document(&begun);
        }
        let link = |name: &str| -> Result<Option<Url>, Failure> {
            let text = begun.headers.get(name).map(|value| value.to_str().unwrap_or_default());
            text.map(|text| self.operation(text, &path)).transpose()
        };
        let (status, result) = (link("azure-asyncoperation")?, link("location")?);
        // How long it takes stands in the first answer; where it does not, it may be over already.
        if let Some(pause) = retry_after(&begun.headers) {
            sleep(pause).await;
        }
        if let Some(status) = status {
            self.finished(log, status).await?;
        }
        let Some(result) = result else {
            return Err(Failure::unreadable("an operation does not say where its result is"));
        };
        self.result(log, result).await
    }

    /// Polls until an operation is over.
    async fn finished(&self, log: &RequestLog, place: Url) -> Result<(), Failure> {
        let mut pause = FIRST_POLL;
        for _ in 0..MAX_POLLS {
            let answer = self.send(log, Kind::Read, place.clone()).await?;
            let about = document(&answer)?;
            match about.get("status").and_then(Value::as_str) {
                Some("Succeeded") => return Ok(()),
                Some("Failed" | "Canceled") => return Err(Failure::of_document(&about)),
                Some(_) => wait(&answer, &mut pause).await,
                None => return Err(Failure::unreadable("an operation does not say how far it is")),
            }
        }
        Err(Failure::unreadable("an operation does not end"))
    }

    /// Polls until there is a result.
    async fn result(&self, log: &RequestLog, place: Url) -> Result<Value, Failure> {
        let mut pause = FIRST_POLL;
        for _ in 0..MAX_POLLS {
            let answer = self.send(log, Kind::Read, place.clone()).await?;
            if answer.status != 202 {
                return document(&answer);
            }
            wait(&answer, &mut pause).await;
        }
        Err(Failure::unreadable("an operation does not end"))
    }

    /// Sends a request, more than once where that helps.
    async fn send(&self, log: &RequestLog, kind: Kind<'_>, address: Url) -> Result<Answer, Failure> {
        let (mut tried, mut renewed, mut demanded) = (0, false, false);
        let mut token = self.tokens.token(&self.place, None).await?;
        loop {
            let sent = self.once(kind, &address, &token.secret).await;
            let came = match &sent {
                Ok(answer) => format!("{}, {} bytes", answer.status, answer.body.len()),
                Err(failure) => failure.text.lines().next().unwrap_or_default().to_owned(),
            };
            let bytes = sent.as_ref().map_or(0, |answer| answer.body.len());
            log.note(kind.method().as_str(), address.path(), &came, bytes);
            let pause = match &sent {
                // What a new token does not mend, or what is demanded a second time, is a refusal.
                Ok(answer) if answer.status == 401 && !demanded => {
                    let claims = claims(&answer.headers);
                    if claims.is_none() && renewed {
                        return sent;
                    }
                    (renewed, demanded) = (true, claims.is_some());
                    let refused = Refused { token, claims: claims.map(Into::into) };
                    token = self.tokens.token(&self.place, Some(&refused)).await?;
                    continue;
                }
                Ok(answer) if tried < RETRIES && may_pass(answer.status) => {
                    let pause = retry_after(&answer.headers);
                    if answer.status == 429 {
                        self.throttle.hold(pause.unwrap_or_else(|| backoff(tried)));
                    }
                    pause
                }
                Err(_) if tried < RETRIES => None,
                Ok(_) | Err(_) => return sent,
            };
            sleep(pause.unwrap_or_else(|| backoff(tried))).await;
            tried += 1;
        }
    }

    async fn once(
        &self,
        kind: Kind<'_>,
        address: &Url,
        token: &ghost_base::Secret,
    ) -> Result<Answer, Failure> {
        let _open = self.throttle.enter().await;
        let broken = |error: reqwest::Error| Failure::unreachable(self.place.host(), &innermost(&error));
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
            .map_err(|_| Failure::token("it has letters that no token has"))?;
        bearer.set_sensitive(true);
        let request = self.place.http.request(kind.method(), address.clone()).header(AUTHORIZATION, bearer);
        let request = request.header("accept", "application/json");
        let request = match kind {
            Kind::Read => request,
            Kind::Ask(None) => request.header("content-length", "0"),
            Kind::Ask(Some(body)) => {
                request.header("content-type", "application/json").body(body.to_string())
            }
        };
        let mut response = request.send().await.map_err(broken)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(broken)? {
            if body.len() + part.len() > MAX_ANSWER_BYTES {
                return Err(Failure::unreadable(format!(
                    "an answer is longer than {MAX_ANSWER_BYTES} bytes"
                )));
            }
            body.extend_from_slice(&part);
        }
        Ok(Answer { status, headers, body })
    }

    /// Makes the address of something. The host is the resource manager's, whatever the path.
    fn address(&self, path: &str, query: &[(&str, &str)]) -> Result<Url, Failure> {
        let escaped = |text: &str| utf8_percent_encode(text, &KEPT).to_string();
        let pairs: Vec<String> =
            query.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
        let text = format!("{path}?{}", pairs.join("&"));
        let address = self.place.manager.join(&text).ok();
        let same = |address: &Url| address.origin() == self.place.manager.origin() && address.path() == path;
        address.filter(same).ok_or_else(|| Failure::new(format!("{path} is no path")))
    }

    /// Takes an address that an answer names, if it stays at the resource manager and in the subscription of the path.
    fn inside(&self, text: &str, path: &str, what: &str) -> Result<Url, Failure> {
        let away = || Failure::unreadable(format!("{what} lies elsewhere, and is not followed"));
        let url = Url::parse(text).ok().filter(|_| text.len() <= MAX_ADDRESS_BYTES).ok_or_else(away)?;
        let plain = url.username().is_empty() && url.password().is_none();
        let within = subscription(path)
            .is_none_or(|own| subscription(url.path()).is_some_and(|other| other.eq_ignore_ascii_case(own)));
        let same = url.origin() == self.place.manager.origin();
        if same && plain && within && !url.path().contains('%') { Ok(url) } else { Err(away()) }
    }

    /// Takes the address of an operation: below the locations of the subscription.
    fn operation(&self, text: &str, path: &str) -> Result<Url, Failure> {
        let url = self.inside(text, path, "an operation")?;
        let lower = url.path().to_ascii_lowercase();
        let below = lower.split_once("/locations/").is_some_and(|(_, rest)| rest.contains("/operation"));
        if below { Ok(url) } else { Err(Failure::unreadable("what is said to be an operation is none")) }
    }
}

/// Returns the subscription of a path.
fn subscription(path: &str) -> Option<&str> {
    let mut parts = path.split('/').skip(1);
    parts.next().filter(|first| first.eq_ignore_ascii_case("subscriptions"))?;
    parts.next().filter(|id| !id.is_empty())
}

fn document(answer: &Answer) -> Result<Value, Failure> {
    if !(200..300).contains(&answer.status) {
        return Err(Failure::refused(answer.status, &answer.body));
    }
    let text = answer.body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&answer.body);
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    serde_json::from_slice(text).map_err(|error| Failure::unreadable(error.to_string()))
}

fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// Waits before the next poll: as long as the platform says, else a little longer each time.
async fn wait(answer: &Answer, pause: &mut Duration) {
    sleep(retry_after(&answer.headers).unwrap_or(*pause)).await;
    *pause = (*pause * 2).min(LAST_POLL);
}

/// Returns what an answer says about waiting. Zero counts as saying nothing.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str, unit: f64| {
        let value: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        let seconds = value * unit;
        (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(MAX_WAIT.as_secs_f64())))
    };
    number("retry-after", 1.0)
        .or_else(|| number("retry-after-ms", 0.001))
        .or_else(|| number("x-ms-retry-after-ms", 0.001))
}

/// Returns how long to wait before another try: longer each time, and not the same for everybody.
fn backoff(tried: u32) -> Duration {
    let drawn = RandomState::new().build_hasher().finish() % 400;
    Duration::from_millis((500_u64 << tried.min(6)) * (800 + drawn) / 1_000)
}
