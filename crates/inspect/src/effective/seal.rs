//! A JSON file that carries the digest of its own bytes as its last field.

use serde::Serialize;
use serde_json::Value;

use super::Error;
use ghost_base::Digest;

/// What stands before the digest, and what stands behind it.
const BEFORE: &str = ",\"sha256\":\"";
const BEHIND: &str = "\"}\n";

/// The length of a printed digest.
const DIGITS: usize = 64;

/// Prints an object on one line and adds the digest of everything that stands before it.
pub(super) fn seal(content: &impl Serialize) -> Result<(String, Digest), Error> {
    let mut text = serde_json::to_string(content).map_err(Error::Field)?;
    // The closing brace comes back behind the digest.
    text.pop();
    text.push_str(BEFORE);
    let digest = Digest::of(&text);
    text.push_str(&digest.to_string());
    text.push_str(BEHIND);
    Ok((text, digest))
}

/// Tells whether a document was sealed once, whatever happened to it since.
pub(super) fn was_sealed(value: &Value, text: &str) -> bool {
    let ours = value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("ghost."));
    ours || value.get("sha256").is_some() || tail(text).is_ok()
}

/// Checks the seal of a text and returns the digest.
pub(super) fn check(text: &str) -> Result<Digest, Error> {
    let (covered, recorded) = tail(text)?;
    let found = Digest::of(covered);
    if recorded == found.to_string() {
        Ok(found)
    } else {
        Err(Error::Changed { recorded: recorded.chars().take(DIGITS).collect(), found: found.to_string() })
    }
}

/// Takes a sealed text apart: what is covered, and the digest.
fn tail(text: &str) -> Result<(&str, &str), Error> {
    let inner = text.strip_suffix(BEHIND).ok_or(Error::Unsealed)?;
    let at = inner.len().checked_sub(DIGITS).ok_or(Error::Unsealed)?;
    let (covered, recorded) = inner.split_at_checked(at).ok_or(Error::Unsealed)?;
    covered.ends_with(BEFORE).then_some((covered, recorded)).ok_or(Error::Unsealed)
}
