//! What was gathered, as a file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::input::text;
use crate::print::{Hinted, harmless};
use ghost_inspect::host::{Gathered, Host};

/// The form of the file.
const FORMAT: u8 = 1;
/// No file is larger: 50 machines with long tables.
const MAX_BYTES: usize = 256 << 20;

/// Machines as they were gathered at a time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    format: u8,
    /// When.
    pub taken: String,
    /// By the names of the machines.
    pub hosts: BTreeMap<String, Gathered>,
}

impl Snapshot {
    /// Begins one without machines.
    pub(super) fn new(taken: String) -> Self {
        Self { format: FORMAT, taken, hosts: BTreeMap::new() }
    }

    /// Reads one.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let read = || -> anyhow::Result<Self> {
            let snapshot: Self = serde_json::from_str(&text(path, MAX_BYTES)?)?;
            anyhow::ensure!(snapshot.format == FORMAT, "its format is {}, not {FORMAT}", snapshot.format);
            anyhow::ensure!(!snapshot.hosts.is_empty(), "it holds no machine");
            Ok(snapshot)
        };
        read()
            .with_context(|| format!("reading the snapshot {}", path.display()))
            .map_err(|error| Hinted::new(error, "`ghost host --save FILE` writes one").into())
    }

    /// Takes the machines of another one.
    pub(super) fn add(&mut self, other: Self) -> anyhow::Result<()> {
        for (name, gathered) in other.hosts {
            if self.hosts.insert(name.clone(), gathered).is_some() {
                let error = anyhow::anyhow!("{name} is there twice");
                return Err(Hinted::new(error, "name the machine with --as where it is gathered").into());
            }
        }
        Ok(())
    }

    /// Writes it.
    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(self)?;
        ghost_base::write_private(path, text.as_bytes())
            .with_context(|| format!("writing {}", path.display()))
    }

    /// Keeps each machine by itself in a folder, in the place of what was kept of it before.
    pub(super) fn keep(&self, folder: &Path) -> anyhow::Result<()> {
        ghost_base::private_dir(folder).with_context(|| format!("making {}", folder.display()))?;
        // All names are looked at first: either every machine is kept, or none.
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if let Some(name) = self.hosts.keys().find(|name| name.starts_with('.') || !name.bytes().all(fits)) {
            let error =
                anyhow::anyhow!("{} cannot be the name of a file, so nothing is kept", harmless(name));
            let hint = "--as names this machine; [hosts] or an inventory gives another one a name of letters, digits, `.`, `_` and `-`";
            return Err(Hinted::new(error, hint).into());
        }
        for (name, gathered) in &self.hosts {
            let hosts = BTreeMap::from([(name.clone(), gathered.clone())]);
            Self { format: self.format, taken: self.taken.clone(), hosts }
                .write(&folder.join(format!("{name}.json")))?;
        }
        Ok(())
    }

    /// Reads the machines from what was gathered.
    pub(super) fn machines(&self) -> Vec<Host> {
        self.hosts.iter().map(|(name, gathered)| Host::read(name, gathered)).collect()
    }
}
