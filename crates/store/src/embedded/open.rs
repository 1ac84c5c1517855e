//! Opening the file, and transactions on it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use redb::{Database, ReadTransaction, ReadableDatabase as _, WriteTransaction};
use tokio::sync::Notify;

use crate::embedded::{lease, table};
use crate::{Settings, StoreError};
use ghost_base::{Clock, SystemClock, Timestamp};

/// The embedded backend: one file that belongs to one process.
#[derive(Clone)]
pub struct Store {
    /// Empty after a write failed: the database then has to be opened again, and is, by whoever needs it next.
    database: Arc<RwLock<Option<Database>>>,
    clock: Arc<dyn Clock>,
    path: PathBuf,
    pub(super) settings: Settings,
    pub(super) wake: Arc<Notify>,
}

impl Store {
    /// Opens the file, or makes it with mode 0600, under the machine's clock. The file has one owner process, so every lease
    /// in it belongs to a dead one: all end, and those sessions come up for work at once.
    ///
    /// # Errors
    /// [`StoreError::InUse`] where another process has it open.
    pub fn open(path: &Path, settings: Settings) -> Result<Self, StoreError> {
        Self::with_clock(path, settings, Arc::new(SystemClock))
    }

    /// Opens the file under another clock.
    ///
    /// # Errors
    /// [`StoreError::InUse`] where another process has it open.
    pub fn with_clock(path: &Path, settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let database = open_file(path, true)?;
        let write = database.begin_write().map_err(table::broken)?;
        table::prepare(&write)?;
        lease::end_all(&write, clock.now())?;
        write.commit().map_err(table::broken)?;
        Ok(Self {
            database: Arc::new(RwLock::new(Some(database))),
            clock,
            path: path.to_owned(),
            settings,
            wake: Arc::new(Notify::new()),
        })
    }

    /// Returns the moment that the store goes by.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Runs work on the database. After a disk that was full or failed it is opened again; the leases in it stay as they are,
    /// because they are this process's own.
    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let empty = self.database.read().unwrap_or_else(PoisonError::into_inner).is_none();
        if empty {
            let mut place = self.database.write().unwrap_or_else(PoisonError::into_inner);
            if place.is_none() {
                *place = Some(open_file(&self.path, false)?);
            }
        }
        let done = match self.database.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(database) => work(database),
            None => Err(StoreError::unavailable("another write failed meanwhile", table::HINT)),
        };
        if matches!(done, Err(StoreError::Unavailable { .. })) {
            *self.database.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
        done
    }

    /// Runs one transaction that either happens as a whole or, where `work` fails, not at all.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&WriteTransaction, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        let run = move || {
            store.with(|database| {
                let write = database.begin_write().map_err(table::broken)?;
                // The time is read inside the lock: a lease that ended while we waited for it has ended.
                let done = work(&write, store.now())?;
                write.commit().map_err(table::broken)?;
                Ok(done)
            })
        };
        tokio::task::spawn_blocking(run)
            .await
            .map_err(|error| StoreError::unavailable(error, "a task of ours failed"))?
    }

    /// Runs one read on a snapshot.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        let run = move || store.with(|database| work(&database.begin_read().map_err(table::broken)?));
        tokio::task::spawn_blocking(run)
            .await
            .map_err(|error| StoreError::unavailable(error, "a task of ours failed"))?
    }
}

/// What a file begins with once the database in it is complete: it is written last.
const BEGINNING: &[u8; 4] = b"redb";

/// Makes a database beside the place where it belongs and moves it there whole: whenever a process dies, there is either none
/// or one that works. Of several processes that begin at once one wins, and the others open its file.
fn make(path: &Path) -> Result<(), StoreError> {
    let io_error =
        |what: &str, path: &Path, error| StoreError::unavailable(error, format!("{what} {}", path.display()));
    match File::open(path) {
        Ok(file) if !is_half_made(&file).map_err(|error| io_error("reading", path, error))? => return Ok(()),
        Ok(_) => set_aside(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(io_error("opening", path, error)),
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(&beside).map_err(|error| io_error("making", &beside, error))?;
    let made = created(file, &beside).and_then(|database| {
        let write = database.begin_write().map_err(table::broken)?;
        table::prepare(&write)?;
        write.commit().map_err(table::broken)
    });
    // A link is refused where the place is taken, so that no file of another process is replaced.
    let moved = made.and_then(|()| match std::fs::hard_link(&beside, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // Not every file system has links.
            std::fs::rename(&beside, path).map_err(|error| io_error("making", path, error))
        }
        Ok(()) | Err(_) => Ok(()),
    });
    // What a process that died left beside it is nobody's, too.
    drop(std::fs::remove_file(&beside));
    moved?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| io_error("syncing", folder, error))
}

/// Whether a process died while it wrote a database's very beginning, before anything could be kept in it.
fn is_half_made(file: &File) -> io::Result<bool> {
    let mut beginning = Vec::new();
    file.take(64).read_to_end(&mut beginning)?;
    // Somebody else's file is left to the database to refuse.
    let blank = beginning.iter().take(BEGINNING.len()).all(|byte| *byte == 0);
    Ok(blank && !beginning.starts_with(BEGINNING))
}

/// Renames a file that was never finished.
fn set_aside(path: &Path) -> Result<(), StoreError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".half-made");
    let kept = PathBuf::from(name);
    tracing::warn!(
        "store file {} is incomplete, its creation was cut off; renamed to {}",
        path.display(),
        kept.display()
    );
    std::fs::rename(path, &kept)
        .map_err(|error| StoreError::unavailable(error, format!("moving {} aside", path.display())))
}

/// Opens the file for this process alone.
fn open_file(path: &Path, create: bool) -> Result<Database, StoreError> {
    if create {
        make(path)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let hint = || format!("opening {}", path.display());
    let file = options.open(path).map_err(|error| StoreError::unavailable(error, hint()))?;
    created(file, path)
}

fn created(file: File, path: &Path) -> Result<Database, StoreError> {
    Database::builder().create_file(file).map_err(|error| {
        let error = redb::Error::from(error);
        if matches!(error, redb::Error::DatabaseAlreadyOpen) {
            return StoreError::InUse { path: path.to_owned() };
        }
        table::broken(error)
    })
}

impl std::fmt::Debug for Store {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}
