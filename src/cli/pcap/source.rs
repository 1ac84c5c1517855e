//! Captures to read, and files to write.

use std::fs::File;
use std::path::Path;

use anyhow::Context as _;

use ghost_base::{private_dir, write_private};
use ghost_pcap::Error;
use ghost_tools::print::Hinted;

/// Says whether standard input is meant.
pub(super) fn piped(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns the name of a capture for people.
pub(super) fn name(file: &Path) -> String {
    if piped(file) {
        return "standard input".to_owned();
    }
    file.file_name().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Returns the name that files about a capture begin with.
pub(super) fn stem(file: &Path) -> String {
    if piped(file) {
        return "stdin".to_owned();
    }
    let name = name(file);
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    stem.into_owned()
}

/// Opens a capture.
pub(in crate::cli) fn opened(file: &Path) -> anyhow::Result<File> {
    let shown = file.display().to_string();
    let opened = File::open(file).with_context(|| format!("opening {shown}"))?;
    let kind = opened.metadata().with_context(|| format!("looking at {shown}"))?;
    if kind.is_dir() {
        let error = anyhow::anyhow!("{shown} is a folder");
        return Err(Hinted::new(error, "name a capture in it").into());
    }
    Ok(opened)
}

/// Writes a file, whole or not at all, that only its owner may read.
pub(super) fn written(folder: &Path, name: &str, content: &str) -> anyhow::Result<()> {
    private_dir(folder).with_context(|| format!("making {}", folder.display()))?;
    let path = folder.join(name);
    write_private(&path, content.as_bytes()).with_context(|| format!("writing {}", path.display()))
}

/// Turns a refusal into an error with a hint.
pub(in crate::cli) fn refused(error: Error, name: &str) -> anyhow::Error {
    let hint = match &error {
        Error::Empty => "wait until something was captured; tcpdump writes its header first",
        Error::NotACapture => {
            "give what `tcpdump -w`, dumpcap or Network Observer wrote, packed with gzip or not"
        }
        Error::HeaderCut => "copy the file once more: not even its header is whole",
        Error::StillPacked => "unpack it first: what grows, or is packed twice, is not unpacked here",
        Error::Packed(_) => "copy the file once more, or unpack it by hand",
        Error::Read(_) => "see whether the file can be read at all",
    };
    let error = anyhow::Error::new(error).context(format!("{name} is no capture that can be analyzed"));
    Hinted::new(error, hint).into()
}
