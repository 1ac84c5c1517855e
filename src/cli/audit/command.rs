//! The subcommands of `ghost audit`.

use std::fs::File;
use std::io::{self, BufReader, Seek as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use super::text;
use ghost_shell::audit::{self, Verification};
use ghost_tools::global::Global;

/// More than this is not read in the time that a call may take; it is room for half a million records.
const MAX_AUDIT_BYTES: u64 = 256 << 20;

/// The answer is bad news.
const BAD_NEWS: u8 = 3;

/// The arguments of `ghost audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost audit verify ~/.local/state/ghost/audit/ghost-7k2f.jsonl\n  ghost audit verify audit.jsonl --head 3f1c… --json\n  ghost audit show audit.jsonl\n  ghost audit journal --config /etc/ghost/ghost.toml"
)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says whether an audit file is whole; exit code 3 where it is not, asked for or not. In its data folder the head that
    /// `heads.log` noted last has to be in it.
    Verify {
        /// The audit file of a session.
        file: PathBuf,
        /// The head that the session recorded; makes a missing tail visible.
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Tells what people did to the bot as a whole, freezes and the like, as all its replicas recorded it, and verifies it.
    Journal {
        /// Print the lines as they are recorded, one JSON document a line.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where the journal is not whole.
        #[arg(long)]
        exit_code: bool,
    },
    /// Tells what an audit file holds, in the order of writing.
    Show {
        /// The audit file of a session.
        file: PathBuf,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Verify { file, head, json } => verify(file, head.as_deref(), *json),
        Sub::Journal { json, exit_code } => super::journal::run(global, *json, *exit_code),
        Sub::Show { file, json } => show(file, *json).map(|()| 0),
    }
}

/// Says whether `file` is whole, and whether it holds `head`; returns the exit code.
pub(super) fn verify(file: &Path, head: Option<&str>, json: bool) -> anyhow::Result<u8> {
    let found = verified(file, head)?;
    written(if json { print_json(&found, io::stdout().lock()) } else { print(&found, io::stdout().lock()) })?;
    Ok(if found.ok { 0 } else { BAD_NEWS })
}

/// Verifies `file`. Without a head, the last one counts that was noted beside the file in its data folder.
pub(in crate::cli) fn verified(file: &Path, head: Option<&str>) -> anyhow::Result<Verification> {
    let noted = if head.is_none() { audit::noted_head(file).context(reading(file))? } else { None };
    let mut reader = open(file, head.is_some() || noted.is_some())?;
    let found = match noted {
        Some(noted) => noted.verify(&mut reader),
        None => audit::verify(&mut reader, head),
    };
    found.context(reading(file))
}

/// Tells what `file` holds, record by record in the order of writing, and whether it is whole.
pub(super) fn show(file: &Path, json: bool) -> anyhow::Result<()> {
    let mut reader = open(file, false)?;
    let found = audit::verify(&mut reader, None).context(reading(file))?;
    reader.rewind().context(reading(file))?;
    let out = io::BufWriter::new(io::stdout().lock());
    written(if json { text::write_json(&found, reader, out) } else { text::write(&found, reader, out) })
}

/// Opens an audit file of a size that can be read.
pub(super) fn open(path: &Path, may_be_empty: bool) -> anyhow::Result<BufReader<File>> {
    let reader = audit::for_reading(path)?;
    let length = reader.get_ref().metadata().context(reading(path))?.len();
    if length > MAX_AUDIT_BYTES {
        bail!("{} has {length} bytes, and an audit file is read up to {MAX_AUDIT_BYTES}", path.display());
    }
    // With a head an empty file is an answer: every record is missing.
    if length == 0 && !may_be_empty {
        bail!("{} is empty: no record was ever written to it, or all were removed", path.display());
    }
    Ok(reader)
}

fn reading(path: &Path) -> String {
    format!("reading {}", path.display())
}

pub(super) fn print_json(found: &Verification, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut out, found)?;
    writeln!(out)
}

pub(super) fn print(found: &Verification, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "{}", summary(found))?;
    if let Some(head) = &found.head {
        writeln!(out, "head {head}")?;
    }
    Ok(())
}

/// Says in one line what `verify` found.
pub(super) fn summary(found: &Verification) -> String {
    let records = count(found.records, "record");
    match (&found.reason, found.after_head) {
        (Some(reason), _) if found.first_bad.is_some() => {
            format!("NOT verified: {reason} (good before it: {records})")
        }
        (Some(reason), _) => format!("NOT verified: {reason} (good: {records})"),
        (None, Some(0)) => format!("verified: {records}, and the given head is the last"),
        (None, Some(later)) => {
            format!("verified: {records}, {} after the given head", count(later, "record"))
        }
        (None, None) => format!("verified: {records}"),
    }
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Whoever pipes us into `head` has read enough.
fn written(result: io::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("writing the answer"),
    }
}
