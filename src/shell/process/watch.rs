//! Watches a child until it ends or has to: reads both streams, keeps the time, kills the group.
//!
//! It blocks, so it runs on a thread of its own. It always comes to an end: a process that survives SIGKILL (it hangs in
//! the kernel) is given up after a while and reported without an exit code.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, waitid};

use crate::shell::process::handle::{Handle, Stop};
use crate::shell::process::output::{Chunk, Found, Kept};
use crate::shell::process::setting::Limits;

/// Between asking a group to end and killing it.
const GRACE: Duration = Duration::from_millis(500);
/// How long output is awaited from processes that outlive the leader.
const DRAIN: Duration = Duration::from_millis(300);
/// How long a killed process may take to die.
const GIVE_UP: Duration = Duration::from_secs(5);
/// How often an end is looked for where the kernel cannot announce it.
const LOOK: Duration = Duration::from_millis(20);

/// How a child ended.
#[derive(Debug)]
pub(in crate::shell) struct Ending {
    status: Option<ExitStatus>,
    stdout: Kept,
    stderr: Kept,
    pub(in crate::shell) timed_out: bool,
    pub(in crate::shell) canceled: bool,
    pub(in crate::shell) still_open: bool,
    pub(in crate::shell) duration: Duration,
}

/// What becomes of processes that outlive the leader of their group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum Survivors {
    /// They are killed.
    Kill,
    /// They go on: a human approved what starts them.
    Leave,
}

enum Phase {
    Running,
    Asked { kill_at: Instant },
    Killed { give_up_at: Instant },
    Draining { until: Instant },
}

struct Watch<'a> {
    leader: Pid,
    leader_gone: bool,
    survivors: Survivors,
    deadline: Instant,
    phase: Phase,
    handle: &'a Handle,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    ending: Ending,
}

/// Watches a child that was just started as the leader of its own group, until nothing of it is left to wait for.
pub(in crate::shell) fn watch(
    mut child: Child,
    started: Instant,
    survivors: Survivors,
    limits: &Limits,
    handle: &Handle,
) -> Ending {
    let leader = Pid::from_child(&child);
    handle.lead(leader);
    // Without one (an old kernel, no descriptors left) the loop looks every few milliseconds.
    let announced = pidfd_open(leader, PidfdFlags::empty()).ok();
    let mut watch = Watch {
        leader,
        leader_gone: false,
        survivors,
        deadline: started.checked_add(limits.timeout).unwrap_or(started),
        phase: Phase::Running,
        handle,
        stdout: child.stdout.take().filter(unblock),
        stderr: child.stderr.take().filter(unblock),
        ending: Ending {
            status: None,
            stdout: Kept::new(limits.output),
            stderr: Kept::new(limits.output),
            timed_out: false,
            canceled: false,
            still_open: false,
            duration: Duration::ZERO,
        },
    };
    let mut chunk = Chunk::new();
    while let Some(wake_at) = watch.step(Instant::now()) {
        watch.wait(wake_at, announced.as_ref(), &mut chunk);
    }
    let stopped = watch.ending.timed_out || watch.ending.canceled;
    if stopped || survivors == Survivors::Kill {
        handle.signal(Signal::KILL);
    }
    let mut ending = watch.ending;
    ending.duration = started.elapsed();
    ending.status = handle.reap(|| child.try_wait().ok().flatten());
    ending
}

impl Ending {
    /// Returns the exit code, where there is one.
    pub(in crate::shell) fn exit_code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Returns the signal that ended it, where one did.
    pub(in crate::shell) fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }

    /// Returns standard output, then standard error, each with its whole length and whether that is more than was kept.
    pub(in crate::shell) fn streams(self) -> [(Vec<u8>, u64, bool); 2] {
        [self.stdout, self.stderr].map(|kept| {
            let truncated = kept.truncated();
            (kept.bytes, kept.total, truncated)
        })
    }
}

impl Watch<'_> {
    /// Moves one step; returns when to look again at the latest, `None` at the end.
    fn step(&mut self, now: Instant) -> Option<Instant> {
        if !self.leader_gone && self.has_ended() {
            self.leader_gone = true;
            match self.phase {
                Phase::Running => {
                    if self.survivors == Survivors::Kill {
                        self.handle.signal(Signal::KILL);
                    }
                    self.phase = Phase::Draining { until: later(now, DRAIN) };
                }
                Phase::Killed { .. } => self.phase = Phase::Draining { until: later(now, DRAIN) },
                // The rest of the group keeps its time to end well.
                Phase::Asked { .. } | Phase::Draining { .. } => {}
            }
        }
        let open = self.stdout.is_some() || self.stderr.is_some();
        if self.leader_gone && !open {
            return None;
        }
        self.hurry(now);
        match self.phase {
            Phase::Running => Some(self.deadline),
            Phase::Asked { kill_at } => Some(kill_at),
            Phase::Killed { give_up_at } => (now < give_up_at).then_some(give_up_at),
            Phase::Draining { until } => {
                self.ending.still_open = now >= until;
                (now < until).then_some(until)
            }
        }
    }

    /// Tells whether the leader ended, and leaves it unreaped, so that its number stays its own.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.is_some(),
            // Somebody else reaped it (this process ignores SIGCHLD): its number is no longer ours to signal.
            Err(_) => {
                self.handle.reap(|| ());
                true
            }
        }
    }

    /// Goes on to the next phase where the time or the caller says so.
    fn hurry(&mut self, now: Instant) {
        let stop = self.handle.stopped();
        match self.phase {
            Phase::Running if stop.is_some() || now >= self.deadline => {
                self.ending.canceled = stop.is_some();
                self.ending.timed_out = stop.is_none();
                self.handle.signal(Signal::TERM);
                self.phase = Phase::Asked { kill_at: later(now, GRACE) };
                self.hurry(now);
            }
            Phase::Asked { kill_at } if now >= kill_at || stop == Some(Stop::Abandoned) => {
                self.handle.signal(Signal::KILL);
                self.phase = if self.leader_gone {
                    Phase::Draining { until: later(now, DRAIN) }
                } else {
                    Phase::Killed { give_up_at: later(now, GIVE_UP) }
                };
            }
            Phase::Running | Phase::Asked { .. } | Phase::Killed { .. } | Phase::Draining { .. } => {}
        }
    }

    /// Waits for output, for the end, for the caller or for the time, and reads what there is.
    fn wait(&mut self, wake_at: Instant, announced: Option<&OwnedFd>, chunk: &mut Chunk) {
        let mut patience = wake_at.saturating_duration_since(Instant::now());
        if announced.is_none() {
            patience = patience.min(LOOK);
        }
        let timeout = Timespec::try_from(patience).ok();
        let announced = announced.filter(|_| !self.leader_gone);
        let mut descriptors = vec![PollFd::from_borrowed_fd(self.handle.bell(), PollFlags::IN)];
        descriptors.extend(announced.map(|fd| PollFd::new(fd, PollFlags::IN)));
        descriptors.extend(self.stdout.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        descriptors.extend(self.stderr.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        // An interrupted wait is an early one: the next step finds nothing new and waits again.
        let _ = poll(&mut descriptors, timeout.as_ref());
        self.handle.silence();
        drain(&mut self.stdout, &mut self.ending.stdout, chunk);
        drain(&mut self.stderr, &mut self.ending.stderr, chunk);
    }
}

fn drain<S: io::Read>(stream: &mut Option<S>, kept: &mut Kept, chunk: &mut Chunk) {
    if let Some(source) = stream
        && kept.read_from(source, chunk) == Found::End
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
