//! The file by which other commands find a lab, and the lock that tells whether it still lives.
//!
//! Beside `lab.json` lie `lab.lock`, which the lab holds as long as it lives, and the folder `lab`. A process that is gone holds no
//! lock, whatever has its number now.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use ghost_base::{private_dir, write_private};

/// The largest file that can be one.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where the lab listens, over plain HTTP.
    pub url: String,
    /// What whoever orders something has to show.
    pub token: String,
    /// What a machine shows that asks who it is.
    pub identity: String,
    /// The lab's process.
    pub pid: u32,
    /// The folder with what leads `az` to the lab.
    pub folder: PathBuf,
}

/// Why a lab is not found, or cannot be one here.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file's name does not end in `.json`.
    #[error("{0} does not end in .json")]
    Name(PathBuf),
    /// There is none.
    #[error("no lab runs ({0} is not there)")]
    Absent(PathBuf),
    /// There was one, and it is dead. What it left behind is gone now.
    #[error("no lab runs; what a dead one had left at {0} is cleaned up")]
    Dead(PathBuf),
    /// Another lab runs.
    #[error("a lab runs already, by {0}")]
    Taken(PathBuf),
    /// A file or device that no lab made has its name.
    #[error("{0} already exists and is not the lab's")]
    Foreign(PathBuf),
    /// The file says something else.
    #[error("{path} cannot be read as a lab's file: {what}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The disk does not do it.
    #[error("{what} {path}")]
    Disk {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What happened.
        #[source]
        source: io::Error,
    },
}

fn disk(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RecordError {
    let path = path.to_owned();
    move |source| RecordError::Disk { what, path, source }
}

impl Record {
    /// Returns the record of a lab that lives. What a dead one has left behind is cleaned up.
    ///
    /// # Errors
    /// Fails where no lab lives by this file.
    pub fn find(path: &Path) -> Result<Self, RecordError> {
        named(path)?;
        let Some(found) = read(path)? else {
            return Err(RecordError::Absent(path.to_owned()));
        };
        // Whoever lives holds the lock. Looking takes no more than reading: who asks may be kept from writing.
        if is_held(path) {
            return found;
        }
        match Claim::locked(path)? {
            None => found,
            Some(claim) => {
                claim.clean()?;
                Err(RecordError::Dead(path.to_owned()))
            }
        }
    }
}

/// Returns what a file says, or what is wrong with it; nothing where there is none.
fn read(path: &Path) -> Result<Option<Result<Record, RecordError>>, RecordError> {
    let mut text = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(disk("cannot open", path)(error)),
        Ok(file) => {
            file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text).map_err(disk("cannot read", path))?
        }
    };
    let broken = |what: String| RecordError::Broken { path: path.to_owned(), what };
    if text.len() as u64 > MAX_FILE_BYTES {
        return Ok(Some(Err(broken("it is too large".to_owned()))));
    }
    Ok(Some(serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))))
}

/// Tells whether somebody certainly holds the lock.
fn is_held(path: &Path) -> bool {
    let Ok(lock) = File::open(path.with_extension("lock")) else { return false };
    flock(&lock, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
}

fn named(path: &Path) -> Result<(), RecordError> {
    let fits = path.extension().is_some_and(|ending| ending == "json") && path.file_stem().is_some();
    if fits { Ok(()) } else { Err(RecordError::Name(path.to_owned())) }
}

/// A place that belongs to this process as long as the value lives.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// The lock goes with it.
    _lock: File,
    written: bool,
}

impl Claim {
    /// Takes a place for a lab. What a dead one has left there is cleaned up.
    ///
    /// # Errors
    /// Fails where another lab lives there, or something is there that no lab has made.
    pub fn take(path: &Path) -> Result<Self, RecordError> {
        named(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or(Ok(()), |folder| private_dir(folder).map_err(disk("cannot make", folder)))?;
        let mut claim = Self::locked(path)?.ok_or_else(|| RecordError::Taken(path.to_owned()))?;
        if read(path)?.is_some() {
            claim.remove()?;
        } else if fs::symlink_metadata(claim.folder()).is_ok() {
            return Err(RecordError::Foreign(claim.folder()));
        }
        Ok(claim)
    }

    /// Takes the lock; nothing where somebody else holds it.
    fn locked(path: &Path) -> Result<Option<Self>, RecordError> {
        let lock = path.with_extension("lock");
        loop {
            // To lock it takes no right to write, which the `az` of a lab does not have in a sandbox.
            let file = match File::open(&lock) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let mut options = OpenOptions::new();
                    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&lock)
                }
                file => file,
            };
            let file = file.map_err(disk("cannot open", &lock))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(disk("cannot lock", &lock)(error.into())),
                Ok(()) => {}
            }
            // Whoever held it before may have taken the file away.
            let same = |meta: fs::Metadata| {
                file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (meta.dev(), meta.ino()))
            };
            if fs::metadata(&lock).is_ok_and(same) {
                return Ok(Some(Self { path: path.to_owned(), _lock: file, written: false }));
            }
        }
    }

    /// Returns the folder beside the file.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.path.with_extension("")
    }

    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Fails where the disk does not take it.
    pub fn write(&mut self, record: &Record) -> Result<(), RecordError> {
        let text = serde_json::to_vec_pretty(record)
            .map_err(|error| RecordError::Broken { path: self.path.clone(), what: error.to_string() })?;
        write_private(&self.path, &text).map_err(disk("cannot write", &self.path))?;
        self.written = true;
        Ok(())
    }

    /// Removes all that lies here, the lock last.
    ///
    /// # Errors
    /// Fails where the disk does not let it go.
    pub fn clean(mut self) -> Result<(), RecordError> {
        self.remove()
    }

    fn remove(&mut self) -> Result<(), RecordError> {
        let folder = self.folder();
        let gone = |done: io::Result<()>| match done {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        };
        // The file goes last: as long as it is there the folder is known to be a lab's.
        let linked = fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_symlink());
        let removed = if linked { fs::remove_file(&folder) } else { fs::remove_dir_all(&folder) };
        gone(removed).map_err(disk("cannot remove", &folder))?;
        gone(fs::remove_file(&self.path)).map_err(disk("cannot remove", &self.path))?;
        self.written = false;
        Ok(())
    }
}

/// Whatever ends the lab, it leaves nothing.
impl Drop for Claim {
    fn drop(&mut self) {
        if self.written {
            drop(self.remove());
        }
        drop(fs::remove_file(self.path.with_extension("lock")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(folder: &Path) -> Record {
        Record {
            url: "http://127.0.0.1:1".to_owned(),
            token: "t".to_owned(),
            identity: "i".to_owned(),
            pid: 1,
            folder: folder.to_owned(),
        }
    }

    fn left(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_lab_is_found_as_long_as_it_lives_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lab.json");
        assert!(matches!(Record::find(&path), Err(RecordError::Absent(_))));
        let mut claim = Claim::take(&path).unwrap();
        claim.write(&record(&claim.folder())).unwrap();
        fs::create_dir_all(claim.folder().join("az")).unwrap();
        assert_eq!(Record::find(&path).unwrap().pid, 1);
        assert!(matches!(Claim::take(&path), Err(RecordError::Taken(_))));
        assert_eq!(Record::find(&path).unwrap().token, "t");
        drop(claim);
        assert_eq!(left(folder.path()), 0);
    }

    /// Leaves what a process leaves that was killed.
    fn killed(path: &Path, text: &[u8]) {
        fs::write(path, text).unwrap();
        fs::write(path.with_extension("lock"), b"").unwrap();
        fs::create_dir_all(path.with_extension("").join("az/commands")).unwrap();
    }

    #[test]
    fn what_a_dead_lab_left_is_cleaned_up_by_whoever_comes_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lab.json");
        for text in [serde_json::to_vec(&record(folder.path())).unwrap(), b"{cut off".to_vec(), Vec::new()] {
            killed(&path, &text);
            assert!(matches!(Record::find(&path), Err(RecordError::Dead(_))));
            assert_eq!(left(folder.path()), 0);
            killed(&path, &text);
            drop(Claim::take(&path).unwrap());
            assert_eq!(left(folder.path()), 0);
        }
    }

    #[test]
    fn the_folder_that_a_record_names_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::create_dir(&precious).unwrap();
        let path = folder.path().join("lab.json");
        killed(&path, &serde_json::to_vec(&record(&precious)).unwrap());
        assert!(Record::find(&path).is_err());
        assert!(precious.is_dir());
    }

    #[test]
    fn a_folder_that_no_lab_has_made_stays() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("lab");
        fs::create_dir(&own).unwrap();
        assert!(matches!(Claim::take(&folder.path().join("lab.json")), Err(RecordError::Foreign(_))));
        assert!(own.is_dir());
        assert!(matches!(Claim::take(&own), Err(RecordError::Name(_))));
    }
}
