//! Requests that Slack signed, in place of a socket.
//!
//! Goes in: headers, body, secret and time. Comes out: the same [`crate::arrive::Arrival`]s that sockets bring. Never:
//! a body that is read before its signature was checked.

use std::time::Duration;

use ghost_base::{Secret, Timestamp, hmac_sha256, same};
use serde_json::{Map, Value};

use crate::arrive::{Arrival, command, event, interactive};

/// How old a request may be, and how far ahead its clock.
pub const WINDOW: Duration = Duration::from_secs(300);

/// How large a body may be; Slack sends views of 250 kB at most, and messages of some 40,000 characters.
const MAX_REQUEST_BYTES: usize = 8 << 20;

/// What was in a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Received {
    /// Slack wants to know whether the address is ours: this text is the answer.
    Challenge(String),
    /// Slack tries whether anybody listens: an empty answer will do.
    Probe,
    /// Something arrived.
    Arrival(Box<Arrival>),
}

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no secret to check with.
    #[error("no signing secret is configured")]
    Unprepared,
    /// A header is missing or of no use.
    #[error("the request has no usable {0}")]
    Header(&'static str),
    /// The request is too old, or its clock is wrong.
    #[error("the request is more than five minutes away from now")]
    Stale,
    /// The signature is not ours.
    #[error("the signature does not belong to this body")]
    Forged,
    /// The body is larger than any that Slack sends.
    #[error("the body is too large")]
    TooLarge,
    /// The body is signed, but neither a form nor JSON.
    #[error("the body cannot be read")]
    Unreadable,
}

impl Refused {
    /// Returns the status of HTTP that answers it.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Unprepared => 503,
            Self::Header(_) | Self::Stale | Self::Forged => 401,
            Self::TooLarge => 413,
            Self::Unreadable => 400,
        }
    }
}

/// Checks a request and reads what is in it. `header` returns a header by its name in small letters.
///
/// # Errors
/// Fails where the request is not one that Slack signed for us within the last five minutes.
pub fn receive<'h>(
    header: impl Fn(&str) -> Option<&'h str>,
    body: &[u8],
    secret: &Secret,
    now: Timestamp,
) -> Result<Received, Refused> {
    check(&header, body, secret, now)?;
    let media = header("content-type").unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let read = if media.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        posted(&read_form(body))
    } else {
        serde_json::from_slice(body).ok().map(|body| probe_or_challenge(&body))
    };
    let mut received = read.ok_or(Refused::Unreadable)?;
    if let Received::Arrival(arrival) = &mut received {
        let retry = header("x-slack-retry-num").and_then(|number| number.trim().parse().ok());
        arrival.origin.retry = retry.unwrap_or(arrival.origin.retry);
        arrival.origin.retry_reason = header("x-slack-retry-reason").map(str::to_owned);
    }
    Ok(received)
}

fn check<'h>(
    header: &impl Fn(&str) -> Option<&'h str>,
    body: &[u8],
    secret: &Secret,
    now: Timestamp,
) -> Result<(), Refused> {
    // A signature with an empty secret is one that anybody can make.
    if secret.is_empty() {
        return Err(Refused::Unprepared);
    }
    if body.len() > MAX_REQUEST_BYTES {
        return Err(Refused::TooLarge);
    }
    let time = header("x-slack-request-timestamp").ok_or(Refused::Header("timestamp"))?;
    let signature = header("x-slack-signature").ok_or(Refused::Header("signature"))?;
    let seconds: i64 = time.parse().map_err(|_| Refused::Header("timestamp"))?;
    let sent = Timestamp::from_millis(seconds.saturating_mul(1000));
    if now.since(sent) > WINDOW || sent.since(now) > WINDOW {
        return Err(Refused::Stale);
    }
    let mut message = format!("v0:{time}:").into_bytes();
    message.extend_from_slice(body);
    let expected = format!("v0={}", hmac_sha256(secret.expose().as_bytes(), &message));
    if same(&expected, signature) { Ok(()) } else { Err(Refused::Forged) }
}

/// Reads a form: a payload in a field, or a command in all of them.
fn posted(fields: &Value) -> Option<Received> {
    let arrived = |arrival| Some(Received::Arrival(Box::new(arrival)));
    if fields.get("ssl_check").is_some() {
        return Some(Received::Probe);
    }
    match fields.get("payload").and_then(Value::as_str) {
        Some(payload) => arrived(interactive(&serde_json::from_str(payload).ok()?)),
        None if fields.get("command").is_some() => arrived(command(fields)),
        None => None,
    }
}

/// Reads JSON: the question whose address it is, or an event.
fn probe_or_challenge(body: &Value) -> Received {
    let kind = body.get("type").and_then(Value::as_str);
    match body.get("challenge").and_then(Value::as_str) {
        Some(challenge) if kind == Some("url_verification") => Received::Challenge(challenge.to_owned()),
        Some(_) | None => Received::Arrival(Box::new(event(body))),
    }
}

/// Reads a form; what is no escape stands for itself, and of a name that comes twice the first counts.
pub(crate) fn read_form(body: &[u8]) -> Value {
    let mut fields = Map::new();
    for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let mut halves = pair.splitn(2, |byte| *byte == b'=');
        let name = plain(halves.next().unwrap_or_default());
        let value = plain(halves.next().unwrap_or_default());
        fields.entry(name).or_insert(Value::String(value));
    }
    Value::Object(fields)
}

fn plain(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten().and_then(digits);
        match (first, escaped) {
            (_, Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', None) => bytes.push(b' '),
            (byte, None) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn digits(pair: &[u8]) -> Option<u8> {
    let pair =
        std::str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(pair, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrive::What;
    use serde_json::json;

    const NOW: i64 = 1_700_000_000;

    struct Sent {
        headers: Vec<(&'static str, String)>,
        body: String,
    }

    fn sent(media: &str, body: &str) -> Sent {
        let signature = format!("v0={}", hmac_sha256(b"secret", format!("v0:{NOW}:{body}").as_bytes()));
        let headers = vec![
            ("content-type", media.to_owned()),
            ("x-slack-request-timestamp", NOW.to_string()),
            ("x-slack-signature", signature),
        ];
        Sent { headers, body: body.to_owned() }
    }

    impl Sent {
        fn with(mut self, name: &'static str, value: &str) -> Self {
            self.headers.retain(|(known, _)| *known != name);
            self.headers.push((name, value.to_owned()));
            self
        }

        fn received_at(&self, seconds: i64) -> Result<Received, Refused> {
            let header = |name: &str| {
                self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
            };
            let now = Timestamp::from_millis(seconds * 1000);
            receive(header, self.body.as_bytes(), &Secret::new("secret"), now)
        }
    }

    #[test]
    fn a_signed_event_arrives_with_its_repetition() {
        let body = json!({"event_id": "Ev1", "event": {"type": "app_mention", "channel": "C1", "ts": "1", "text": "hi"}});
        let request = sent("application/json", &body.to_string())
            .with("x-slack-retry-num", "2")
            .with("x-slack-retry-reason", "http_timeout");
        let Received::Arrival(arrival) = request.received_at(NOW + 299).unwrap() else { panic!() };
        assert_eq!((arrival.origin.key.as_str(), arrival.origin.retry), ("Ev1", 2));
        assert!(matches!(arrival.what, What::Mention(_)));
    }

    #[test]
    fn a_click_and_a_command_come_as_forms() {
        let payload = "payload=%7B%22type%22%3A%22block_actions%22%2C%22actions%22%3A%5B%7B%22value%22%3A%22ap-1%22%7D%5D%7D";
        let media = "application/x-www-form-urlencoded; charset=utf-8";
        let Received::Arrival(click) = sent(media, payload).received_at(NOW).unwrap() else { panic!() };
        assert!(matches!(click.what, What::Press(press) if press.action.value.as_deref() == Some("ap-1")));
        let Received::Arrival(typed) =
            sent(media, "command=%2Fghost&text=status&user_id=U1").received_at(NOW).unwrap()
        else {
            panic!()
        };
        assert!(matches!(typed.what, What::Command(command) if command.command == "/ghost"));
        assert_eq!(sent(media, "ssl_check=1").received_at(NOW), Ok(Received::Probe));
    }

    #[test]
    fn the_challenge_is_given_back() {
        let body = r#"{"type":"url_verification","challenge":"abc"}"#;
        assert_eq!(
            sent("application/json", body).received_at(NOW),
            Ok(Received::Challenge("abc".to_owned()))
        );
    }

    #[test]
    fn an_old_early_or_changed_request_is_refused() {
        let request = || sent("application/json", "{}");
        assert_eq!(request().received_at(NOW + 301), Err(Refused::Stale));
        assert_eq!(request().received_at(NOW - 301), Err(Refused::Stale));
        let mut changed = request();
        changed.body.push(' ');
        assert_eq!(changed.received_at(NOW), Err(Refused::Forged));
        assert_eq!(request().with("x-slack-signature", "v0=").received_at(NOW), Err(Refused::Forged));
        for time in ["", "soon", "99999999999999999999"] {
            let bad = request().with("x-slack-request-timestamp", time).received_at(NOW);
            assert_eq!(bad, Err(Refused::Header("timestamp")), "{time}");
        }
        assert_eq!(
            request().with("x-slack-request-timestamp", &i64::MAX.to_string()).received_at(NOW),
            Err(Refused::Stale)
        );
    }

    #[test]
    fn an_empty_secret_lets_nobody_in() {
        let now = Timestamp::from_millis(NOW * 1000);
        assert_eq!(receive(|_| None, b"{}", &Secret::new(""), now), Err(Refused::Unprepared));
        assert_eq!(receive(|_| None, b"{}", &Secret::new("s"), now), Err(Refused::Header("timestamp")));
    }

    #[test]
    fn a_signed_body_that_is_neither_is_refused() {
        for (media, body) in [
            ("application/json", "{"),
            ("application/x-www-form-urlencoded", "payload={"),
            ("application/x-www-form-urlencoded", "x=1"),
        ] {
            assert_eq!(sent(media, body).received_at(NOW), Err(Refused::Unreadable), "{body}");
        }
    }

    #[test]
    fn a_form_is_read_with_its_escapes() {
        assert_eq!(
            read_form(b"text=a+b%20c%26&x=%7B%22a%22%3A1%7D"),
            json!({"text": "a b c&", "x": "{\"a\":1}"})
        );
    }

    #[test]
    fn what_is_cut_off_or_no_escape_stands_for_itself() {
        assert_eq!(
            read_form(b"a=%&b=%4&c=%zz&d&=e&a=2&f=%+1&g=%ff"),
            json!({"a": "%", "b": "%4", "c": "%zz", "d": "", "": "e", "f": "% 1", "g": "\u{fffd}"})
        );
    }
}
