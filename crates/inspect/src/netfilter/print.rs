//! A ruleset as a text again.

use super::ruleset::{Format, Ruleset};
use super::{nft, save};

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
