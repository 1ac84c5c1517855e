//! Opening the file, and transactions on it.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{Database, ReadTransaction, ReadableDatabase as _, WriteTransaction};
use tokio::sync::Notify;

use crate::base::{Clock, SystemClock, Timestamp};
use crate::store::embedded::{lease, table};
use crate::store::{Settings, StoreError};

/// The embedded backend: one file that belongs to one process.
#[derive(Clone)]
pub struct Store {
    database: Arc<Database>,
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
        let hint = || format!("opening {}", path.display());
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(path).map_err(|error| StoreError::unavailable(error, hint()))?;
        let database = Database::builder().create_file(file).map_err(|error| {
            let error = redb::Error::from(error);
            if matches!(error, redb::Error::DatabaseAlreadyOpen) {
                return StoreError::InUse { path: path.to_owned() };
            }
            table::broken(error)
        })?;
        let write = database.begin_write().map_err(table::broken)?;
        table::prepare(&write)?;
        lease::end_all(&write, clock.now())?;
        write.commit().map_err(table::broken)?;
        Ok(Self {
            database: Arc::new(database),
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

    /// Runs one transaction that either happens as a whole or, where `work` fails, not at all.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&WriteTransaction, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        let run = move || {
            let write = store.database.begin_write().map_err(table::broken)?;
            // The time is read inside the lock: a lease that ended while we waited for it has ended.
            let done = work(&write, store.now())?;
            write.commit().map_err(table::broken)?;
            Ok(done)
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
        let run = move || work(&store.database.begin_read().map_err(table::broken)?);
        tokio::task::spawn_blocking(run)
            .await
            .map_err(|error| StoreError::unavailable(error, "a task of ours failed"))?
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}
