//! What makes an answer about a cloud network more certain: service tags, and who owns which address.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::input;
use super::print::Hinted;
use ghost_inspect::net::{Inventory, Tags};

/// A document of a network interface has kilobytes, the file of all service tags a few megabytes.
pub const MAX_BYTES: usize = 64 << 20;

/// What makes answers more certain.
#[derive(Debug, Args)]
pub struct Knowledge {
    /// The service tags: what `az network list-service-tags -l REGION -o json` prints.
    #[arg(long, value_name = "FILE")]
    tags: Option<PathBuf>,
    /// The network interfaces: what `az network nic list -o json` prints.
    #[arg(long, value_name = "FILE")]
    inventory: Option<PathBuf>,
}

impl Knowledge {
    /// Reads the service tags, where a file is named.
    pub fn tags(&self) -> anyhow::Result<Option<Tags>> {
        let hint = "save what `az network list-service-tags -l REGION -o json` prints";
        load(self.tags.as_deref(), hint, |text| Ok(Tags::parse(text)?))
    }

    /// Reads the inventory, where a file is named.
    pub fn inventory(&self) -> anyhow::Result<Option<Inventory>> {
        let hint = "save what `az network nic list -o json` prints";
        load(self.inventory.as_deref(), hint, |text| Ok(Inventory::parse(text)?))
    }
}

/// Reads a document and makes something of it; errors carry its name.
pub fn parsed<T>(
    path: &Path,
    hint: &str,
    parse: impl FnOnce(&str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let text = input::text(path, MAX_BYTES)?;
    let named = parse(&text).with_context(|| format!("reading {}", path.display()));
    named.map_err(|error| Hinted::new(error, hint).into())
}

/// Reads a document that was asked for, as [`parsed`] reads a file.
pub fn answered<T>(
    text: &str,
    what: &str,
    parse: impl FnOnce(&str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    parse(text).with_context(|| format!("reading {what}"))
}

fn load<T>(
    path: Option<&Path>,
    hint: &str,
    parse: impl FnOnce(&str) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    path.map(|path| parsed(path, hint, parse)).transpose()
}
