//! Requests that are signed with an account's key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::trouble::{BAD_SIGNATURE, BlobError};
use crate::azure::request::Request;

/// Headers that are signed in this order, each on a line of its own.
const LINES: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

/// Checks a signature, `account:signature`, against the keys of the account.
pub(super) fn check(keys: &[String], account: &str, request: &Request, sent: &str) -> Result<(), BlobError> {
    let (named, signature) = sent.split_once(':').ok_or(BAD_SIGNATURE)?;
    let good = named.eq_ignore_ascii_case(account) && verify(keys, &signed(account, request), signature);
    if good { Ok(()) } else { Err(BAD_SIGNATURE.into()) }
}

/// Says whether one of the keys made a signature. The comparison takes as long whatever differs.
pub(super) fn verify(keys: &[String], text: &str, signature: &str) -> bool {
    let Ok(signature) = STANDARD.decode(signature) else { return false };
    keys.iter().any(|key| {
        let key = STANDARD.decode(key).unwrap_or_default();
        let mac = Hmac::<Sha256>::new_from_slice(&key).ok();
        mac.is_some_and(|mac| mac.chain_update(text).verify_slice(&signature).is_ok())
    })
}

/// Returns what is signed of a request, whoever signs it or checks that.
#[must_use]
pub fn signed(account: &str, request: &Request) -> String {
    let dated = request.header("x-ms-date").is_some();
    let line = |name: &&str| {
        let value = request.header(name).unwrap_or_default();
        match *name {
            "content-length" if value == "0" => String::new(),
            "date" if dated => String::new(),
            _ => value.to_owned(),
        }
    };
    let mut lines = vec![request.verb.name().to_owned()];
    lines.extend(LINES.iter().map(line));
    // Headers come sorted.
    let own = request.headers.iter().filter(|(name, _)| name.starts_with("x-ms-"));
    lines.extend(own.map(|(name, value)| format!("{name}:{}", value.trim())));
    lines.push(format!("/{account}{}", request.path));
    let mut query: Vec<(String, &str)> =
        request.query.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.as_str())).collect();
    query.sort();
    let mut last: Option<String> = None;
    for (name, value) in query {
        match (lines.last_mut(), last == Some(name.clone())) {
            (Some(line), true) => *line += &format!(",{value}"),
            _ => lines.push(format!("{name}:{value}")),
        }
        last = Some(name);
    }
    lines.join("\n")
}
