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

pub use read::{entries, read};

use std::collections::BTreeMap;

use crate::config::HostEntry;

/// So many machines are read from a file.
const MAX_ENTRIES: usize = 4_096;

/// Machines by name.
pub type Entries = BTreeMap<String, HostEntry>;
