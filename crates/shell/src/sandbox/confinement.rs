//! The account of what a command was kept from doing.

use serde::Serialize;

/// What was in force while a command ran, for the audit record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confinement {
    /// Files, execution, TCP and signals: `full ABI 7`, `partial ABI 3`, `absent` or `not used: …`; and whether
    /// it hid what was looked for.
    pub landlock: String,
    /// System calls and sockets: `on`, `on, no writes` where it stands in for Landlock, `absent` or `not used: …`.
    pub seccomp: String,
    /// Which of root's powers it kept.
    pub capabilities: String,
    /// How many processes at most: `64 (cgroup)` or `unbounded`.
    pub processes: String,
    /// The other bounds, in words.
    pub limits: Vec<String>,
    /// Whether it could gain privileges that this process does not have.
    pub new_privileges: bool,
}

impl Confinement {
    /// Accounts for a command to which no sandbox was applied.
    pub(super) fn none(reason: &str) -> Self {
        Self {
            landlock: format!("not used: {reason}"),
            seccomp: format!("not used: {reason}"),
            capabilities: "those of this user".to_owned(),
            processes: "unbounded".to_owned(),
            limits: Vec::new(),
            new_privileges: true,
        }
    }

    /// Accounts for a command that was answered without a process.
    pub(crate) fn nothing_ran() -> Self {
        Self {
            landlock: "not used".to_owned(),
            seccomp: "not used".to_owned(),
            capabilities: "none".to_owned(),
            processes: "0".to_owned(),
            limits: vec!["a recording answered, nothing ran".to_owned()],
            new_privileges: false,
        }
    }

    /// Returns the account in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let privileges = if self.new_privileges { "possible" } else { "none" };
        format!(
            "Landlock {}; seccomp {}; capabilities: {}; processes {}; new privileges: {privileges}; {}",
            self.landlock,
            self.seccomp,
            self.capabilities,
            self.processes,
            self.limits.join(", ")
        )
    }
}
