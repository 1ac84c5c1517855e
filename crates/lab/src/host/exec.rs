//! The only file beside the shell's that starts a process: programs of this machine inside the lab's namespaces.
//!
//! Goes in: a program of a fixed table, words, a namespace that carries the lab's prefix. Comes out: what it printed and how it ended,
//! or a handle for as long as it runs. Never: a shell (dhclient runs one script, which is the lab's own), a program or a file that a guest names, our environment, our standard
//! input, output without end, a wait without end, a process of its group that stays when it is over.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::netns::{Namespace, Program, check};

/// The most bytes of each stream that are kept; the rest is read and dropped.
const MAX_OUTPUT_BYTES: usize = 4 << 20;
/// How long something that asked politely may take to end.
const INTERRUPT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long output is waited for after the end; whoever daemonized may hold the pipe for ever.
const OUTPUT_DRAIN_TIMEOUT: Duration = Duration::from_millis(300);

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub(in crate::host) enum ExecError {
    /// The program is not there.
    #[error("`{0}` is not installed: install the package {1}")]
    Missing(&'static str, &'static str),
    /// The words are not for a guest.
    #[error("{0}")]
    Refused(String),
    /// The machine did not want to.
    #[error("{what}: {source}")]
    Failed {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
}

/// A program with its words.
#[derive(Debug)]
pub(in crate::host) struct ProcessRequest {
    program: &'static Program,
    words: Vec<String>,
    input: Vec<u8>,
    space: Option<Namespace>,
    limit: Duration,
    lock: Option<PathBuf>,
    socket: Option<OwnedFd>,
}

impl ProcessRequest {
    /// Makes one of the lab's own; its words were assembled by the lab.
    pub(in crate::host) fn own(name: &'static str, words: &[&str]) -> Result<Self, ExecError> {
        Self::new(name, words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Makes one that a script on a machine asked for: every word is checked.
    pub(in crate::host) fn guest(argv: &[String], input: &str) -> Result<Self, ExecError> {
        let (name, words) = argv.split_first().ok_or_else(|| ExecError::Refused("no program".to_owned()))?;
        let name = name.rsplit('/').next().unwrap_or_default();
        check(name, words, input).map_err(ExecError::Refused)?;
        Ok(Self { input: input.into(), ..Self::new(name, words.to_vec())? })
    }

    fn new(name: &str, words: Vec<String>) -> Result<Self, ExecError> {
        let unknown = || ExecError::Refused(format!("the lab starts no `{name}`"));
        let program = Program::named(name).ok_or_else(unknown)?;
        if words.iter().any(|word| word.contains('\0')) {
            return Err(ExecError::Refused("a word holds a NUL character".to_owned()));
        }
        let limit = Duration::from_secs(30);
        Ok(Self { program, words, input: Vec::new(), space: None, limit, lock: None, socket: None })
    }

    /// Puts it into a namespace.
    pub(in crate::host) fn within(self, space: &Namespace) -> Self {
        Self { space: Some(space.clone()), ..self }
    }

    /// Gives it something to read.
    pub(in crate::host) fn reading(self, input: impl Into<Vec<u8>>) -> Self {
        Self { input: input.into(), ..self }
    }

    /// Limits its time.
    pub(in crate::host) fn at_most(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Names the file by which `iptables` keeps others out: machines are not to wait for one another.
    pub(in crate::host) fn locking(self, lock: PathBuf) -> Self {
        Self { lock: Some(lock), ..self }
    }

    /// Lets it speak with whoever is at the other end of a connection, as inetd does.
    pub(in crate::host) fn speaking(self, socket: OwnedFd) -> Self {
        Self { socket: Some(socket), ..self }
    }

    /// Runs it to its end; blocks.
    pub(in crate::host) fn run(self) -> Result<Output, ExecError> {
        let (begun, limit) = (Instant::now(), self.limit);
        Ok(self.start(None)?.finish(begun, limit))
    }

    /// Starts it; standard output goes to a file of the lab's where one is given.
    pub(in crate::host) fn start(self, into: Option<File>) -> Result<Running, ExecError> {
        let failed = |what: String| move |source| ExecError::Failed { what, source };
        let program = self.program;
        let path = program.path().ok_or(ExecError::Missing(program.name, program.package))?;
        let starter = Builder::new().name("lab-exec".to_owned());
        // A thread of its own enters the namespace and ends there: no other work of this process is ever inside.
        let thread =
            starter.spawn(move || spawn(&self, &path, into)).map_err(failed(program.name.to_owned()))?;
        let lost = || io::Error::other("its thread is gone");
        let started = thread.join().unwrap_or_else(|_| Err(lost()));
        let (child, events) = started.map_err(failed(program.name.to_owned()))?;
        Ok(Running { child, events, early: VecDeque::new() })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the second of two places that start a process: a program of the table above"
)]
fn spawn(order: &ProcessRequest, path: &Path, into: Option<File>) -> io::Result<(Child, Receiver<Event>)> {
    if let Some(space) = &order.space {
        let space = File::open(space.path())?;
        move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network))?;
    }
    let mut command = Command::new(path);
    command.args(&order.words).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C");
    if let Some(lock) = &order.lock {
        command.env("XTABLES_LOCKFILE", lock);
    }
    let (piped, mut out) = (into.is_none(), into.map_or_else(Stdio::piped, Stdio::from));
    let mut input = if order.input.is_empty() { Stdio::null() } else { Stdio::piped() };
    if let Some(socket) = &order.socket {
        (input, out) = (socket.try_clone()?.into(), socket.try_clone()?.into());
    }
    let mut child =
        command.current_dir("/").stdin(input).stdout(out).stderr(Stdio::piped()).process_group(0).spawn()?;
    let (sender, events) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        let input = order.input.clone();
        // Whoever does not read its input is no error of ours.
        Builder::new().spawn(move || drop(stdin.write_all(&input)))?;
    }
    if let Some(out) = child.stdout.take().filter(|_| piped) {
        read(out, sender.clone(), Event::Out)?;
    }
    if let Some(err) = child.stderr.take() {
        read(err, sender.clone(), Event::Err)?;
    }
    let pid = Pid::from_child(&child);
    Builder::new().spawn(move || {
        // The number stays taken until the group was ended: it is waited for, not yet collected.
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        drop(sender.send(Event::Over));
    })?;
    Ok((child, events))
}

fn read(
    mut from: impl Read + Send + 'static,
    to: Sender<Event>,
    kind: fn(Vec<u8>) -> Event,
) -> io::Result<()> {
    let reader = move || {
        let mut buffer = vec![0_u8; 16 << 10];
        while let Ok(count) = from.read(&mut buffer) {
            let some = buffer.get(..count).unwrap_or_default();
            if some.is_empty() || to.send(kind(some.to_vec())).is_err() {
                break;
            }
        }
    };
    Builder::new().spawn(reader).map(drop)
}

#[derive(Debug)]
enum Event {
    Out(Vec<u8>),
    Err(Vec<u8>),
    Over,
}

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::host) struct Output {
    /// Standard output.
    pub(in crate::host) out: String,
    /// Standard error.
    pub(in crate::host) err: String,
    /// The exit code, as a shell tells it.
    pub(in crate::host) code: u8,
    /// Whether its time was over.
    pub(in crate::host) late: bool,
}

/// A program that runs. Dropped, its group is killed.
#[derive(Debug)]
pub(in crate::host) struct Running {
    child: Child,
    events: Receiver<Event>,
    early: VecDeque<Event>,
}

impl Running {
    pub(in crate::host) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Waits until standard error says something; false where it ended or the time was over first.
    pub(in crate::host) fn says(&mut self, word: &str, limit: Duration) -> bool {
        let begun = Instant::now();
        let mut said = Vec::new();
        while let Ok(event) = self.events.recv_timeout(limit.saturating_sub(begun.elapsed())) {
            let over = matches!(event, Event::Over);
            if let Event::Err(some) = &event {
                said.extend_from_slice(some);
            }
            self.early.push_back(event);
            if over {
                return false;
            }
            if String::from_utf8_lossy(&said).contains(word) {
                return true;
            }
        }
        false
    }

    /// Stops it where it is, with whatever it holds open.
    pub(in crate::host) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Tells whether it has ended.
    pub(in crate::host) fn is_over(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks it to end, as Ctrl-C does, and returns what it said.
    pub(in crate::host) fn interrupt(self) -> Output {
        self.signal(Signal::INT);
        self.finish(Instant::now(), INTERRUPT_TIMEOUT)
    }

    fn signal(&self, signal: Signal) {
        // It may have ended by itself.
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }

    fn finish(mut self, begun: Instant, limit: Duration) -> Output {
        let mut streams = [Vec::new(), Vec::new()];
        let (mut until, mut over, mut late) = (begun + limit, false, false);
        loop {
            let event = match self.early.pop_front() {
                Some(event) => Ok(event),
                None => self.events.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Out(some)) => keep(&mut streams, 0, &some),
                Ok(Event::Err(some)) => keep(&mut streams, 1, &some),
                Ok(Event::Over) => {
                    // What it started in its own group ends with it.
                    self.signal(Signal::KILL);
                    (over, until) = (true, Instant::now() + OUTPUT_DRAIN_TIMEOUT);
                }
                Err(RecvTimeoutError::Timeout) if over => break,
                Err(RecvTimeoutError::Timeout) if late => {
                    self.signal(Signal::KILL);
                    until = Instant::now() + INTERRUPT_TIMEOUT;
                }
                Err(RecvTimeoutError::Timeout) => {
                    // Measuring tools tell what they have so far.
                    self.signal(Signal::INT);
                    (late, until) = (true, Instant::now() + INTERRUPT_TIMEOUT);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.child.wait().ok();
        let [out, err] = streams.map(|stream| String::from_utf8_lossy(&stream).into_owned());
        Output { out, err, code: if late { 124 } else { status.map_or(126, code) }, late }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal(Signal::KILL);
            drop(self.child.wait());
        }
    }
}

fn keep(streams: &mut [Vec<u8>; 2], at: usize, some: &[u8]) {
    if let Some(stream) = streams.get_mut(at) {
        let room = MAX_OUTPUT_BYTES.saturating_sub(stream.len()).min(some.len());
        stream.extend_from_slice(some.get(..room).unwrap_or_default());
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(255)
}
