//! How a machine is reached that the command line names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::HostEntry;
use crate::guest::{SshOptions, ssh};
use crate::setup::Setup;
use ghost_cloud::guest::HostAccess;

/// How machines are reached by ssh.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Over ssh")]
pub struct SshArguments {
    /// As whom, where the name says nobody (`ops@web-1`); that of `[ssh]`, else whoever runs this, unless said.
    #[arg(long, value_name = "USER")]
    ssh_user: Option<String>,
    /// The port; 22 unless said.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    ssh_port: Option<u16>,
    /// The private key; that of `[ssh]`, the agent, else a usual one in `~/.ssh`, unless said.
    #[arg(long, value_name = "FILE")]
    ssh_key: Option<PathBuf>,
    /// The host that lies before the machines; that of `[ssh]` unless said.
    #[arg(long, value_name = "HOST")]
    jump: Option<String>,
    /// The file of known host keys; that of `[ssh]`, else `~/.ssh/known_hosts`, unless said.
    #[arg(long, value_name = "FILE")]
    known_hosts: Option<PathBuf>,
}

/// Keys as `ssh-keygen` names them.
const KEYS: [&str; 3] = ["id_ed25519", "id_ecdsa", "id_rsa"];

impl SshArguments {
    /// Returns how a machine is reached, and its name without the user. What the command line says comes before what `[hosts]` says of
    /// the machine, and that before `[ssh]`.
    pub fn access(&self, setup: &Setup, named: &str) -> anyhow::Result<(String, HostAccess)> {
        self.access_among(&setup.config.hosts, setup, named)
    }

    /// Returns the same among machines that something else than the configuration names.
    pub fn access_among(
        &self,
        entries: &BTreeMap<String, HostEntry>,
        setup: &Setup,
        named: &str,
    ) -> anyhow::Result<(String, HostAccess)> {
        let (user, name) = match named.rsplit_once('@') {
            Some((user, name)) => (Some(user), name),
            None => (self.ssh_user.as_deref(), named),
        };
        let unnamed = HostEntry::default();
        let entry = entries.get(name).unwrap_or(&unnamed);
        if entry.local {
            return Ok((name.to_owned(), HostAccess::Here));
        }
        let configured = &setup.config.ssh;
        let address = entry.address.as_ref().or_else(|| configured.hosts.get(name));
        let address = address.map_or(name, String::as_str);
        // The default of `[ssh]` is that of machines in the cloud.
        let is_default = configured.user == crate::config::Ssh::default().user;
        let invoking = setup.environment.text("USER").or_else(|| setup.environment.text("LOGNAME"));
        let user = user.or(entry.user.as_deref()).or_else(|| invoking.filter(|_| is_default));
        let usual = self.usual_key(setup);
        let options = SshOptions {
            user,
            port: self.ssh_port.or(entry.port),
            key: self.ssh_key.as_deref().or(entry.key.as_deref()).or(usual.as_deref()),
            key_option: "--ssh-key",
            bastion: self.jump.as_deref().or(entry.jump.as_deref()),
            bastion_port: None,
            bastion_key: None,
            known_hosts: self.known_hosts.as_deref(),
        };
        Ok((name.to_owned(), HostAccess::Ssh(Box::new(ssh(setup, address, &options)?))))
    }

    /// Finds a key where neither the configuration nor an agent has one.
    fn usual_key(&self, setup: &Setup) -> Option<PathBuf> {
        let configured = &setup.config.ssh;
        let has_agent = configured.agent.is_some() || setup.environment.path("SSH_AUTH_SOCK").is_some();
        if configured.key.is_some() || has_agent {
            return None;
        }
        let folder = setup.environment.path("HOME")?.join(".ssh");
        KEYS.iter().map(|name| folder.join(name)).find(|path| Path::is_file(path))
    }
}
