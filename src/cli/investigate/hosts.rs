//! Which machines an investigation reads themselves: those that are named, or this one.
//!
//! Goes in: the command line, `[hosts]` of the configuration, the words of whoever asks. Comes out: the machines with the words that
//! carry a script to each; none where the cloud is looked at. Never: a machine that nobody named.

use std::path::Path;

use anyhow::Context as _;

use ghost_cloud::guest::HostAccess;
use ghost_investigate::event::SessionHost;
use ghost_investigate::state::State;
use ghost_investigate::symptom_text::names;
use ghost_tools::host::{MAX_HOSTS, SshArguments};
use ghost_tools::inventory::entries;
use ghost_tools::print::{Hinted, harmless};
use ghost_tools::setup::Setup;

/// How findings name this machine.
const HERE: &str = "localhost";

/// Words for the machine that somebody sits at.
const THIS: [&str; 4] = ["this", "the local", "my", "diesem"];
const MACHINE: [&str; 8] = ["host", "machine", "server", "computer", "box", "laptop", "vm", "rechner"];

/// Returns the machines that a session reads itself; none where the cloud is looked at.
pub(in crate::cli) fn machines(
    named: &[String],
    inventory: Option<&Path>,
    symptom: &str,
    ssh: &SshArguments,
    setup: &Setup,
) -> anyhow::Result<Vec<SessionHost>> {
    let known = entries(inventory, setup)?;
    let spoken = || -> Vec<String> { known.keys().filter(|name| names(symptom, name)).cloned().collect() };
    let chosen: Vec<String> = match named {
        [] => match spoken() {
            some if !some.is_empty() => some,
            // Whoever names a file means the machines in it.
            _ if inventory.is_some() => known.keys().cloned().collect(),
            _ if speaks_of_this(symptom) => return Ok(vec![here(symptom, setup)]),
            _ if knows_cloud(setup) => return Ok(Vec::new()),
            _ if known.is_empty() => return Ok(vec![here(symptom, setup)]),
            _ => known.keys().cloned().collect(),
        },
        named => named.to_vec(),
    };
    if chosen.len() > MAX_HOSTS {
        let error = anyhow::anyhow!("{} machines are named, and a session reads {MAX_HOSTS}", chosen.len());
        return Err(Hinted::new(error, "name those that it is about, with --host").into());
    }
    let mut found: Vec<SessionHost> = Vec::new();
    for named in &chosen {
        let (name, access) = ssh
            .access_among(&known, setup, named)
            .with_context(|| format!("finding how {} is reached", harmless(named)))?;
        if found.iter().any(|known| known.name == name) {
            anyhow::bail!("{name} is named twice");
        }
        found.push(session_host(name, &access));
    }
    Ok(found)
}

/// Returns the machines of a session that goes on, as its record has them. Words that are not exactly those that carry scripts to
/// machines are left to the gate, which asks.
pub(in crate::cli) fn recorded(before: &State) -> anyhow::Result<Vec<SessionHost>> {
    let mut found = Vec::new();
    for host in &before.opened.hosts {
        let Some(access) = HostAccess::of_carrier(&host.carrier) else { continue };
        // What is over is only shown.
        if let Some(file) = access.missing_file().filter(|_| before.concluded.is_none()) {
            let name = harmless(&host.name);
            let error = anyhow::anyhow!("{name} was reached with {}, which is not there", file.display());
            let hint = format!("bring the file back, or begin anew with --host {name} or --inventory FILE");
            return Err(Hinted::new(error, hint).into());
        }
        found.push(host.clone());
    }
    Ok(found)
}

/// Returns a machine as a session records it.
pub(in crate::cli) fn session_host(name: String, access: &HostAccess) -> SessionHost {
    SessionHost { name, carrier: access.carrier().words().to_vec() }
}

/// Returns the machines of `[hosts]`, as sessions record them. One that cannot be reached, as nothing to sign in with is there, is said
/// and left out.
pub(in crate::cli) fn configured_hosts(setup: &Setup) -> Vec<SessionHost> {
    let ssh = SshArguments::default();
    let host = |name: &String| match ssh.access(setup, name) {
        Ok((name, access)) => Some(session_host(name, &access)),
        Err(error) => {
            tracing::warn!("host {name} left out: {error:#}");
            None
        }
    };
    setup.config.hosts.keys().filter_map(host).collect()
}

/// Returns this machine, by its name in the configuration if it has one, or by the name that the words and it itself have for it.
fn here(symptom: &str, setup: &Setup) -> SessionHost {
    let own = setup.config.hosts.iter().find(|(_, entry)| entry.local).map(|(name, _)| name.clone());
    let spoken = || host_name().filter(|name| names(symptom, name));
    session_host(own.or_else(spoken).unwrap_or_else(|| HERE.to_owned()), &HostAccess::Here)
}

/// Returns what this machine calls itself, without its domain.
fn host_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = text.trim().split('.').next().unwrap_or_default();
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    (!name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)).then(|| name.to_owned())
}

/// Tells whether words are about the machine that somebody sits at.
fn speaks_of_this(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is = |pair: &[&str]| {
        pair.first().is_some_and(|first| THIS.iter().any(|this| this.ends_with(first)))
            && pair.last().is_some_and(|last| MACHINE.contains(last))
    };
    words.contains(&HERE) || words.windows(2).any(is) || words.windows(3).any(is_linux)
}

/// `this linux host`.
fn is_linux(three: &[&str]) -> bool {
    matches!(three, ["this" | "my", "linux", last] if MACHINE.contains(last))
}

/// Tells whether a cloud is configured, or somebody is signed in to one.
pub(in crate::cli) fn knows_cloud(setup: &Setup) -> bool {
    let config = &setup.config;
    let scoped = |scope: &Option<ghost_tools::config::Scope>| {
        scope
            .as_ref()
            .is_some_and(|scope| !scope.subscriptions.is_empty() || !scope.resource_groups.is_empty())
    };
    let is_configured = config.azure != ghost_tools::config::Azure::default()
        || config.cloud != ghost_tools::config::Cloud::default()
        || config.programs.contains_key("az")
        || setup.environment.path("AZURE_CONFIG_DIR").is_some()
        || config.capture.storage_account.is_some()
        || scoped(&config.bot.scope)
        || config.channel.values().any(|channel| scoped(&channel.scope));
    // Whoever carries commands elsewhere, as the lab does, brings a cloud along.
    is_configured || setup.runner.is_some() || is_signed_in(setup)
}

/// Tells whether `az` has an account, by the file in which it keeps them.
fn is_signed_in(setup: &Setup) -> bool {
    let folder = setup.environment.path("HOME").map(|home| home.join(".azure"));
    let profile = folder.and_then(|folder| std::fs::read_to_string(folder.join("azureProfile.json")).ok());
    // It begins with a mark of its encoding.
    let profile = profile.map(|text| text.trim_start_matches('\u{feff}').to_owned()).unwrap_or_default();
    let profile: serde_json::Value = serde_json::from_str(&profile).unwrap_or_default();
    profile.get("subscriptions").and_then(serde_json::Value::as_array).is_some_and(|all| !all.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_meant_where_somebody_says_so() {
        for text in [
            "dns is slow on this host",
            "This Linux server drops packets",
            "localhost: no route",
            "my laptop is slow",
        ] {
            assert!(speaks_of_this(text), "{text}");
        }
        for text in
            ["web-1 cannot reach db-1", "this is slow", "the host db-1 is slow", "this morning a server died"]
        {
            assert!(!speaks_of_this(text), "{text}");
        }
    }
}
