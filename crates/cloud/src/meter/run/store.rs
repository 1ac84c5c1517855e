//! Runs on the disk: documents as they come, baselines, what was measured before.

use std::path::{Path, PathBuf};
use std::{fs, io};

use ghost_base::{SessionId, private_dir, write_private};
use serde_json::Value;

use super::baseline::Baseline;
use super::progress::Run;
use super::sample::put;

/// No document of ours is longer.
const MAX_DOCUMENT_BYTES: u64 = 4 << 20;

/// Why something cannot be kept, or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system does not want to.
    #[error("{path}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A session of this name has measured already.
    #[error("the session {0} has measured already")]
    Taken(SessionId),
}

/// The folder of runs.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// A run that was.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRun {
    pub session: String,
    /// Its result; where there is none, what was measured until it was cut off.
    pub document: Value,
    /// Whether it came to its end.
    pub whole: bool,
}

impl Store {
    /// Opens the folder in a data folder.
    ///
    /// # Errors
    /// Fails where it cannot be made.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        let folder = data.join("meter");
        private_dir(&folder).map_err(|source| StoreError::File { path: folder.clone(), source })?;
        Ok(Self { folder })
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns where a document of a session lies.
    #[must_use]
    pub fn path(&self, session: &SessionId, what: &str) -> PathBuf {
        self.folder.join(format!("{session}_{what}.json"))
    }

    /// Makes sure that no run is written over.
    ///
    /// # Errors
    /// Fails where a session has measured already.
    pub fn is_new(&self, session: &SessionId) -> Result<(), StoreError> {
        if self.path(session, "preflight").exists() {
            return Err(StoreError::Taken(session.clone()));
        }
        Ok(())
    }

    /// Writes what there is of a run; the baseline, where it is one.
    ///
    /// # Errors
    /// Fails where the disk does not take it.
    pub fn save(&self, run: &Run) -> Result<(), StoreError> {
        let session = &run.ask().session;
        for (what, document) in run.documents() {
            self.write(self.path(session, what), &document)?;
        }
        if run.is_baseline()
            && let Some(ends) = &run.ends
        {
            self.write(self.folder.join(run.ask().baseline_name(ends)), &run.result())?;
        }
        Ok(())
    }

    fn write(&self, path: PathBuf, document: &Value) -> Result<(), StoreError> {
        let text = format!("{document:#}\n");
        // What stands there already is not written again.
        if self.read(&path).is_ok_and(|before| before == text) {
            return Ok(());
        }
        write_private(&path, text.as_bytes()).map_err(|source| StoreError::File { path, source })
    }

    /// Reads a document.
    ///
    /// # Errors
    /// Fails where it is not there, or longer than any of ours.
    pub fn read(&self, path: &Path) -> Result<String, StoreError> {
        let failed = |source| StoreError::File { path: path.to_owned(), source };
        let length = fs::metadata(path).map_err(failed)?.len();
        if length > MAX_DOCUMENT_BYTES {
            return Err(failed(io::Error::other("it is too long for a document of a run")));
        }
        fs::read_to_string(path).map_err(failed)
    }

    /// Searches for what a run is to be compared with: a session's result, or the baseline of two addresses; `None` where none lies here.
    ///
    /// # Errors
    /// Fails where there is something that cannot be read.
    pub fn baseline(&self, name: &str) -> Result<Option<Baseline>, StoreError> {
        let path = self.folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let text = self.read(&path)?;
        let odd = |error: super::baseline::BaselineError| StoreError::File {
            path: path.clone(),
            source: io::Error::other(error),
        };
        Baseline::parse(&text).map(Some).map_err(odd)
    }

    /// Returns the baselines that lie here, by the names of their files. One that cannot be read is none.
    #[must_use]
    pub fn baselines(&self) -> Vec<(String, Baseline)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| name.ends_with("_baseline.json"))
            .filter_map(|name| self.baseline(&name).ok().flatten().map(|baseline| (name, baseline)))
            .collect()
    }

    /// Returns the runs that are kept, the newest first.
    ///
    /// # Errors
    /// Fails where the folder cannot be read.
    pub fn history(&self) -> Result<Vec<PastRun>, StoreError> {
        let failed = |source| StoreError::File { path: self.folder.clone(), source };
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Some(session) = name.to_str().and_then(|name| name.strip_suffix("_preflight.json")) else {
                continue;
            };
            let document = |what: &str| {
                let text = self.read(&self.folder.join(format!("{session}_{what}.json"))).ok()?;
                serde_json::from_str::<Value>(&text).ok()
            };
            let Some(preflight) = document("preflight") else { continue };
            let result = document("result");
            let whole = result.is_some();
            let mut document = result.or_else(|| document("raw")).unwrap_or_else(|| preflight.clone());
            put(&mut document, "begun", preflight.get("timestamp_utc").cloned().unwrap_or_default());
            all.push(PastRun { session: session.to_owned(), document, whole });
        }
        let begun = |past: &PastRun| {
            past.document.get("begun").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        all.sort_by_key(|past| std::cmp::Reverse((begun(past), past.session.clone())));
        Ok(all)
    }
}
