//! Deleting a session: its content goes, its chain of digests stays, its audit stays.
//!
//! First the names of its texts are noted, then the events become a skeleton, then the texts go, then the note. Cut off
//! anywhere, the same call does the rest.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ghost_base::{Digest, SessionId, private_dir, write_private};
use ghost_investigate::event;
use ghost_store::{Lease, Store, StoreError};

/// How long nobody else may take a session while it is deleted.
const LEASE: Duration = Duration::from_secs(120);
/// How many names are asked for at once.
const PAGE: usize = 500;

/// Why a session cannot be deleted.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    /// There is none of that name.
    #[error("there is no session {session}")]
    Missing { session: SessionId },
    /// Somebody drives it.
    #[error("somebody drives the session {session}")]
    Driven { session: SessionId },
    /// The store refuses.
    #[error("the store refused")]
    Store(#[from] StoreError),
    /// A line of it is none, so that no skeleton can be made of it.
    #[error("the session cannot be read")]
    Line(#[from] serde_json::Error),
    /// A file cannot be read, written or removed.
    #[error("{what} {}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What a deletion did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    /// How many events are left as digests.
    pub events: usize,
    /// How many texts were removed.
    pub evidence: usize,
    /// The audit of the session, which stays.
    pub audit: Option<PathBuf>,
}

/// Deletes the content of a session. `data` is the data folder; with `force` also from under the owner who drives it.
///
/// # Errors
/// Fails where there is no such session, or somebody drives it. Asking again does what is left to do.
pub async fn delete(
    store: &dyn Store,
    session: &SessionId,
    data: &Path,
    force: bool,
) -> Result<Erased, EraseError> {
    let owner = format!("delete-{}", std::process::id());
    if store.read(session, 0).await?.is_empty() && store.inbox(session).await?.is_empty() {
        return Err(EraseError::Missing { session: session.clone() });
    }
    let lease = store.acquire(session, &owner, LEASE).await?;
    if lease.is_none() && !force {
        return Err(EraseError::Driven { session: session.clone() });
    }
    match skeleton(store, session, data).await {
        Ok(events) => {
            let evidence = finish(store, session, data).await?;
            let audit = data.join("audit").join(format!("{session}.jsonl"));
            Ok(Erased { events, evidence, audit: audit.exists().then_some(audit) })
        }
        Err(error) => {
            if let Some(lease) = lease {
                release(store, &lease).await?;
            }
            Err(error)
        }
    }
}

async fn release(store: &dyn Store, lease: &Lease) -> Result<(), EraseError> {
    match store.release(lease).await {
        Ok(()) | Err(StoreError::Fenced) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Notes which texts the events name, then leaves of the events their chain.
async fn skeleton(store: &dyn Store, session: &SessionId, data: &Path) -> Result<usize, EraseError> {
    let lines = store.read(session, 0).await?;
    let bare = event::erase(lines.iter().map(String::as_str))?;
    let note = note(session, data);
    if bare != lines {
        let folder = data.join("erasing");
        private_dir(&folder).map_err(trouble("making", &folder))?;
        // What an earlier call noted counts as well: its texts may still be there.
        let mut digests = noted(&note)?;
        digests.extend(lines.iter().flat_map(|line| in_text(line)));
        let text: String = digests.iter().map(|digest| format!("{digest}\n")).collect();
        write_private(&note, text.as_bytes()).map_err(trouble("writing", &note))?;
    }
    store.erase(session, &bare).await?;
    Ok(bare.len())
}

/// Removes the texts that a deleted session named and no other one does; returns how many there were.
pub(super) async fn finish(store: &dyn Store, session: &SessionId, data: &Path) -> Result<usize, EraseError> {
    let note = note(session, data);
    let mut digests = noted(&note)?;
    if !digests.is_empty() {
        let folder = data.join("evidence");
        // Most digests in an event are not those of texts.
        digests.retain(|digest| folder.join(format!("{digest}.txt")).exists());
        spare(store, session, data, &mut digests).await?;
        for digest in &digests {
            remove(&folder.join(format!("{digest}.txt")))?;
        }
    }
    remove(&note)?;
    Ok(digests.len())
}

/// Returns the sessions whose deletion was cut off.
pub(super) fn unfinished(data: &Path) -> Result<Vec<SessionId>, EraseError> {
    let folder = data.join("erasing");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(trouble("reading", &folder)(error)),
    };
    let name = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    Ok(entries.filter_map(name).collect())
}

/// Returns every session of the store with its lines, one after the other.
pub(super) async fn each(
    store: &dyn Store,
    mut look: impl FnMut(&SessionId, &[String]),
) -> Result<(), StoreError> {
    let mut after: Option<SessionId> = None;
    loop {
        let names = store.list(after.as_ref(), PAGE).await?;
        for name in &names {
            look(name, &store.read(name, 0).await?);
        }
        match names.last() {
            Some(last) if names.len() == PAGE => after = Some(last.clone()),
            Some(_) | None => return Ok(()),
        }
    }
}

/// Takes those texts out that others name: sessions of the store, and commands that were run without one.
async fn spare(
    store: &dyn Store,
    session: &SessionId,
    data: &Path,
    digests: &mut BTreeSet<Digest>,
) -> Result<(), EraseError> {
    let mut sessions = BTreeSet::new();
    // The text of a line is searched, not its meaning: a line of a later version counts as well.
    let take = |name: &SessionId, lines: &[String]| {
        sessions.insert(name.to_string());
        if name != session && !digests.is_empty() {
            lines.iter().flat_map(|line| in_text(line)).for_each(|named| {
                digests.remove(&named);
            });
        }
    };
    each(store, take).await?;
    sessions.insert(session.to_string());
    let folder = data.join("audit");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(trouble("reading", &folder)(error)),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if digests.is_empty() || sessions.contains(&stem) || !path.is_file() {
            continue;
        }
        let mut reader = BufReader::new(fs::File::open(&path).map_err(trouble("reading", &path))?);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(trouble("reading", &path))? > 0 {
            in_text(&String::from_utf8_lossy(&line)).for_each(|named| {
                digests.remove(&named);
            });
            line.clear();
        }
    }
    Ok(())
}

/// Returns everything in a text that is written as a digest.
pub(super) fn in_text(text: &str) -> impl Iterator<Item = Digest> {
    text.split(|char: char| !char.is_ascii_hexdigit()).filter_map(|run| run.parse().ok())
}

fn note(session: &SessionId, data: &Path) -> PathBuf {
    data.join("erasing").join(session.as_str())
}

fn noted(path: &Path) -> Result<BTreeSet<Digest>, EraseError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(in_text(&text).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(trouble("reading", path)(error)),
    }
}

pub(super) fn remove(path: &Path) -> Result<(), EraseError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(trouble("removing", path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(super) fn trouble(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EraseError {
    let path = path.to_owned();
    move |source| EraseError::Io { what, path, source }
}
