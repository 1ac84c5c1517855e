//! `[ssh]`: how guests are reached by ssh.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// `[ssh]`. Host keys are always checked, and nothing of the user's own ssh configuration is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ssh {
    /// As whom; `azureuser` unless said.
    pub user: String,
    /// The port; 22 unless said.
    pub port: u16,
    /// The file of the private key. Without one the agent is asked.
    pub key: Option<PathBuf>,
    /// The agent's socket; `$SSH_AUTH_SOCK` unless said.
    pub agent: Option<PathBuf>,
    /// The file of known host keys; `~/.ssh/known_hosts` unless said.
    pub known_hosts: Option<PathBuf>,
    /// The host that lies before the guests, where there is one.
    pub bastion: Option<Bastion>,
    /// Machines that are reached by ssh, with the name or the address of each.
    pub hosts: BTreeMap<String, String>,
}

/// `[ssh.bastion]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bastion {
    /// Its name or address.
    pub host: String,
    /// As whom; as on the guests unless said.
    pub user: Option<String>,
    /// The port; 22 unless said.
    pub port: Option<u16>,
    /// The file of the private key; that of the guests unless said.
    pub key: Option<PathBuf>,
}

impl Default for Ssh {
    fn default() -> Self {
        Self {
            user: "azureuser".to_owned(),
            port: 22,
            key: None,
            agent: None,
            known_hosts: None,
            bastion: None,
            hosts: BTreeMap::new(),
        }
    }
}
