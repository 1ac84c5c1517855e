//! The variables of a machine or a group.

use std::collections::BTreeMap;

use crate::config::HostEntry;

/// What an inventory of Ansible says of a machine, as far as it is about how it is reached: what is said first counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(super) fn set(&mut self, key: &str, value: &str) {
        self.0.entry(key.to_owned()).or_insert_with(|| value.to_owned());
    }

    /// Takes over what is not said yet.
    pub(super) fn inherit(&mut self, more: &Self) {
        more.0.iter().for_each(|(key, value)| self.set(key, value));
    }

    pub(super) fn entry(&self) -> HostEntry {
        let text = |keys: [&str; 2]| keys.iter().find_map(|key| self.0.get(*key)).cloned();
        if self.0.get("ansible_connection").is_some_and(|by| by == "local") {
            return HostEntry { local: true, ..HostEntry::default() };
        }
        HostEntry {
            local: false,
            address: text(["ansible_host", "ansible_ssh_host"]),
            user: text(["ansible_user", "ansible_ssh_user"]),
            port: text(["ansible_port", "ansible_ssh_port"]).and_then(|port| port.parse().ok()),
            key: text(["ansible_ssh_private_key_file", "ansible_private_key_file"]).map(Into::into),
            jump: None,
        }
    }
}
