//! What is kept of a capture in a folder: the account, the report, the pictures.

use std::path::Path;

use super::out::Files;
use super::source::name;
use ghost_pcap::Summary;

/// Writes the account, the report and the pictures into a folder.
pub(super) fn keep(
    folder: &Path,
    file: &Path,
    summary: &Summary,
    (json, text): (&str, &str),
) -> anyhow::Result<()> {
    let mut files = Files::begin(folder, file, json)?;
    files.write("forensic_report.md", text.as_bytes())?;
    draw(&mut files, summary, &name(file))?;
    files.tell(file);
    Ok(())
}

#[cfg(feature = "plot")]
fn draw(files: &mut Files, summary: &Summary, name: &str) -> anyhow::Result<()> {
    let pictures = ghost_pcap::pictures(summary, name)?;
    for kind in ghost_pcap::PICTURES {
        match pictures.iter().find(|picture| picture.kind == kind) {
            Some(picture) => files.write(&format!("{kind}.png"), &picture.png)?,
            None => files.without(&format!("{kind}.png")),
        }
    }
    Ok(())
}

#[cfg(not(feature = "plot"))]
fn draw(_files: &mut Files, _summary: &Summary, _name: &str) -> anyhow::Result<()> {
    Ok(())
}
