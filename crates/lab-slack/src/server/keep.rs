//! What survives a restart: the workspace in one file, the bytes of files beside it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::server::Inner;
use crate::state::{FORMAT, Workspace};
use ghost_base::{private_dir, write_private};

const FILE: &str = "slack.json";
const FOLDER: &str = "slack-files";

/// How long changes are collected before they are written, at least.
const WRITE_DELAY: Duration = Duration::from_millis(250);
/// At most.
const MAX_WRITE_DELAY: Duration = Duration::from_secs(10);

/// Why what was kept cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepError {
    /// It cannot be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It is no workspace.
    #[error("{} is no workspace of this version", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
    },
}

/// A workspace, and the bytes of its files by id.
type SavedWorkspace = (Workspace, HashMap<String, Bytes>);

/// Reads what was kept in a folder, if anything was.
pub(crate) fn read(folder: &Path) -> Result<Option<SavedWorkspace>, KeepError> {
    let path = folder.join(FILE);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(KeepError::Io { path, source }),
    };
    let workspace: Option<Workspace> = serde_json::from_slice(&text).ok();
    let Some(workspace) = workspace.filter(|workspace| workspace.format == FORMAT) else {
        return Err(KeepError::Unreadable { path });
    };
    let mut bytes = HashMap::new();
    for id in workspace.files.keys().filter(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        // A file whose bytes are gone is shown without them.
        if let Ok(content) = fs::read(folder.join(FOLDER).join(id)) {
            bytes.insert(id.clone(), Bytes::from(content));
        }
    }
    Ok(Some((workspace, bytes)))
}

/// Writes the workspace, and the bytes that are not there yet.
pub(crate) fn write(folder: &Path, inner: &Inner) -> Result<(), KeepError> {
    let _alone = inner.writing();
    let files = folder.join(FOLDER);
    private_dir(&files).map_err(|source| KeepError::Io { path: files.clone(), source })?;
    let bytes: Vec<(String, Bytes)> =
        inner.bytes().iter().map(|(id, bytes)| (id.clone(), bytes.clone())).collect();
    for (id, bytes) in bytes {
        let path = files.join(id);
        if !path.exists() {
            write_private(&path, &bytes).map_err(|source| KeepError::Io { path, source })?;
        }
    }
    let text = serde_json::to_vec(&*inner.workspace());
    let path = folder.join(FILE);
    let text = text.map_err(|error| KeepError::Io { path: path.clone(), source: error.into() })?;
    write_private(&path, &text).map_err(|source| KeepError::Io { path, source })?;
    sweep(&files, inner).map_err(|source| KeepError::Io { path: files, source })
}

/// Removes the bytes of files that were deleted.
fn sweep(files: &Path, inner: &Inner) -> io::Result<()> {
    for entry in fs::read_dir(files)? {
        let entry = entry?;
        let name = entry.file_name();
        let plain = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        if plain.is_some_and(|name| !inner.workspace().files.contains_key(name)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Writes after every change, a little later, so that many changes make one write.
///
/// A large workspace takes long to write: the pauses grow with it, so that writing takes a small part of the time.
pub(crate) async fn keep(folder: PathBuf, inner: Arc<Inner>) {
    let mut pause = WRITE_DELAY;
    loop {
        inner.changed.notified().await;
        sleep(pause).await;
        let begun = Instant::now();
        let (to, own) = (folder.clone(), Arc::clone(&inner));
        // A disk that is slow to sync must not hold up who speaks with the server.
        let written = spawn_blocking(move || write(&to, &own)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(error = %error, "workspace not saved: {error}");
        }
        pause = (begun.elapsed() * 10).clamp(WRITE_DELAY, MAX_WRITE_DELAY);
    }
}
