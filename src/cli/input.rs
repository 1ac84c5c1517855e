//! Documents that a subcommand is given: files, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::print::Hinted;
use crate::net::{Inventory, Tags};

/// A document of a network interface has kilobytes, the file of all service tags a few megabytes.
const LARGEST: u64 = 64 << 20;

/// What makes answers more certain.
#[derive(Debug, Args)]
pub(super) struct Knowledge {
    /// The service tags: what `az network list-service-tags -l REGION -o json` prints.
    #[arg(long, value_name = "FILE")]
    tags: Option<PathBuf>,
    /// The network interfaces: what `az network nic list -o json` prints.
    #[arg(long, value_name = "FILE")]
    inventory: Option<PathBuf>,
}

impl Knowledge {
    /// Reads the service tags, where a file is named.
    pub(super) fn tags(&self) -> anyhow::Result<Option<Tags>> {
        let hint = "save what `az network list-service-tags -l REGION -o json` prints";
        load(self.tags.as_deref(), hint, |text| Ok(Tags::parse(text)?))
    }

    /// Reads the inventory, where a file is named.
    pub(super) fn inventory(&self) -> anyhow::Result<Option<Inventory>> {
        let hint = "save what `az network nic list -o json` prints";
        load(self.inventory.as_deref(), hint, |text| Ok(Inventory::parse(text)?))
    }
}

/// Reads a document and makes something of it; what is wrong with it is told with its name.
pub(super) fn parsed<T>(
    path: &Path,
    hint: &str,
    parse: impl FnOnce(&str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let text = read(path)?;
    let named = parse(&text).with_context(|| format!("reading {}", path.display()));
    named.map_err(|error| Hinted::new(error, hint).into())
}

fn load<T>(
    path: Option<&Path>,
    hint: &str,
    parse: impl FnOnce(&str) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    path.map(|path| parsed(path, hint, parse)).transpose()
}

/// Reads a text file, or standard input where the name is `-`.
fn read(path: &Path) -> anyhow::Result<String> {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = if path == Path::new("-") {
        if io::stdin().is_terminal() {
            let error = anyhow::anyhow!("nothing is piped into standard input");
            return Err(Hinted::new(error, "`az … -o json | ghost …`, or name a file").into());
        }
        bounded(io::stdin().lock())
    } else {
        File::open(path).and_then(bounded)
    };
    let bytes = bytes.with_context(|| format!("reading {name}"))?;
    let Some(bytes) = bytes else {
        let error = anyhow::anyhow!("{name} is larger than {} MiB", LARGEST >> 20);
        return Err(Hinted::new(error, "name the document of one network interface").into());
    };
    String::from_utf8(bytes).map_err(|_| {
        let error = anyhow::anyhow!("{name} is not UTF-8 text");
        Hinted::new(error, "PowerShell: pipe through `Out-File -Encoding utf8`").into()
    })
}

/// Reads everything, or nothing where there is too much.
fn bounded(source: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(u64::try_from(bytes.len()).is_ok_and(|length| length <= LARGEST).then_some(bytes))
}

/// Returns a text without what would steer a terminal: a document may be anybody's.
pub(super) fn harmless(text: &str) -> String {
    let steers = |char: char| {
        (char.is_control() && char != '\n')
            || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|char| if steers(char) { '\u{fffd}' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_does_not_steer_the_terminal() {
        assert_eq!(harmless("a\x1b[2Jb\u{202e}c\nd"), "a\u{fffd}[2Jb\u{fffd}c\nd");
    }

    #[test]
    fn an_endless_document_is_refused_in_bounded_memory() {
        assert!(bounded(io::repeat(b'[')).unwrap().is_none());
        assert_eq!(bounded(&b"[]"[..]).unwrap().unwrap(), b"[]");
    }
}
