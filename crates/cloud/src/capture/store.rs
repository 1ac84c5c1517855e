//! Where tasks are kept: `DATA/captures/ID.json`, whole or not at all, for their owner alone.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::drive::Instruction;
use super::task::{CaptureTask, TaskError};
use ghost_base::{SessionId, private_dir, write_private};

/// No task is longer.
const MAX_TASK_BYTES: u64 = 1 << 20;

/// A folder of tasks.
#[derive(Debug, Clone)]
pub struct TaskStore(PathBuf);

/// A task that this process works on, and no other.
#[derive(Debug)]
pub struct TaskLock {
    _file: File,
}

/// Why a task cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is none.
    #[error("there is no capture {0}")]
    Missing(String),
    /// It is no id.
    #[error("`{0}` is no id of a capture")]
    Id(String),
    /// The file is no task.
    #[error("the capture {id} cannot be read")]
    CaptureTask {
        id: String,
        /// Why.
        source: TaskError,
    },
    /// The folder or the file cannot be used.
    #[error("the folder of captures {folder} cannot be used")]
    Folder {
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl TaskStore {
    /// Opens the folder below a data folder.
    ///
    /// # Errors
    /// Fails where it cannot be made.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        let store = Self(data.join("captures"));
        private_dir(&store.0).map_err(|error| store.unusable(error))?;
        Ok(store)
    }

    fn unusable(&self, source: io::Error) -> StoreError {
        StoreError::Folder { folder: self.0.clone(), source }
    }

    /// Keeps a task.
    ///
    /// # Errors
    /// Fails where it cannot be written.
    pub fn save(&self, task: &CaptureTask) -> Result<(), StoreError> {
        let path = self.path(&task.id(), "json")?;
        write_private(&path, task.to_json().as_bytes()).map_err(|error| self.unusable(error))
    }

    /// Returns a task.
    ///
    /// # Errors
    /// Fails where there is none, or it cannot be read.
    pub fn load(&self, id: &str) -> Result<CaptureTask, StoreError> {
        let path = self.path(id, "json")?;
        let size = match fs::metadata(&path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::Missing(id.to_owned()));
            }
            Err(error) => return Err(self.unusable(error)),
        };
        if size > MAX_TASK_BYTES {
            return Err(self.unusable(io::Error::other(format!("{id}.json is longer than any task"))));
        }
        let text = fs::read_to_string(&path).map_err(|error| self.unusable(error))?;
        CaptureTask::from_json(&text).map_err(|source| StoreError::CaptureTask { id: id.to_owned(), source })
    }

    /// Returns all tasks, the newest first, and what could not be read.
    ///
    /// # Errors
    /// Fails where the folder cannot be read.
    pub fn all(&self) -> Result<(Vec<CaptureTask>, Vec<StoreError>), StoreError> {
        let (mut tasks, mut problems) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.0).map_err(|error| self.unusable(error))? {
            let name = entry.map_err(|error| self.unusable(error))?.file_name();
            let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
            if id.starts_with('.') {
                continue;
            }
            match self.load(id) {
                Ok(task) => tasks.push(task),
                Err(error) => problems.push(error),
            }
        }
        tasks.sort_by_key(|task| std::cmp::Reverse((task.opened, task.id())));
        Ok((tasks, problems))
    }

    /// Returns a number that no task of a session has.
    ///
    /// # Errors
    /// Fails where the folder cannot be read.
    pub fn number(&self, session: &SessionId) -> Result<u32, StoreError> {
        let begin = format!("{session}-");
        let mut last = 0;
        for entry in fs::read_dir(&self.0).map_err(|error| self.unusable(error))? {
            let name = entry.map_err(|error| self.unusable(error))?.file_name();
            let id = name.to_str().and_then(|name| name.split_once('.')).map(|(id, _)| id.to_owned());
            let number = id.and_then(|id| id.strip_prefix(&begin)?.parse::<u32>().ok());
            last = last.max(number.unwrap_or(0));
        }
        Ok(last.saturating_add(1))
    }

    /// Takes a task for this process; `None` where another one works on it.
    ///
    /// # Errors
    /// Fails where the folder cannot be used.
    pub fn hold(&self, id: &str) -> Result<Option<TaskLock>, StoreError> {
        let path = self.path(id, "lock")?;
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.map_err(|error| self.unusable(error))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(TaskLock { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(self.unusable(error.into())),
        }
    }

    /// Leaves a word for the process that works on a task.
    ///
    /// # Errors
    /// Fails where it cannot be written.
    pub fn leave(&self, id: &str, word: Instruction) -> Result<(), StoreError> {
        let text = match word {
            Instruction::GoOn | Instruction::Leave => return Ok(()),
            Instruction::Stop => "stop",
            Instruction::Cancel => "cancel",
        };
        write_private(&self.path(id, "word")?, text.as_bytes()).map_err(|error| self.unusable(error))
    }

    /// Takes a word that was left, and with it away.
    #[must_use]
    pub fn word(&self, id: &str) -> Instruction {
        let Ok(path) = self.path(id, "word") else { return Instruction::GoOn };
        let Ok(text) = fs::read_to_string(&path) else { return Instruction::GoOn };
        drop(fs::remove_file(&path));
        match text.as_str() {
            "stop" => Instruction::Stop,
            "cancel" => Instruction::Cancel,
            _ => Instruction::GoOn,
        }
    }

    fn path(&self, id: &str, ending: &str) -> Result<PathBuf, StoreError> {
        let fits = id.parse::<SessionId>().is_ok();
        if fits {
            Ok(self.0.join(format!("{id}.{ending}")))
        } else {
            Err(StoreError::Id(id.chars().take(80).collect()))
        }
    }
}
