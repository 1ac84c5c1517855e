//! `[hook]`: what coding agents may do beside shell commands, and who is asked.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What becomes of a tool call that is no shell command. Ordered: of several rows that fit the strictest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolRule {
    /// Ghost has nothing against it; the client's own rules decide.
    Pass,
    /// A human is asked, as about a RISKY command.
    Ask,
    /// It is refused, and nobody is asked.
    Deny,
}

/// Who is asked about what needs consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskWhom {
    /// Whoever sits in front of the client, where the client can ask.
    Ask,
    /// A human in Slack, through the bot: see `[outside]`.
    Slack,
    /// Nobody: what needs consent is denied.
    #[default]
    Deny,
}

/// `[hook]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hook {
    /// Who is asked where `--approve` does not say; nobody unless said.
    pub approve: AskWhom,
    /// How many seconds a client waits for an answer from Slack; 540 unless said. What `install` writes lets it wait that long.
    pub wait_seconds: u64,
    /// Reading files of the project; `pass` unless said.
    pub read: ToolRule,
    /// Reading other files; `ask` unless said.
    pub read_outside: ToolRule,
    /// Writing files of the project, but those by which clients and other tools are set up, which always ask; `pass` unless said.
    pub write: ToolRule,
    /// Writing other files; `ask` unless said.
    pub write_outside: ToolRule,
    /// Asking for pages and searching the web; `ask` unless said.
    pub fetch: ToolRule,
    /// Tools of MCP servers; `ask` unless said.
    pub mcp: ToolRule,
    /// Tools that Ghost does not know; `ask` unless said.
    pub other: ToolRule,
    /// Single tools by name, or by its beginning and a `*`, in place of what holds for their kind.
    pub tools: BTreeMap<String, ToolRule>,
    /// Files by path, in place of what holds for their kind: a folder holds for what is in it. A relative one begins in the project.
    pub paths: BTreeMap<String, ToolRule>,
    /// Hosts of pages, or `*.` and a domain, in place of `fetch`.
    pub hosts: BTreeMap<String, ToolRule>,
}

impl Default for Hook {
    fn default() -> Self {
        Self {
            approve: AskWhom::default(),
            wait_seconds: 540,
            read: ToolRule::Pass,
            read_outside: ToolRule::Ask,
            write: ToolRule::Pass,
            write_outside: ToolRule::Ask,
            fetch: ToolRule::Ask,
            mcp: ToolRule::Ask,
            other: ToolRule::Ask,
            tools: BTreeMap::new(),
            paths: BTreeMap::new(),
            hosts: BTreeMap::new(),
        }
    }
}

impl Hook {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if !(1..=3_600).contains(&self.wait_seconds) {
            let wait = self.wait_seconds;
            problems.push(format!("[hook] wait_seconds = {wait}: it has to lie between 1 and 3600"));
        }
        for name in self.tools.keys().filter(|name| !is_pattern(name)) {
            problems.push(format!("[hook.tools] {name:?}: it is a name, or its beginning and a `*`"));
        }
        for host in self.hosts.keys() {
            let plain = host.strip_prefix("*.").unwrap_or(host);
            if plain.is_empty() || plain.contains(['*', '/', ':', ' ']) {
                problems.push(format!("[hook.hosts] {host:?}: it is a host, or `*.` and a domain"));
            }
        }
        for path in self.paths.keys() {
            let up = path.split('/').any(|part| part == "..");
            if path.is_empty() || up || path.contains('*') {
                problems
                    .push(format!("[hook.paths] {path:?}: it is a file or a folder, without `..` or `*`"));
            }
        }
        problems
    }
}

fn is_pattern(name: &str) -> bool {
    let plain = name.strip_suffix('*').unwrap_or(name);
    !name.is_empty() && !plain.contains('*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Hook {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn outside_of_the_project_everything_asks_and_nobody_is_asked_unless_said() {
        let hook = read("");
        assert_eq!((hook.read, hook.write, hook.approve), (ToolRule::Pass, ToolRule::Pass, AskWhom::Deny));
        for rule in [hook.read_outside, hook.write_outside, hook.fetch, hook.mcp, hook.other] {
            assert_eq!(rule, ToolRule::Ask);
        }
        assert!(hook.problems().is_empty());
    }

    #[test]
    fn every_problem_is_reported() {
        let hook =
            read("[tools]\n'mcp__*__x' = 'pass'\n[hosts]\n'https://a' = 'pass'\n[paths]\n'../x' = 'pass'");
        let hook = Hook { wait_seconds: 0, ..hook };
        assert_eq!(hook.problems().len(), 4, "{:?}", hook.problems());
        assert!(toml::from_str::<Hook>("write = 'allow'").is_err());
        assert!(toml::from_str::<Hook>("writes = 'ask'").is_err());
    }

    #[test]
    fn what_can_be_used_has_no_problem() {
        let hook = read(
            "approve = 'ask'\n[tools]\n'mcp__github__get_*' = 'pass'\n[hosts]\n'*.rs' = 'pass'\n[paths]\n'secrets' = 'deny'\n'/home/ana/notes' = 'pass'",
        );
        assert!(hook.problems().is_empty(), "{:?}", hook.problems());
    }
}
