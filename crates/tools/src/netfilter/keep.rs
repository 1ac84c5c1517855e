//! Snapshots: a bundle put away with its digests, and compared with an earlier one.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::command::{code, document};
use super::text::WORDS;
use super::whole;
use crate::config::{Environment, PlaceError, data_dir};
use crate::global::Global;
use crate::input;
use crate::print::{Hinted, line};
use crate::tone::tinted;
use ghost_base::{Clock as _, SessionId, SystemClock, private_dir, write_private};
use ghost_inspect::netfilter::{Bundle, Document, MAX_TEXT_BYTES, Snapshot, compare};

/// What is put away, under which name, and what it is compared with.
#[derive(Debug, Args)]
pub(super) struct StoredSnapshotArgs {
    /// The bundle; `-` is standard input.
    #[arg(value_name = "BUNDLE")]
    file: PathBuf,
    /// The name of the session; else `fw_` and the time.
    #[arg(long, value_name = "S")]
    session_id: Option<SessionId>,
    /// What it is of, such as the name of the host.
    #[arg(long, value_name = "NAME", default_value = "")]
    scope: String,
    /// Say that later snapshots are to be compared with this one.
    #[arg(long)]
    is_baseline: bool,
    /// Compare with the snapshot of this session.
    #[arg(long, value_name = "S")]
    compare_baseline: Option<SessionId>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where anything differs, with 4 where that is undecided.
    #[arg(long)]
    exit_code: bool,
}

/// How a bundle is kept.
pub(super) struct Keep<'a> {
    pub session: Option<&'a SessionId>,
    pub scope: &'a str,
    pub is_baseline: bool,
    pub compare: Option<&'a SessionId>,
    pub json: bool,
    pub exit_code: bool,
}

/// Writes the snapshot; compares it where that is asked for.
pub(super) fn run(kept: &StoredSnapshotArgs, global: &Global) -> anyhow::Result<u8> {
    let keep = Keep {
        session: kept.session_id.as_ref(),
        scope: &kept.scope,
        is_baseline: kept.is_baseline,
        compare: kept.compare_baseline.as_ref(),
        json: kept.json,
        exit_code: kept.exit_code,
    };
    put(&keep, global, || {
        let text = input::text(&kept.file, MAX_TEXT_BYTES)?;
        bundle(&text).map_err(|error| {
            let hint = "give what the script of `ghost netfilter collect` printed, whole";
            Hinted::new(error.context(format!("reading {}", kept.file.display())), hint).into()
        })
    })
}

/// Puts a bundle away and compares it; the baseline is verified before anything is gathered or written.
pub(super) fn put(
    kept: &Keep<'_>,
    global: &Global,
    gather: impl FnOnce() -> anyhow::Result<Bundle>,
) -> anyhow::Result<u8> {
    let environment = Environment::read();
    let folder = data_dir(global.data_dir.as_deref(), &environment)
        .map_err(|error: PlaceError| Hinted::new(error, "name a folder with --data-dir"))?
        .join("netfilter");
    let baseline = kept.compare.map(|session| baseline(&folder, session)).transpose()?;
    if let Some(path) =
        kept.session.map(|session| place(&folder, session.as_str())).filter(|path| path.exists())
    {
        return Err(there(&path));
    }
    let bundle = gather()?;
    let now = SystemClock.now().to_string();
    let who = ["SUDO_USER", "USER", "LOGNAME"].iter().find_map(|name| environment.text(name));
    let session = match kept.session {
        Some(session) => session.to_string(),
        None => by_clock(&folder, &stamp(&now)),
    };
    let who = who.unwrap_or("unknown");
    let snapshot = Snapshot::take(bundle, &session, kept.scope, &now, who, kept.is_baseline)
        .map_err(|error| Hinted::new(error, "see what each source says: `ghost netfilter parse`"))?;
    let path = place(&folder, &session);
    if path.exists() {
        return Err(there(&path));
    }
    private_dir(&folder)?;
    let content = serde_json::to_string(&snapshot)?;
    write_private(&path, content.as_bytes())?;
    let output = format!("{}\n  in {}", whole::snapshot(&snapshot.about()), path.display());
    let Some(before) = baseline else {
        let about = serde_json::json!({ "path": path, "snapshot": snapshot.about() });
        line(&if kept.json { about.to_string() } else { tinted(&output, WORDS) })?;
        return Ok(0);
    };
    let after = document(&path)?;
    let found = compare(&before, &after).context("comparing with the baseline")?;
    line(&if kept.json {
        serde_json::to_string(&found)?
    } else {
        tinted(&format!("{}\n{output}", super::text::comparison(&found)), WORDS)
    })?;
    Ok(code(kept.exit_code, found.found.status()))
}

/// Names a session by the second in which it is taken; a second one in it is counted.
fn by_clock(folder: &Path, stamp: &str) -> String {
    let counted = (2_u32..).map(|number| format!("fw_{stamp}_{number}"));
    let mut names = std::iter::once(format!("fw_{stamp}")).chain(counted);
    names.find(|name| !place(folder, name).exists()).unwrap_or_default()
}

fn there(path: &Path) -> anyhow::Error {
    let error = anyhow::anyhow!("there is such a snapshot already: {}", path.display());
    Hinted::new(error, "name another session with --session-id").into()
}

fn place(folder: &Path, session: &str) -> PathBuf {
    folder.join(format!("{session}_snapshot.json"))
}

fn baseline(folder: &Path, session: &SessionId) -> anyhow::Result<Document> {
    let path = place(folder, session.as_str());
    if !path.exists() {
        let error = anyhow::anyhow!("there is no snapshot of {session}: {}", path.display());
        return Err(
            Hinted::new(error, "take one first: `ghost netfilter snapshot BUNDLE --session-id S`").into()
        );
    }
    document(&path)
}

/// Reads a bundle, or takes it out of an older snapshot whose digest fits.
fn bundle(text: &str) -> anyhow::Result<Bundle> {
    let value: serde_json::Value = serde_json::from_str(text)?;
    if value.get("bundle").is_some() {
        return Ok(Snapshot::read(value)?.bundle);
    }
    Ok(Bundle::read(&value)?)
}

/// Writes a moment as it stands in a name: `20260131_235959`.
fn stamp(now: &str) -> String {
    let digits: String = now.chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, time) = digits.split_at_checked(8).unwrap_or((&digits, ""));
    format!("{day}_{time}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_in_one_second_have_names_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["fw_20250602_093100", "fw_20250602_093100_2", "fw_20250602_093100_3"] {
            assert_eq!(by_clock(folder.path(), "20250602_093100"), name);
            std::fs::write(place(folder.path(), name), "{}").unwrap();
        }
    }
}
