//! What the caller and the watching thread share: the groups that may be signaled, and a bell.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::process::{Pid, Signal, kill_process_group};

/// Lets one side stop what the other watches.
///
/// A command has one group, a pipeline one for each stage. A group is signaled only while its leader has not been reaped:
/// until then the kernel cannot give its number to another process. Both happen under one lock.
#[derive(Debug)]
pub(crate) struct Handle {
    bell: OwnedFd,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    groups: Vec<Pid>,
    stop: Option<Stop>,
    /// The handles on what runs beside, which stop with this one.
    beside: Vec<Arc<Handle>>,
}

/// How urgently the caller wants an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    /// Ask first, then kill, then answer.
    Canceled,
    /// Nobody waits for an answer any more.
    Abandoned,
}

impl Handle {
    /// Makes a handle on nothing yet.
    pub(crate) fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { bell, state: Mutex::default() })
    }

    /// Makes a handle on what another thread watches beside; it stops where this one does.
    pub(crate) fn beside(&self) -> io::Result<Arc<Self>> {
        let beside = Arc::new(Self::new()?);
        let mut state = self.lock();
        if let Some(stop) = state.stop {
            beside.stop(stop);
        }
        state.beside.push(Arc::clone(&beside));
        Ok(beside)
    }

    /// Asks the watching thread for an early end.
    pub(crate) fn cancel(&self) {
        self.stop(Stop::Canceled);
    }

    /// Kills every group at once, without waiting for it: for a caller that goes away.
    pub(crate) fn abandon(&self) {
        self.stop(Stop::Abandoned);
        self.signal(Signal::KILL);
        let beside = self.lock().beside.clone();
        beside.iter().for_each(|beside| beside.abandon());
    }

    fn stop(&self, stop: Stop) {
        let mut state = self.lock();
        state.stop = state.stop.max(Some(stop));
        // The counter of an eventfd overflows only after 2^64 - 2 rings; one that is full has woken its reader.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        state.beside.iter().for_each(|beside| beside.stop(stop));
    }

    pub(super) fn stopped(&self) -> Option<Stop> {
        self.lock().stop
    }

    /// Returns the descriptor that becomes readable when somebody stops.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Silences the bell, so that waiting for it waits again.
    pub(super) fn silence(&self) {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    /// Tells whether the caller wants no more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped().is_some()
    }

    /// Names a group, from its leader's start until it is reaped; kills it where the caller has already gone.
    pub(crate) fn lead(&self, leader: Pid) {
        self.lock().groups.push(leader);
        if self.stopped() == Some(Stop::Abandoned) {
            self.signal(Signal::KILL);
        }
    }

    /// Signals every process of every group.
    pub(super) fn signal(&self, signal: Signal) {
        let state = self.lock();
        state.groups.iter().for_each(|group| send(*group, signal));
    }

    /// Signals every process of one group, if it is still ours.
    pub(super) fn signal_one(&self, leader: Pid, signal: Signal) {
        let state = self.lock();
        state.groups.iter().filter(|group| **group == leader).for_each(|group| send(*group, signal));
    }

    /// Forgets a group whose leader somebody else reaped.
    pub(super) fn forget(&self, leader: Pid) {
        self.lock().groups.retain(|group| *group != leader);
    }

    /// Runs what frees the leaders' process numbers, after which no signal is sent any more.
    pub(super) fn reap<T>(&self, reap: impl FnOnce() -> T) -> T {
        let mut state = self.lock();
        state.groups.clear();
        reap()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn send(group: Pid, signal: Signal) {
    // It fails where all are gone, or where those that are left became somebody else: nothing to be done.
    let _ = kill_process_group(group, signal);
}
