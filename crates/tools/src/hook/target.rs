//! Where the settings of the clients lie.

use std::path::{Path, PathBuf};

use super::call::Client;

/// Whose settings they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    /// The administrator's: no project and no flag of the client gets round them.
    Managed,
    /// One person's.
    User,
    /// One project's.
    Project(PathBuf),
}

/// One file of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub client: Client,
    /// Whose settings.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
}

impl Target {
    /// Finds the file; nothing where there is no home, or the client has none.
    pub(super) fn new(client: Client, scope: Scope, etc: &Path, home: Option<&Path>) -> Option<Self> {
        let path = match (client, &scope) {
            (Client::Claude, Scope::Managed) => etc.join("claude-code/managed-settings.json"),
            (Client::Claude, Scope::User) => home?.join(".claude/settings.json"),
            (Client::Claude, Scope::Project(folder)) => folder.join(".claude/settings.json"),
            (Client::Codex, Scope::Managed) => etc.join("codex/requirements.toml"),
            (Client::Codex, Scope::User) => home?.join(".codex/config.toml"),
            (Client::Codex, Scope::Project(folder)) => folder.join(".codex/config.toml"),
            (Client::Generic, _) => return None,
        };
        Some(Self { client, scope, path })
    }

    /// Says what these settings do not hold.
    pub(super) fn weakness(&self) -> Option<&'static str> {
        match (self.client, &self.scope) {
            (_, Scope::Managed) | (Client::Generic, _) => None,
            (Client::Claude, Scope::User | Scope::Project(_)) => Some(
                "a project's settings (disableAllHooks, or env with LD_PRELOAD) and flags of the client (--bare, --setting-sources) switch \
                it off; only the administrator's settings hold: run `ghost hook install claude` as root",
            ),
            (Client::Codex, Scope::User | Scope::Project(_)) => Some(
                "Codex passes over a hook, without a word, until somebody trusts it with /hooks, and again whenever its line changes; \
                only the administrator's settings hold: run `ghost hook install codex` as root",
            ),
        }
    }
}
