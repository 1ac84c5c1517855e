//! `ghost pcap analyze`.

use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::out::Files;
use super::source::{name, opened, piped, refused};
use crate::cli::harmless::harmless;
use crate::cli::print::{Hinted, line};
use crate::pcap::{Analyzer, Digested, Focus, Label, Scope, Severity, Summary, frames, markdown};

const BAD_NEWS: u8 = 3;

/// The arguments of `ghost pcap analyze`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The capture; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Print all that is known rather than the most important.
    #[arg(long)]
    full: bool,
    /// Narrow lists to an address, or to one of its ports; counts and findings stay those of the whole capture.
    #[arg(long, value_name = "IP[:PORT]")]
    focus: Option<Focus>,
    /// List the frames of a count: one number a line, or `frames` in the document.
    #[arg(long, value_name = "LABEL")]
    frames: Option<Label>,
    /// Print the SHA-256 digest of the file.
    #[arg(long)]
    digest: bool,
    /// Also write the account, the report and the pictures into a folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with 3 where a finding is critical.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let scope = Scope {
        full: arguments.full,
        frames: arguments.frames,
        focus: arguments.focus,
        pictures: arguments.out.is_some(),
    };
    let summary = analyzed(&arguments.file, scope, arguments.digest)?;
    let json = serde_json::to_string(&summary)?;
    let text = || harmless(&markdown(&summary, &name(&arguments.file)));
    if let Some(folder) = &arguments.out {
        write(folder, &arguments.file, &summary, (&json, &text()))?;
    }
    let listed = summary.frames.as_ref().and_then(|frames| frames.values().next());
    match (arguments.json, listed) {
        (true, _) => line(&json)?,
        (false, Some(listed)) => {
            for number in listed {
                line(&number.to_string())?;
            }
        }
        (false, None) => line(text().trim_end())?,
    }
    let critical = summary.findings.iter().any(|finding| finding.severity == Severity::Critical);
    Ok(if arguments.exit_code && critical { BAD_NEWS } else { 0 })
}

/// Writes the account, the report and the pictures into a folder.
fn write(folder: &Path, file: &Path, summary: &Summary, (json, text): (&str, &str)) -> anyhow::Result<()> {
    let mut files = Files::begin(folder, file, json)?;
    files.write("forensic_report.md", text.as_bytes())?;
    draw(&mut files, summary, &name(file))?;
    files.tell(file);
    Ok(())
}

#[cfg(feature = "plot")]
fn draw(files: &mut Files, summary: &Summary, name: &str) -> anyhow::Result<()> {
    let pictures = crate::pcap::pictures(summary, name)?;
    for kind in crate::pcap::PICTURES {
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

fn analyzed(file: &Path, scope: Scope, digest: bool) -> anyhow::Result<Summary> {
    if piped(file) {
        if io::stdin().is_terminal() {
            let error = anyhow::anyhow!("nothing is piped into standard input");
            return Err(Hinted::new(error, "pipe a capture in, or name a file").into());
        }
        return passed(io::stdin().lock(), scope, digest, "standard input");
    }
    passed(opened(file)?, scope, digest, &file.display().to_string())
}

fn passed(source: impl Read, scope: Scope, digest: bool, name: &str) -> anyhow::Result<Summary> {
    let mut analyzer = Analyzer::new(scope);
    let mut each = |frame: &crate::pcap::Frame<'_>| {
        analyzer.feed(frame);
    };
    let mut sum = None;
    let ending = if digest {
        let mut digested = Digested::new(source);
        let ending = frames(&mut digested, &mut each);
        sum = Some(digested.finish().with_context(|| format!("digesting {name}"))?);
        ending
    } else {
        frames(source, &mut each)
    };
    let ending = ending.map_err(|error| refused(error, name))?;
    let mut summary = analyzer.finish(&ending);
    summary.file.sha256 = sum;
    Ok(summary)
}
