//! Investigations of a lab in this process: how they reach it, and what they found.

use std::path::Path;

use ghost_investigate::event::SessionCluster;
use ghost_investigate::state::State;
use ghost_lab::case::{Case, Pair};
use ghost_lab::control::Lab;
use ghost_lab::runner::{CAPTURES_ACCOUNT, CAPTURES_CONTAINER};
use ghost_tools::config::Config;

/// The groups that an investigation may look at.
pub(in crate::cli) const GROUPS: [&str; 3] = ["nw-forensics-rg", "NetworkWatcherRG", "hub-rg"];

/// How the machines of the lab are reached: no file is read, because nothing of ssh runs.
const KEY: &str = "/ghost-lab/key";
const KNOWN_HOSTS: &str = "/ghost-lab/known_hosts";

/// Writes into a configuration where captures go and how guests are reached; what is fetched lies in `data`.
pub(in crate::cli) fn reach(config: &mut Config, lab: &Lab, data: &Path) {
    config.capture.folder = data.join("captures");
    config.capture.storage_account = Some(CAPTURES_ACCOUNT.to_owned());
    config.capture.storage_container = CAPTURES_CONTAINER.to_owned();
    config.ssh.key = Some(KEY.into());
    config.ssh.known_hosts = Some(KNOWN_HOSTS.into());
    for machine in lab.cloud().fabric().machines {
        let address = machine.nics.iter().flat_map(|nic| &nic.addresses).next();
        if let Some((address, _)) = address {
            config.ssh.hosts.insert(machine.name, address.to_string());
        }
    }
}

/// Returns the clusters whose inside an investigation may read: a context has the name of its cluster.
pub(in crate::cli) fn clusters(case: &Case) -> Vec<SessionCluster> {
    let named = case.clusters.iter().map(|cluster| cluster.name.clone());
    named.map(|name| SessionCluster { context: name.clone(), name, nodes: Vec::new() }).collect()
}

/// Returns what an investigation found.
pub(in crate::cli) fn found(state: &State) -> Vec<Pair> {
    let mut found: Vec<Pair> = state
        .accepted
        .iter()
        .map(|accepted| Pair::new(&accepted.finding.code, accepted.finding.object.clone()))
        .collect();
    found.sort();
    found.dedup();
    found
}
