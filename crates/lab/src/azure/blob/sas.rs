//! Addresses that are signed with an account's key: of a container, a blob, or the whole account.
//!
//! Those of a user's delegation are not known, and refused like a wrong signature.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::path::BlobPath;
use super::sign::verify;
use super::trouble::{BAD_SIGNATURE, BlobError};
use crate::azure::request::Request;
use ghost_base::Timestamp;

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
