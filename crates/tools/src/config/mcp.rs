//! `[mcp]`: agents that speak the Model Context Protocol over HTTP.

use std::path::PathBuf;

use serde::Deserialize;

/// Who is asked about what needs consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpApprove {
    /// People in Slack, as `[outside]` says.
    Slack,
    /// Nobody: what needs consent does not run.
    #[default]
    Deny,
}

/// `[mcp]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Who is asked where `--approve` does not say; nobody unless said. Inside the bot it asks where `[outside] channel` is set.
    pub approve: McpApprove,
    /// The absolute path of a file with a client's name and its token on each line; `--token-file` wins over it. With it the bot
    /// serves `/mcp`, too.
    pub token_file: Option<PathBuf>,
    /// Whether requests are taken that Slack signed with the app's signing secret, each in the name of the person who asks there.
    pub slack_identity: bool,
    /// Names under which clients reach the server, with a port or without, beside those of this machine.
    pub hosts: Vec<String>,
    /// Origins of pages whose scripts may speak to it, such as `https://tools.example:443`; none unless said.
    pub origins: Vec<String>,
    /// How many requests of a client are taken in a minute; 600 unless said.
    pub requests_per_minute: u32,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            approve: McpApprove::default(),
            token_file: None,
            slack_identity: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            requests_per_minute: 600,
        }
    }
}

impl Mcp {
    /// Tells whether anybody could prove who they are.
    #[must_use]
    pub fn knows_clients(&self) -> bool {
        self.token_file.is_some() || self.slack_identity
    }

    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(path) = self.token_file.as_ref().filter(|path| !path.is_absolute()) {
            problems.push(format!("[mcp] token_file = {path:?}: the path has to be absolute"));
        }
        let odd =
            |text: &str| text.is_empty() || text.chars().any(|char| char.is_whitespace() || char == '*');
        for host in self.hosts.iter().filter(|host| odd(host) || host.contains('/')) {
            problems.push(format!("[mcp] hosts: {host:?} is no host, with or without a port"));
        }
        for origin in &self.origins {
            let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
            if rest.is_none_or(|rest| odd(rest) || rest.contains('/') || !rest.contains(':')) {
                problems.push(format!(
                    "[mcp] origins: {origin:?} is no origin with a port, such as https://tools.example:443"
                ));
            }
        }
        if !(1..=100_000).contains(&self.requests_per_minute) {
            let given = self.requests_per_minute;
            problems.push(format!("[mcp] requests_per_minute = {given}: it has to lie between 1 and 100000"));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> usize {
        toml::from_str::<Mcp>(text).unwrap().problems().len()
    }

    #[test]
    fn what_names_a_server_is_checked() {
        for text in [
            "",
            "hosts = ['ghost.example', 'ghost.example:8443', '10.0.0.4']",
            "origins = ['https://a.example:443']",
        ] {
            assert_eq!(problems(text), 0, "{text}");
        }
        for text in [
            "token_file = 'tokens'",
            "hosts = ['*']",
            "hosts = ['https://a.example']",
            "origins = ['a.example']",
            "origins = ['https://a.example']",
            "origins = ['https://a.example/x:1']",
            "requests_per_minute = 0",
        ] {
            assert_eq!(problems(text), 1, "{text}");
        }
    }

    #[test]
    fn clients_are_known_by_tokens_or_by_slack() {
        let knows = |text: &str| toml::from_str::<Mcp>(text).unwrap().knows_clients();
        assert!(!knows("") && knows("slack_identity = true") && knows("token_file = '/etc/ghost/tokens'"));
    }
}
