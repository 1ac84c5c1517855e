//! How the guest of a subcommand is reached: what was said on the command line, else what is configured.

use std::path::{Path, PathBuf, absolute};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::print::Hinted;
use super::setup::Setup;
use ghost_cloud::guest::{GuestAccess, Hop, Identity, Ssh};
use ghost_cloud::{Name, ResourceGroup};

/// By what a guest is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Provider {
    /// By the platform's run-command.
    Azure,
    /// By ssh.
    Ssh,
}

/// A guest, and how it is reached.
#[derive(Debug, Args)]
pub struct Guest {
    /// By what the guest is reached.
    #[arg(long, value_enum, default_value_t = Provider::Azure)]
    provider: Provider,
    /// The machine; over ssh its name in `[ssh] hosts`, where no address is given.
    #[arg(long, visible_alias = "vm", value_name = "NAME")]
    vm_name: Option<String>,
    /// The machine's resource group.
    #[arg(long, short = 'g', value_name = "GROUP")]
    resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID")]
    subscription: Option<String>,
    /// The guest's address, for ssh.
    #[arg(long, value_name = "HOST")]
    target_vm_ip: Option<String>,
    /// The private key, for ssh; that of `[ssh]`, else the agent, unless said.
    #[arg(long, value_name = "FILE")]
    target_ssh_key: Option<PathBuf>,
    /// As whom, for ssh; that of `[ssh]` unless said.
    #[arg(long, value_name = "USER")]
    ssh_user: Option<String>,
    /// The port, for ssh.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    ssh_port: Option<u16>,
    /// The host that lies before the guest.
    #[arg(long, value_name = "HOST")]
    bastion_public_ip: Option<String>,
    /// The private key for that host.
    #[arg(long, value_name = "FILE", requires = "bastion_public_ip")]
    bastion_ssh_key: Option<PathBuf>,
    /// The port of that host.
    #[arg(long, value_name = "PORT", requires = "bastion_public_ip", value_parser = clap::value_parser!(u16).range(1..))]
    bastion_port: Option<u16>,
    /// The file of known host keys; that of `[ssh]`, else `~/.ssh/known_hosts`, unless said.
    #[arg(long, value_name = "FILE")]
    known_hosts: Option<PathBuf>,
}

/// What is said about ssh where it differs from the configuration.
#[derive(Debug, Default)]
pub struct SshOptions<'a> {
    pub user: Option<&'a str>,
    pub port: Option<u16>,
    pub key: Option<&'a Path>,
    /// The option that names a key, for the hint if there is none.
    pub key_option: &'a str,
    pub bastion: Option<&'a str>,
    pub bastion_port: Option<u16>,
    pub bastion_key: Option<&'a Path>,
    pub known_hosts: Option<&'a Path>,
}

impl Guest {
    /// Returns how it is reached.
    pub fn reach(&self, setup: &Setup) -> anyhow::Result<GuestAccess> {
        match self.provider {
            Provider::Azure => {
                let (Some(machine), Some(group)) = (&self.vm_name, &self.resource_group) else {
                    let error = anyhow::anyhow!("the machine is not named");
                    return Err(Hinted::new(
                        error,
                        "--vm-name NAME -g GROUP; or --provider ssh --target-vm-ip HOST",
                    )
                    .into());
                };
                Ok(GuestAccess::Platform {
                    place: place(group, self.subscription.as_deref())?,
                    machine: Name::parse(machine).context("checking --vm-name")?,
                })
            }
            Provider::Ssh => {
                let configured = self.vm_name.as_ref().and_then(|name| setup.config.ssh.hosts.get(name));
                let Some(host) = self.target_vm_ip.as_ref().or(configured) else {
                    let error = anyhow::anyhow!("it is not known where the guest is");
                    return Err(Hinted::new(
                        error,
                        "--target-vm-ip HOST, or name the machine in the configuration: [ssh.hosts]",
                    )
                    .into());
                };
                let options = SshOptions {
                    user: self.ssh_user.as_deref(),
                    port: self.ssh_port,
                    key: self.target_ssh_key.as_deref(),
                    key_option: "--target-ssh-key",
                    bastion: self.bastion_public_ip.as_deref(),
                    bastion_port: self.bastion_port,
                    bastion_key: self.bastion_ssh_key.as_deref(),
                    known_hosts: self.known_hosts.as_deref(),
                };
                Ok(GuestAccess::Ssh(Box::new(ssh(setup, host, &options)?)))
            }
        }
    }

    /// Returns what the guest is called.
    pub fn name(&self) -> &str {
        self.vm_name.as_deref().or(self.target_vm_ip.as_deref()).unwrap_or_default()
    }
}

/// Checks a resource group, and a subscription where there is one.
pub fn place(group: &str, subscription: Option<&str>) -> anyhow::Result<ResourceGroup> {
    Ok(ResourceGroup {
        subscription: subscription.map(Name::parse).transpose().context("checking --subscription")?,
        group: Name::parse(group).context("checking --resource-group")?,
    })
}

/// Returns how a host is reached by ssh.
pub fn ssh(setup: &Setup, host: &str, options: &SshOptions<'_>) -> anyhow::Result<Ssh> {
    let known = &setup.config.ssh;
    let user = options.user.unwrap_or(&known.user);
    let key = options.key.or(known.key.as_deref());
    let target =
        Hop::new(user, host, options.port.unwrap_or(known.port), identity(setup, key, options.key_option)?)?;
    let before = known.bastion.as_ref().filter(|_| options.bastion.is_none());
    let bastion = options.bastion.or(before.map(|bastion| bastion.host.as_str()));
    let bastion = bastion.map(|host| -> anyhow::Result<Hop> {
        let configured = before.and_then(|bastion| bastion.key.as_deref());
        let key = options.bastion_key.or(configured).or(key);
        let user = before.and_then(|bastion| bastion.user.as_deref()).unwrap_or(user);
        let port = options.bastion_port.or(before.and_then(|bastion| bastion.port)).unwrap_or(22);
        Ok(Hop::new(user, host, port, identity(setup, key, options.key_option)?)?)
    });
    let home = || setup.environment.path("HOME").map(|home| home.join(".ssh/known_hosts"));
    let file = options.known_hosts.map(Path::to_owned).or_else(|| known.known_hosts.clone()).or_else(home);
    let Some(file) = file else {
        let error = anyhow::anyhow!("there is no file of known host keys");
        return Err(Hinted::new(error, "name one with --known-hosts: host keys are always checked").into());
    };
    Ok(Ssh::new(target, bastion.transpose()?, &whole(&file)?)?)
}

fn identity(setup: &Setup, key: Option<&Path>, option: &str) -> anyhow::Result<Identity> {
    if let Some(key) = key {
        return Ok(Identity::Key(whole(key)?));
    }
    let agent = setup.config.ssh.agent.clone().or_else(|| setup.environment.path("SSH_AUTH_SOCK"));
    match agent {
        Some(socket) => Ok(Identity::Agent(whole(&socket)?)),
        None => {
            let error = anyhow::anyhow!("there is neither a key nor an agent for ssh");
            let hint = format!("name a key with {option}, or in the configuration: [ssh] key");
            Err(Hinted::new(error, hint).into())
        }
    }
}

fn whole(path: &Path) -> anyhow::Result<PathBuf> {
    absolute(path).with_context(|| format!("finding {}", path.display()))
}
