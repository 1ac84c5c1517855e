//! `[usage]`: what all sessions of a channel together may use in a day.

use serde::Deserialize;

/// `[usage]`, and `[channel.ID.usage]` in its place there. Zero is no limit. A day ends at midnight in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens read and written; no limit unless said.
    pub tokens_per_day: u64,
    /// Dollars for models; no limit unless said. What has no price counts as nothing here.
    pub dollars_per_day: f64,
    /// Commands; no limit unless said.
    pub commands_per_day: u64,
    /// Minutes at work; no limit unless said.
    pub minutes_per_day: u64,
}

impl Usage {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self, place: &str) -> Vec<String> {
        let fits = (0.0..=1_000_000.0).contains(&self.dollars_per_day);
        let wrong = format!("{place} dollars_per_day: it has to lie between 0 and 1000000");
        if fits { Vec::new() } else { vec![wrong] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported() {
        let read = |text: &str| toml::from_str::<Usage>(text).unwrap().problems("[usage]");
        assert_eq!(read("tokens_per_day = 5\ndollars_per_day = 2.5"), [""; 0]);
        for text in ["dollars_per_day = -1.0", "dollars_per_day = nan", "dollars_per_day = 1e9"] {
            assert_eq!(read(text), ["[usage] dollars_per_day: it has to lie between 0 and 1000000"]);
        }
        assert!(toml::from_str::<Usage>("per_day = 1").is_err());
    }
}
