//! Telling the forms apart.

use super::error::ReadError;
use super::ruleset::Ruleset;
use super::{nft, save};

/// The largest text that is read; fifty thousand rules have about ten megabytes.
pub const LARGEST: usize = 256 << 20;

/// Reads what `iptables-save`, `ip6tables-save` or `nft -j list ruleset` printed.
///
/// # Errors
/// Fails where the text is none of them, or a JSON document that was cut off: never an empty ruleset.
pub fn read(text: &str) -> Result<Ruleset, ReadError> {
    if text.len() > LARGEST {
        return Err(ReadError::TooLarge { bytes: text.len(), limit: LARGEST });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    if text.trim_start().starts_with(['{', '[']) { nft::read(text) } else { save::read(text) }
}
