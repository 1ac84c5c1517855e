//! `[alerts.NAME]`: programs whose alerts open sessions.

use std::path::PathBuf;

use serde::Deserialize;

use ghost_session::alert::{Sender, Window};

/// A longer name does not fit into addresses and metrics.
const MAX_NAME_CHARS: usize = 40;

/// `[alerts.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlertSource {
    /// `alertmanager`, `azure-monitor`, `pagerduty`, `grafana` or `generic`; the name itself, where it is one of them.
    pub kind: Option<Sender>,
    /// The channel in which the bot opens a thread for each group of alerts.
    pub channel: String,
    /// The absolute path of the file with its token, or with the secret by which it signs; of two lines both count.
    pub secret_file: PathBuf,
    /// How many requests it may make of each replica in a minute; 1200 unless said.
    #[serde(default = "per_minute")]
    pub per_minute: usize,
    /// When its alerts are written down and open nothing, in UTC.
    #[serde(default)]
    pub maintenance: Vec<String>,
}

fn per_minute() -> usize {
    1_200
}

impl AlertSource {
    /// Returns what sends, where that is said.
    #[must_use]
    pub fn sender(&self, name: &str) -> Option<Sender> {
        self.kind.or_else(|| Sender::of(name))
    }

    /// Returns the windows that can be read.
    #[must_use]
    pub fn windows(&self) -> Vec<Window> {
        self.maintenance.iter().filter_map(|text| text.parse().ok()).collect()
    }

    /// Returns everything that is wrong.
    pub(super) fn problems(&self, name: &str) -> Vec<String> {
        let place = format!("[alerts.{name}]");
        let mut problems = Vec::new();
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.bytes().all(fits) {
            problems
                .push(format!("{place}: a name has 1 to {MAX_NAME_CHARS} of the characters a-z, 0-9 and -"));
        }
        match (self.kind, Sender::of(name)) {
            (None, None) => problems.push(format!(
                "{place} kind: it has to say what sends, one of {}",
                Sender::ALL.map(Sender::word).join(", ")
            )),
            (Some(kind), Some(named)) if kind != named => problems.push(format!(
                "{place} kind = {:?}: a source with the name of a sender is of that kind",
                kind.word()
            )),
            (_, _) => {}
        }
        let is_channel = self.channel.len() > 1
            && self.channel.starts_with(['C', 'G'])
            && self.channel.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if !is_channel {
            problems
                .push(format!("{place} channel = {:?}: an id of a channel begins with C or G", self.channel));
        }
        if !self.secret_file.is_absolute() {
            problems
                .push(format!("{place} secret_file = {:?}: the path has to be absolute", self.secret_file));
        }
        if !(1..=100_000).contains(&self.per_minute) {
            problems.push(format!(
                "{place} per_minute = {}: it has to lie between 1 and 100000",
                self.per_minute
            ));
        }
        let windows = self.maintenance.iter().filter_map(|text| text.parse::<Window>().err());
        problems.extend(windows.map(|error| format!("{place} maintenance: {error}")));
        problems
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let all: BTreeMap<String, AlertSource> = toml::from_str(text).unwrap();
        all.iter().flat_map(|(name, source)| source.problems(name)).collect()
    }

    #[test]
    fn what_can_be_used_has_no_problem() {
        for text in [
            "",
            "[alertmanager]\nchannel = 'C1'\nsecret_file = '/s'",
            "[prod]\nkind = 'azure-monitor'\nchannel = 'G1'\nsecret_file = '/s'\nmaintenance = ['daily 02:00-03:00']",
            "[grafana]\nkind = 'grafana'\nchannel = 'C1'\nsecret_file = '/s'\nper_minute = 5",
        ] {
            assert_eq!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_problem_is_reported() {
        for (text, part) in [
            ("[prod]\nchannel = 'C1'\nsecret_file = '/s'", "has to say what sends"),
            ("[Prod]\nkind = 'generic'\nchannel = 'C1'\nsecret_file = '/s'", "a-z, 0-9"),
            ("[grafana]\nkind = 'generic'\nchannel = 'C1'\nsecret_file = '/s'", "is of that kind"),
            ("[generic]\nchannel = 'general'\nsecret_file = '/s'", "begins with C"),
            ("[generic]\nchannel = 'C1'\nsecret_file = 's'", "absolute"),
            ("[generic]\nchannel = 'C1'\nsecret_file = '/s'\nper_minute = 0", "between"),
            ("[generic]\nchannel = 'C1'\nsecret_file = '/s'\nmaintenance = ['at night']", "is no window"),
        ] {
            let found = problems(text);
            assert!(found.len() == 1 && found[0].contains(part), "{text}: {found:?}");
        }
        for text in
            ["[generic]\nchannel = 'C1'", "[generic]\nchannel = 'C1'\nsecret_file = '/s'\nsecret = 'x'"]
        {
            assert!(toml::from_str::<BTreeMap<String, AlertSource>>(text).is_err(), "{text}");
        }
    }
}
