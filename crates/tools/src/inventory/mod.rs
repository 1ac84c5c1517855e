//! `--inventory`: machines from a file that somebody keeps anyway.
//!
//! Goes in: hosts of an ssh configuration, an inventory of Ansible (INI or YAML), or a table (CSV). Comes out: names, each with how it is
//! reached. Never: a program that the file names, a password, a machine that it does not name.

mod ansible;
mod read;
mod ssh_config;
mod table;
mod variables;
mod yaml;

pub use read::read;

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::HostEntry;
use crate::setup::Setup;

/// So many machines are read from a file.
const MAX_ENTRIES: usize = 4_096;

/// Machines by name.
pub type Entries = BTreeMap<String, HostEntry>;

/// Returns the machines of an inventory; without one those of the configuration.
pub fn entries(inventory: Option<&Path>, setup: &Setup) -> anyhow::Result<Entries> {
    match inventory {
        Some(path) => read(path, setup.environment.path("HOME").as_deref()),
        None => Ok(setup.config.hosts.clone()),
    }
}
