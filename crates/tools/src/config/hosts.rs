//! `[hosts]`: machines that are read themselves, here or by ssh.

use std::path::PathBuf;

use serde::Deserialize;

/// A longer name is no name of a machine.
const MAX_NAME_BYTES: usize = 63;

/// `[hosts.NAME]`: how a machine is reached. What it does not say is as `[ssh]` says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostEntry {
    /// It is the machine that the program runs on; nothing else is said then.
    pub local: bool,
    /// Its name or address for ssh; its name here unless said.
    pub address: Option<String>,
    /// As whom; that of `[ssh]`, else whoever runs this, unless said.
    pub user: Option<String>,
    /// The port; that of `[ssh]` unless said.
    pub port: Option<u16>,
    /// The private key; that of `[ssh]`, the agent, else a usual one in `~/.ssh`, unless said.
    pub key: Option<PathBuf>,
    /// The host that lies before it; that of `[ssh]` unless said.
    pub jump: Option<String>,
}

impl HostEntry {
    /// Says what is wrong with an entry.
    #[must_use]
    pub fn problems(&self, name: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if name.is_empty()
            || name.len() > MAX_NAME_BYTES
            || name.starts_with(['-', '.'])
            || !name.bytes().all(plain)
        {
            problems.push(format!("[hosts] `{name}` is no name of a machine: letters, digits and .-_ are"));
        }
        let says = self.address.is_some()
            || self.user.is_some()
            || self.port.is_some()
            || self.key.is_some()
            || self.jump.is_some();
        if self.local && says {
            problems.push(format!("[hosts.{name}] a local machine has no other keys"));
        }
        if self.port == Some(0) {
            problems.push(format!("[hosts.{name}] port is 1 to 65535"));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_machine_with_a_name() {
        let entry = HostEntry { address: Some("10.0.0.4".to_owned()), ..HostEntry::default() };
        assert_eq!(entry.problems("web-1"), [] as [String; 0]);
        for name in ["", "-x", "a b", "a/b", "a,b"] {
            assert_eq!(entry.problems(name).len(), 1, "{name}");
        }
        let both = HostEntry { local: true, port: Some(0), ..HostEntry::default() };
        assert_eq!(both.problems("here").len(), 2);
    }
}
