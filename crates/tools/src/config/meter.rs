//! `[meter]`: what measurements use unless the command line says something else.

use serde::Deserialize;

/// `[meter]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Meter {
    /// The machine that sends: its name, or its address.
    pub source: Option<String>,
    /// The machine that receives.
    pub destination: Option<String>,
    /// Their resource group.
    pub resource_group: Option<String>,
    /// The subscription, by its id.
    pub subscription: Option<String>,
    /// `azure` or `ssh`.
    pub provider: Option<String>,
    /// As whom ssh signs in; `azureuser` unless said.
    pub ssh_user: Option<String>,
    /// How the source is reached by ssh, where that is not its address; then the destination is reached through it.
    pub source_host: Option<String>,
    /// The file of the key for the source; an agent is asked unless said.
    pub source_key: Option<String>,
    /// The file of the key for the destination.
    pub destination_key: Option<String>,
    /// The file of known host keys; `~/.ssh/known_hosts` unless said.
    pub known_hosts: Option<String>,
    /// `latency`, `throughput` or `both`.
    pub test_type: Option<String>,
    /// How often each is measured; 8 unless said.
    pub iterations: Option<u16>,
    /// The storage account that results are uploaded to; nothing is uploaded without one.
    pub storage_account: Option<String>,
    pub storage_container: Option<String>,
}
