//! Watches the children of one pipeline until they end or have to: reads both streams, keeps the time, kills the groups.
//!
//! It blocks, so it runs on a thread of its own. It always comes to an end: a process that survives SIGKILL (it hangs in
//! the kernel) is given up after a while and reported without an exit code.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, waitid};

use crate::process::handle::{Handle, Stop};
use crate::process::output::{Chunk, KeptOutput, ReadResult, Streams};

/// Between asking a group to end and killing it.
const TERMINATE_GRACE: Duration = Duration::from_millis(500);
/// How long output is awaited from processes that outlive the leader.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);
/// How long a killed process may take to die.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// How often an end is looked for where the kernel cannot announce it.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How the children of a pipeline ended.
#[derive(Debug)]
pub(crate) struct ProcessEnd {
    statuses: Vec<Option<ExitStatus>>,
    pub(crate) timed_out: bool,
    pub(crate) canceled: bool,
    pub(crate) still_open: bool,
}

/// What becomes of processes that outlive the leader of their group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Survivors {
    /// They are killed.
    Kill,
    /// They go on: a human approved what starts them.
    Leave,
}

/// How long a pipeline may take, and what becomes of what it leaves behind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PipelineLimits {
    pub(crate) deadline: Instant,
    pub(crate) survivors: Survivors,
}

enum Phase {
    Running,
    Asked { kill_at: Instant },
    Killed { give_up_at: Instant },
    Draining { until: Instant },
}

/// One child, the leader of a group of its own.
struct Leader {
    pid: Pid,
    gone: bool,
    /// Without one (an old kernel, no descriptors left) the loop polls every few milliseconds.
    announced: Option<OwnedFd>,
}

struct Watch<'a> {
    leaders: Vec<Leader>,
    bounds: PipelineLimits,
    phase: Phase,
    handle: &'a Handle,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    ending: ProcessEnd,
}

/// Watches children that were just started and led to the handle, until nothing of them is left to wait for.
pub(crate) fn watch(
    children: &mut [Child],
    [stdout, stderr]: [PipeReader; 2],
    streams: &mut Streams,
    bounds: PipelineLimits,
    handle: &Handle,
) -> ProcessEnd {
    let leader = |child: &Child| {
        let pid = Pid::from_child(child);
        Leader { pid, gone: false, announced: pidfd_open(pid, PidfdFlags::empty()).ok() }
    };
    let mut watch = Watch {
        leaders: children.iter().map(leader).collect(),
        bounds,
        phase: Phase::Running,
        handle,
        stdout: Some(stdout).filter(unblock),
        stderr: Some(stderr).filter(unblock),
        ending: ProcessEnd { statuses: Vec::new(), timed_out: false, canceled: false, still_open: false },
    };
    let mut chunk = Chunk::new();
    while let Some(wake_at) = watch.step(Instant::now()) {
        watch.wait(wake_at, streams, &mut chunk);
    }
    let stopped = watch.ending.timed_out || watch.ending.canceled;
    if stopped || bounds.survivors == Survivors::Kill {
        handle.signal(Signal::KILL);
    }
    let mut ending = watch.ending;
    ending.statuses =
        handle.reap(|| children.iter_mut().map(|child| child.try_wait().ok().flatten()).collect());
    ending
}

impl ProcessEnd {
    /// Returns the exit code of a child and the signal that ended it, as far as there are.
    pub(crate) fn of(&self, child: usize) -> (Option<i32>, Option<i32>) {
        let status = self.statuses.get(child).copied().flatten();
        (status.and_then(|status| status.code()), status.and_then(|status| status.signal()))
    }
}

impl Watch<'_> {
    /// Moves one step; returns when to look again at the latest, `None` at the end.
    fn step(&mut self, now: Instant) -> Option<Instant> {
        let all_were_gone = self.all_gone();
        for at in 0..self.leaders.len() {
            self.look_at(at);
        }
        let all_gone = self.all_gone();
        if all_gone && !all_were_gone {
            match self.phase {
                Phase::Running | Phase::Killed { .. } => {
                    self.phase = Phase::Draining { until: later(now, DRAIN_TIMEOUT) };
                }
                // The rest of the groups keeps its time to end well.
                Phase::Asked { .. } | Phase::Draining { .. } => {}
            }
        }
        let open = self.stdout.is_some() || self.stderr.is_some();
        if all_gone && !open {
            return None;
        }
        self.hurry(now);
        match self.phase {
            Phase::Running => Some(self.bounds.deadline),
            Phase::Asked { kill_at } => Some(kill_at),
            Phase::Killed { give_up_at } => (now < give_up_at).then_some(give_up_at),
            Phase::Draining { until } => {
                self.ending.still_open = now >= until;
                (now < until).then_some(until)
            }
        }
    }

    fn all_gone(&self) -> bool {
        self.leaders.iter().all(|leader| leader.gone)
    }

    /// Notes the end of one child, and ends what it leaves behind.
    fn look_at(&mut self, at: usize) {
        let Some(leader) = self.leaders.get_mut(at).filter(|leader| !leader.gone) else { return };
        if has_ended(leader.pid, self.handle) {
            leader.gone = true;
            if self.bounds.survivors == Survivors::Kill && matches!(self.phase, Phase::Running) {
                self.handle.signal_one(leader.pid, Signal::KILL);
            }
        }
    }

    /// Goes on to the next phase where the time or the caller says so.
    fn hurry(&mut self, now: Instant) {
        let stop = self.handle.stopped();
        match self.phase {
            Phase::Running if stop.is_some() || now >= self.bounds.deadline => {
                self.ending.canceled = stop.is_some();
                self.ending.timed_out = stop.is_none();
                self.handle.signal(Signal::TERM);
                self.phase = Phase::Asked { kill_at: later(now, TERMINATE_GRACE) };
                self.hurry(now);
            }
            Phase::Asked { kill_at } if now >= kill_at || stop == Some(Stop::Abandoned) => {
                self.handle.signal(Signal::KILL);
                self.phase = if self.all_gone() {
                    Phase::Draining { until: later(now, DRAIN_TIMEOUT) }
                } else {
                    Phase::Killed { give_up_at: later(now, KILL_TIMEOUT) }
                };
            }
            Phase::Running | Phase::Asked { .. } | Phase::Killed { .. } | Phase::Draining { .. } => {}
        }
    }

    /// Waits for output, for an end, for the caller or for the time, and reads what there is.
    fn wait(&mut self, wake_at: Instant, streams: &mut Streams, chunk: &mut Chunk) {
        let mut patience = wake_at.saturating_duration_since(Instant::now());
        let living = || self.leaders.iter().filter(|leader| !leader.gone);
        if living().any(|leader| leader.announced.is_none()) {
            patience = patience.min(POLL_INTERVAL);
        }
        let timeout = Timespec::try_from(patience).ok();
        let announced = living().filter_map(|leader| leader.announced.as_ref());
        let mut descriptors = vec![PollFd::from_borrowed_fd(self.handle.bell(), PollFlags::IN)];
        descriptors.extend(announced.map(|fd| PollFd::new(fd, PollFlags::IN)));
        descriptors.extend(self.stdout.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        descriptors.extend(self.stderr.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        // An interrupted wait is an early one: the next step finds nothing new and waits again.
        let _ = poll(&mut descriptors, timeout.as_ref());
        self.handle.silence();
        drain(&mut self.stdout, &mut streams.stdout, chunk);
        drain(&mut self.stderr, &mut streams.stderr, chunk);
    }
}

/// Tells whether a child ended, and leaves it unreaped, so that its number stays its own.
fn has_ended(leader: Pid, handle: &Handle) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(leader), options) {
        Ok(status) => status.is_some(),
        // Somebody else reaped it (this process ignores SIGCHLD): its number is no longer ours to signal.
        Err(_) => {
            handle.forget(leader);
            true
        }
    }
}

fn drain<S: io::Read>(stream: &mut Option<S>, kept: &mut KeptOutput, chunk: &mut Chunk) {
    if let Some(source) = stream
        && kept.read_from(source, chunk) == ReadResult::End
    {
        *stream = None;
    }
}

fn later(now: Instant, by: Duration) -> Instant {
    now.checked_add(by).unwrap_or(now)
}

/// Makes reading return at once; a stream for which that fails is not read at all.
fn unblock(stream: &impl AsFd) -> bool {
    fcntl_getfl(stream).and_then(|flags| fcntl_setfl(stream, flags | OFlags::NONBLOCK)).is_ok()
}
