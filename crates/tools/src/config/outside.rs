//! `[outside]`: consent for agents that no session of the bot drives. The bot has a channel and callers; an agent's machine has an address.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// `[outside]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outside {
    /// The channel in which the bot opens a thread for each request; it takes none unless said.
    pub channel: Option<String>,
    /// How many requests one caller may make in a minute; 30 unless said.
    pub requests_per_minute: usize,
    /// Who may ask over HTTP, by name.
    pub callers: BTreeMap<String, OutsideCaller>,
    /// The address of the bot's port, for a machine that asks; through the shared store unless said.
    pub url: Option<String>,
    /// The absolute path of the file with this machine's token.
    pub token_file: Option<PathBuf>,
    /// Whether the token may travel over plain HTTP to another machine.
    pub plain_http: bool,
    /// The name by which this machine asks through the store; that of the machine unless said.
    pub name: Option<String>,
    /// The person whose agents ask through the store: whoever asks is not the one who approves a change.
    pub owner: Option<String>,
}

/// `[outside.callers.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideCaller {
    /// The absolute path of the file with the caller's token: 24 characters or more.
    pub token_file: PathBuf,
    /// The person whose agents these are, by id.
    #[serde(default)]
    pub owner: Option<String>,
}

impl Default for Outside {
    fn default() -> Self {
        Self {
            channel: None,
            requests_per_minute: 30,
            callers: BTreeMap::new(),
            url: None,
            token_file: None,
            plain_http: false,
            name: None,
            owner: None,
        }
    }
}

impl Outside {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let is_id = |text: &str, begins: &[char]| {
            text.len() > 1
                && text.starts_with(begins)
                && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        };
        if let Some(id) = self.channel.as_deref().filter(|id| !is_id(id, &['C', 'G'])) {
            problems.push(format!("[outside] channel = {id:?}: an id of a channel begins with C or G"));
        }
        if !(1..=10_000).contains(&self.requests_per_minute) {
            let rate = self.requests_per_minute;
            problems
                .push(format!("[outside] requests_per_minute = {rate}: it has to lie between 1 and 10000"));
        }
        let owners =
            self.callers.iter().map(|(name, caller)| (format!("[outside.callers.{name}]"), &caller.owner));
        for (place, owner) in owners.chain([("[outside]".to_owned(), &self.owner)]) {
            if let Some(id) = owner.as_deref().filter(|id| !is_id(id, &['U', 'W'])) {
                problems.push(format!("{place} owner = {id:?}: an id of a person begins with U or W"));
            }
        }
        let files = self
            .callers
            .iter()
            .map(|(name, caller)| (format!("[outside.callers.{name}]"), Some(&caller.token_file)));
        for (place, file) in files.chain([("[outside]".to_owned(), self.token_file.as_ref())]) {
            if let Some(path) = file.filter(|path| !path.is_absolute()) {
                problems.push(format!("{place} token_file = {path:?}: the path has to be absolute"));
            }
        }
        let names = self.callers.keys().chain(&self.name);
        for name in names.filter(|name| name.trim().is_empty() || name.len() > 60) {
            problems.push(format!("[outside] {name:?}: a caller's name has 1 to 60 characters"));
        }
        if !self.callers.is_empty() && self.channel.is_none() {
            problems
                .push("[outside.callers]: [outside] channel has to say where they are answered".to_owned());
        }
        if let Some(url) = &self.url {
            if !self.is_sealed(url) {
                problems.push(format!(
                    "[outside] url = {url:?}: it begins with https://, or with http:// on this machine, or plain_http is set"
                ));
            }
            if self.token_file.is_none() {
                problems.push("[outside] url: token_file has to name this machine's token".to_owned());
            }
        }
        problems
    }

    /// Tells whether a token may travel there.
    fn is_sealed(&self, url: &str) -> bool {
        let plain = url.strip_prefix("http://");
        let host = plain.map(|rest| rest.split(['/', ':', '@']).next().unwrap_or_default());
        let local = matches!(host, Some("127.0.0.1" | "localhost")) && !url.contains('@');
        url.starts_with("https://") || local || (self.plain_http && plain.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        toml::from_str::<Outside>(text).unwrap().problems()
    }

    #[test]
    fn what_can_be_used_has_no_problem() {
        for text in [
            "",
            "channel = 'C1'\n[callers.m1]\ntoken_file = '/t'\nowner = 'U1'",
            "url = 'http://127.0.0.1:9464'\ntoken_file = '/t'",
            "url = 'https://bot.example'\ntoken_file = '/t'",
            "url = 'http://10.0.0.7:9464'\ntoken_file = '/t'\nplain_http = true",
        ] {
            assert_eq!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_problem_is_reported() {
        for (text, part) in [
            ("channel = 'general'", "begins with C"),
            ("requests_per_minute = 0", "between"),
            ("channel = 'C1'\n[callers.m1]\ntoken_file = 't'", "absolute"),
            ("channel = 'C1'\n[callers.m1]\ntoken_file = '/t'\nowner = 'ben'", "id of a person"),
            ("[callers.m1]\ntoken_file = '/t'", "channel has to say"),
            ("url = 'http://10.0.0.7:9464'\ntoken_file = '/t'", "plain_http"),
            ("url = 'http://127.0.0.1@evil.example'\ntoken_file = '/t'", "https"),
            ("url = 'https://bot.example'", "token_file"),
            ("name = ''", "1 to 60"),
        ] {
            let found = problems(text);
            assert!(found.len() == 1 && found[0].contains(part), "{text}: {found:?}");
        }
        assert!(toml::from_str::<Outside>("token = 'x'").is_err());
    }
}
