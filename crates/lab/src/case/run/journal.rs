//! What is about to be done, and what is there, on the disk.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::case::plan::PlanStep;
use ghost_base::{private_dir, write_private};

/// The largest file that can be a journal: a case, and some names.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The file.
#[derive(Debug, Clone)]
pub(super) struct Journal(PathBuf);

/// What it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Whether all steps are done.
    pub(super) done: bool,
    /// Which phase is there, from 1.
    pub(super) phase: usize,
    /// When it began, by the lab's clock.
    pub(super) at: String,
    /// The case, as it was written.
    pub(super) case: String,
    /// The files that were, or are about to be, written, below the data folder.
    pub(super) files: Vec<PathBuf>,
    /// What takes each step back, for a later phase.
    pub(super) steps: Vec<PlanStep>,
}

impl Journal {
    pub(super) fn below(data: &Path) -> Self {
        Self(data.join("lab-case.json"))
    }

    /// Returns what it says; nothing where there is none. One that cannot be read says that something was begun.
    pub(super) fn read(&self) -> io::Result<Option<Entry>> {
        let mut text = Vec::new();
        match fs::File::open(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(file) => file.take(MAX_FILE_BYTES).read_to_end(&mut text)?,
        };
        let unread = Entry {
            done: false,
            phase: 1,
            at: String::new(),
            case: String::new(),
            files: Vec::new(),
            steps: Vec::new(),
        };
        Ok(Some(serde_json::from_slice(&text).unwrap_or(unread)))
    }

    pub(super) fn write(&self, entry: &Entry) -> io::Result<()> {
        self.0.parent().map_or(Ok(()), private_dir)?;
        write_private(&self.0, &serde_json::to_vec_pretty(entry)?)
    }

    /// Removes the files that an entry names, and then the journal. A name that leads out of the two folders is not believed.
    pub(super) fn clear(&self, data: &Path, entry: &Entry) -> io::Result<()> {
        for file in &entry.files {
            let mut parts = file.components();
            let folder = parts.next().map(|part| part.as_os_str().to_owned()).unwrap_or_default();
            let plain =
                matches!(parts.next(), Some(std::path::Component::Normal(_))) && parts.next().is_none();
            if plain && (folder == "effective" || folder == "netfilter") {
                gone(fs::remove_file(data.join(file)))?;
            }
        }
        gone(fs::remove_file(&self.0))
    }
}

fn gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_removes_what_it_names_and_nothing_else() {
        let data = tempfile::tempdir().unwrap();
        let at = |name: &str| data.path().join(name);
        fs::create_dir(at("effective")).unwrap();
        for name in ["effective/eni.json", "effective/mine.json", "precious"] {
            fs::write(at(name), "x").unwrap();
        }
        let journal = Journal::below(data.path());
        let names = [
            "effective/eni.json",
            "effective/../precious",
            "precious",
            "/etc/hostname",
            "effective",
            "effective/never.json",
        ];
        let files = names.iter().map(PathBuf::from).collect();
        let entry = Entry {
            done: false,
            phase: 1,
            at: "x".to_owned(),
            case: String::new(),
            files,
            steps: Vec::new(),
        };
        journal.write(&entry).unwrap();
        assert_eq!(journal.read().unwrap(), Some(entry.clone()));
        journal.clear(data.path(), &entry).unwrap();
        assert_eq!(journal.read().unwrap(), None);
        assert!(
            at("effective/mine.json").exists()
                && at("precious").exists()
                && !at("effective/eni.json").exists()
        );
        journal.clear(data.path(), &entry).unwrap();
    }

    #[test]
    fn a_journal_that_cannot_be_read_says_that_something_was_begun() {
        let data = tempfile::tempdir().unwrap();
        for text in ["", "{\"done\": tr", "[]", "\u{0}"] {
            fs::write(data.path().join("lab-case.json"), text).unwrap();
            assert!(!Journal::below(data.path()).read().unwrap().unwrap().done);
        }
    }
}
