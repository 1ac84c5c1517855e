//! `[telemetry]`: who takes traces and metrics in OpenTelemetry's protocol.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::url;

/// `[telemetry]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// The address of a collector, such as `http://127.0.0.1:4318`; nothing is sent unless it is there.
    pub otlp: Option<String>,
    /// The absolute path of the file with a token that the collector asks for.
    pub token_file: Option<PathBuf>,
    /// How often metrics are sent, in seconds; 0 for never.
    pub metrics_seconds: u64,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { otlp: None, token_file: None, metrics_seconds: 60 }
    }
}

impl Telemetry {
    /// Returns how often metrics are sent.
    #[must_use]
    pub fn metrics_every(&self) -> Option<Duration> {
        (self.metrics_seconds > 0).then(|| Duration::from_secs(self.metrics_seconds))
    }

    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let Some(url) = &self.otlp else {
            if self.token_file.is_some() {
                problems
                    .push("[telemetry] token_file is set, and otlp is not: nothing would be sent".to_owned());
            }
            return problems;
        };
        if !url::is_plain(url) {
            problems.push(format!(
                "[telemetry] otlp = {url:?}: it begins with https:// or http://, and holds no name or query"
            ));
        }
        if self.token_file.is_some() && url::is_plain(url) && !url::is_private(url) {
            problems.push(
                "[telemetry] token_file: a token goes over https://, or stays on this machine".to_owned(),
            );
        }
        if let Some(file) = self.token_file.as_ref().filter(|file| !file.is_absolute()) {
            problems.push(format!("[telemetry] token_file = {file:?}: the path has to be absolute"));
        }
        if self.metrics_seconds > 86_400 {
            problems.push("[telemetry] metrics_seconds: at most 86400, a day".to_owned());
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        toml::from_str::<Telemetry>(text).unwrap().problems()
    }

    #[test]
    fn what_can_be_used_has_no_problem() {
        for text in [
            "",
            "otlp = 'http://127.0.0.1:4318'",
            "otlp = 'http://collector.monitoring:4318'",
            "otlp = 'https://otlp.example'\ntoken_file = '/t'\nmetrics_seconds = 0",
        ] {
            assert_eq!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_problem_is_reported() {
        for (text, part) in [
            ("otlp = 'collector:4317'", "https"),
            ("otlp = 'https://'", "https"),
            ("otlp = 'https://a@b.example'", "https"),
            ("token_file = '/t'", "nothing would be sent"),
            ("otlp = 'http://collector:4318'\ntoken_file = '/t'", "a token goes over"),
            ("otlp = 'https://otlp.example'\ntoken_file = 't'", "absolute"),
            ("otlp = 'https://otlp.example'\nmetrics_seconds = 100000", "a day"),
        ] {
            let found = problems(text);
            assert!(found.len() == 1 && found[0].contains(part), "{text}: {found:?}");
        }
    }
}
