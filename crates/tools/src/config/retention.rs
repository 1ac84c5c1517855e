//! `[retention]`: how long what is kept.

use serde::Deserialize;

/// `[retention]`. Zero is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// What was said and done in a session, in days from its end on; 90 unless said. Its chain of digests and its audit stay.
    pub thread_days: u32,
    /// Whole outputs of commands, in days from when they were seen on; 90 unless said.
    pub evidence_days: u32,
    /// Packet captures, in days from when they were fetched on; 30 unless said.
    pub capture_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self { thread_days: 90, evidence_days: 90, capture_days: 30 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_has_its_default_and_a_misspelled_key_is_an_error() {
        let read = |text| toml::from_str::<Retention>(text);
        assert_eq!(read("capture_days = 0"), Ok(Retention { capture_days: 0, ..Retention::default() }));
        assert!(read("capture_day = 1").is_err());
        assert!(read("thread_days = -1").is_err());
    }
}
