//! The packet filters of a guest.

use super::guest_probe::ProbeSpec;
use super::payload::{Section, SectionError, sections};
use ghost_inspect::netfilter::{Bundle, SOURCES, Source};

/// The declared script that gathers them; its variables are `counters` (`yes`, `no`) and `from`.
pub const SCRIPT: &str = "guest-firewall";

/// The packet filters of a guest, for [`super::GuestProbe`].
pub static WANTED: ProbeSpec<Bundle> = ProbeSpec {
    script: SCRIPT,
    what: "the packet filters",
    counters: true,
    read: |text| bundle(text).map_err(Into::into),
};

/// Why a text is no bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FirewallError {
    /// It is not made of parts.
    #[error(transparent)]
    Section(#[from] SectionError),
    /// A part is there that nobody asked for, twice, or not at all.
    #[error("the part `{0}` is there twice, is missing or is not one of ours")]
    Part(String),
}

/// Makes a bundle of what the script gathered: a source whose command failed is there with its words, never empty.
///
/// # Errors
/// Fails where a source is missing, foreign or there twice.
pub fn bundle(text: &str) -> Result<Bundle, FirewallError> {
    let mut bundle = Bundle::default();
    for Section { name, code, text } in sections(text)? {
        let source = if code == 0 {
            Source::Text(text)
        } else {
            Source::Failed { error: format!("exit code {code}: {text}") }
        };
        let known = SOURCES.contains(&name.as_str());
        if !known || bundle.sources.insert(name.clone(), source).is_some() {
            return Err(FirewallError::Part(name));
        }
    }
    match SOURCES.iter().find(|name| !bundle.sources.contains_key(**name)) {
        Some(missing) => Err(FirewallError::Part((*missing).to_owned())),
        None => Ok(bundle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(names: &[&str]) -> String {
        names.iter().map(|name| format!("section {name} 0 1\nx\n")).collect()
    }

    #[test]
    fn every_source_is_there_exactly_once() {
        assert!(bundle(&gathered(&SOURCES)).is_ok());
        assert_eq!(bundle(&gathered(&SOURCES[1..])), Err(FirewallError::Part(SOURCES[0].to_owned())));
        assert_eq!(bundle(&gathered(&["nft", "nft"])), Err(FirewallError::Part("nft".to_owned())));
        assert_eq!(bundle(&gathered(&["odd"])), Err(FirewallError::Part("odd".to_owned())));
    }

    #[test]
    fn a_command_that_failed_is_no_empty_ruleset() {
        let text = gathered(&SOURCES).replace("section nft 0 1\nx\n", "section nft 1 4\nhelp\n");
        assert_eq!(bundle(&text).unwrap().error("nft"), Some("exit code 1: help"));
    }
}
