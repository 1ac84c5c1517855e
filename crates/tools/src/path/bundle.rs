//! Reading a bundle: one JSON file, or a folder.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::input::text;
use crate::print::Hinted;
use ghost_inspect::path::{Bundle, Reading};

/// No document of a bundle is larger.
const MAX_DOCUMENT_BYTES: usize = 64 << 20;

/// No bundle has more documents.
const MAX_DOCUMENTS: usize = 20_000;

/// How deep the folders of a bundle are: `guests/NAME/filters/SOURCE`.
const MAX_DEPTH: usize = 4;

const HINT: &str = "a bundle is a JSON file, or a folder with cloud/, nics/NAME/ and guests/NAME/ (docs/tools/path.md lists the documents)";

/// Reads a bundle.
pub fn read(path: &Path) -> anyhow::Result<Bundle> {
    let read =
        if path.is_dir() { folder(path) } else { Ok(Bundle::parse(&text(path, MAX_DOCUMENT_BYTES)?)?) };
    read.with_context(|| format!("reading the bundle {}", path.display()))
        .map_err(|error| Hinted::new(error, HINT).into())
}

fn folder(top: &Path) -> anyhow::Result<Bundle> {
    let mut found = Vec::new();
    collect(top, "", 1, &mut found)?;
    found.sort();
    let mut readings = Vec::new();
    for name in &found {
        readings.push((name.as_str(), Reading::Text(text(&top.join(name), MAX_DOCUMENT_BYTES)?)));
    }
    Ok(Bundle::from_files(readings)?)
}

/// Lists the files below a folder by their paths from the top. Links are not followed.
fn collect(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<String>) -> anyhow::Result<()> {
    anyhow::ensure!(depth <= MAX_DEPTH, "{prefix} lies deeper than a bundle goes");
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().with_context(|| format!("{} is no text", name.display()))?;
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), &path, depth + 1, found)?;
        } else {
            anyhow::ensure!(kind.is_file(), "{path} is neither a file nor a folder");
            anyhow::ensure!(found.len() < MAX_DOCUMENTS, "there are more than {MAX_DOCUMENTS} documents");
            found.push(path);
        }
    }
    Ok(())
}
