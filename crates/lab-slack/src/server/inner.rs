//! What all connections share.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use axum::body::Bytes;
use serde_json::Value;
use tokio::sync::{Notify, broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::deliver::{Faults, HttpSender, Sockets, Timing};
use crate::demo::DemoControl;
use crate::server::journal::Journal;
use crate::state::{Notice, Workspace};
use ghost_base::{Clock, Timestamp};

/// How many changes a slow page may be behind.
const NOTICES: usize = 1024;

/// What all connections share.
pub(crate) struct Inner {
    workspace: Mutex<Workspace>,
    sockets: Mutex<Sockets>,
    faults: Mutex<Faults>,
    recent: Mutex<VecDeque<(String, Value)>>,
    journal: Mutex<Journal>,
    bytes: Mutex<HashMap<String, Bytes>>,
    tasks: Mutex<JoinSet<()>>,
    writing: Mutex<()>,
    notices: broadcast::Sender<Notice>,
    /// Until when the sockets say nothing.
    pub(crate) silence: watch::Sender<Option<Instant>>,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) changed: Notify,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timing: Timing,
    pub(crate) carrier: HttpSender,
    /// What is played beside the conversation, if anything is.
    pub(crate) demo: OnceLock<Arc<dyn DemoControl>>,
}

/// A poisoned lock holds what was there before a panic, and that is consistent enough for a lab.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    /// Puts the shared parts together.
    pub(crate) fn new(
        workspace: Workspace,
        bytes: HashMap<String, Bytes>,
        clock: Arc<dyn Clock>,
        timing: Timing,
        carrier: HttpSender,
    ) -> Self {
        Self {
            workspace: Mutex::new(workspace),
            sockets: Mutex::default(),
            faults: Mutex::default(),
            recent: Mutex::default(),
            journal: Mutex::default(),
            bytes: Mutex::new(bytes),
            tasks: Mutex::default(),
            writing: Mutex::default(),
            notices: broadcast::Sender::new(NOTICES),
            silence: watch::Sender::new(None),
            stop: watch::Sender::new(false),
            changed: Notify::new(),
            clock,
            timing,
            carrier,
            demo: OnceLock::new(),
        }
    }

    /// Changes the workspace, and delivers what came of it.
    pub(crate) fn act<T>(self: &Arc<Self>, change: impl FnOnce(&mut Workspace, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut workspace = self.workspace();
        let done = change(&mut workspace, now);
        workspace.tidy(now);
        let happenings = workspace.take_outbox();
        let gone = workspace.take_gone();
        drop(workspace);
        if !gone.is_empty() {
            let mut bytes = self.bytes();
            gone.iter().for_each(|file| drop(bytes.remove(file)));
        }
        self.deliver(happenings);
        self.changed.notify_one();
        done
    }

    /// The workspace, to look at.
    pub(crate) fn workspace(&self) -> MutexGuard<'_, Workspace> {
        lock(&self.workspace)
    }

    /// The connections.
    pub(crate) fn sockets(&self) -> MutexGuard<'_, Sockets> {
        lock(&self.sockets)
    }

    /// The trouble that waits for its turn.
    pub(crate) fn faults(&self) -> MutexGuard<'_, Faults> {
        lock(&self.faults)
    }

    /// The events of late.
    pub(crate) fn recent(&self) -> MutexGuard<'_, VecDeque<(String, Value)>> {
        lock(&self.recent)
    }

    /// What apps received and what they called.
    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        lock(&self.journal)
    }

    /// The bytes of files, by id.
    pub(crate) fn bytes(&self) -> MutexGuard<'_, HashMap<String, Bytes>> {
        lock(&self.bytes)
    }

    /// Waits until nobody else writes to the disk: the write at the end may meet one that is not done yet.
    pub(crate) fn writing(&self) -> MutexGuard<'_, ()> {
        lock(&self.writing)
    }

    /// Notifies open pages.
    pub(crate) fn notify(&self, notice: Notice) {
        // Without an open page nobody listens.
        drop(self.notices.send(notice));
    }

    /// Returns what changes from now on.
    pub(crate) fn notices(&self) -> broadcast::Receiver<Notice> {
        self.notices.subscribe()
    }

    /// Runs work that belongs to this server and ends with it.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    /// Ends everything that still runs.
    pub(crate) fn end(&self) {
        self.stop.send_replace(true);
        self.sockets().close();
        lock(&self.tasks).abort_all();
    }
}
