//! Requests that are signed with an account's key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::path::BlobPath;
use super::trouble::{BAD_SIGNATURE, BlobError};
use crate::azure::request::Request;
use ghost_base::Timestamp;

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

/// Tells whether one of the keys made a signature. The comparison takes as long whatever differs.
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

/// From this version on the scope of encryption is signed, too.
const SCOPED: &str = "2020-12-06";

/// Returns the letters of the rights that a signed address gives.
pub(super) fn letters(
    keys: &[String],
    account: &str,
    request: &Request,
    now: Timestamp,
) -> Result<String, BlobError> {
    let word = |name: &str| request.parameter(name).unwrap_or_default();
    let signature = word("sig");
    let text =
        if word("ss").is_empty() { of_service(account, request) } else { of_account(account, request) };
    let good = text.is_some_and(|text| verify(keys, &text, signature));
    let begun = word("st").is_empty() || moment(word("st")).is_some_and(|start| start <= now.as_millis());
    let open = moment(word("se")).is_some_and(|end| now.as_millis() < end);
    if good && begun && open { Ok(word("sp").to_owned()) } else { Err(BAD_SIGNATURE.into()) }
}

fn of_account(account: &str, request: &Request) -> Option<String> {
    let word = |name: &str| request.parameter(name).unwrap_or_default();
    if !word("ss").contains('b') {
        return None;
    }
    let mut lines = vec![account];
    lines.extend(["sp", "ss", "srt", "st", "se", "sip", "spr", "sv"].map(word));
    if word("sv") >= SCOPED {
        lines.push(word("ses"));
    }
    lines.push("");
    Some(lines.join("\n"))
}

fn of_service(account: &str, request: &Request) -> Option<String> {
    let word = |name: &str| request.parameter(name).unwrap_or_default();
    // In path style the account stands in the path already.
    let own = request.path.trim_start_matches('/').split('/').next() == Some(account);
    let place = BlobPath::parse((!own).then_some(account), &request.path)?;
    let container = place.container?;
    let resource = match (word("sr"), place.blob) {
        ("c", _) => format!("/blob/{account}/{container}"),
        ("b", Some(blob)) => format!("/blob/{account}/{container}/{blob}"),
        _ => return None,
    };
    let mut lines = vec![word("sp"), word("st"), word("se"), &resource];
    lines.extend(["si", "sip", "spr", "sv", "sr", "snapshot"].map(word));
    if word("sv") >= SCOPED {
        lines.push(word("ses"));
    }
    lines.extend(["rscc", "rscd", "rsce", "rscl", "rsct"].map(word));
    Some(lines.join("\n"))
}

/// Reads a moment: to the second, to the minute, or a day.
fn moment(text: &str) -> Option<i64> {
    let whole = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        17 => format!("{}:00Z", text.trim_end_matches('Z')),
        _ => text.to_owned(),
    };
    let read = OffsetDateTime::parse(&whole, &Rfc3339).ok()?;
    i64::try_from(read.unix_timestamp_nanos() / 1_000_000).ok()
}
