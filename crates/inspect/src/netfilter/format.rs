//! A ruleset from a text, and as a text again.

use super::error::ReadError;
use super::ruleset::{Format, Ruleset};
use super::{nft, save};

/// The largest text that is read; fifty thousand rules have about ten megabytes.
pub const MAX_TEXT_BYTES: usize = 256 << 20;

/// Reads what `iptables-save`, `ip6tables-save` or `nft -j list ruleset` printed.
///
/// # Errors
/// Fails where the text is none of them, or a JSON document that was cut off: never an empty ruleset.
pub fn read(text: &str) -> Result<Ruleset, ReadError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ReadError::TooLarge { bytes: text.len(), limit: MAX_TEXT_BYTES });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    if text.trim_start().starts_with(['{', '[']) { nft::read(text) } else { save::read(text) }
}

/// Writes a ruleset as the program would that printed it: `iptables-save`, `ip6tables-save` or `nft -j list ruleset`.
///
/// Reading the text again gives the same ruleset. What these programs print themselves comes out byte for byte, comments and
/// order of tables apart; `nft` documents come out with the same content. What was not read, because it was no part of a
/// ruleset, is not written.
///
/// ```
/// use ghost_inspect::netfilter::{print, read};
///
/// let text = "*filter\n:INPUT DROP [3:180]\n[7:420] -A INPUT ! -s 10.0.0.0/8 -j ACCEPT\nCOMMIT\n";
/// assert!(print(&read(text)?).ends_with(text));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn print(ruleset: &Ruleset) -> String {
    match ruleset.format {
        Format::Save => save::print(ruleset),
        Format::Nft => nft::print(ruleset),
    }
}
