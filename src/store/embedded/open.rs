//! Opening the file, and transactions on it.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use redb::{Database, ReadTransaction, ReadableDatabase as _, WriteTransaction};
use tokio::sync::Notify;

use crate::base::{Clock, SystemClock, Timestamp};
use crate::store::embedded::{lease, table};
use crate::store::{Settings, StoreError};

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

/// Opens the file for this process alone.
fn open_file(path: &Path, create: bool) -> Result<Database, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(create).truncate(false).mode(0o600);
    let hint = || format!("opening {}", path.display());
    let file = options.open(path).map_err(|error| StoreError::unavailable(error, hint()))?;
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
