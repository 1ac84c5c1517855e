//! The only file of the crate that starts a process, and only for a [`Permit`].
//!
//! Goes in: a permit, which is used up. Comes out: what the command printed and how it ended. Never: a terminal, our
//! standard input, our environment, a process that nobody watches, a blocked runtime.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use tokio::sync::oneshot;

use crate::shell::permit::Form;
use crate::shell::process::{Handle, Home, Survivors, environment, watch};
use crate::shell::sandbox::{Cage, Caged, Scratch};
use crate::shell::{CancelSignal, ExecError, Output, Permit, Profile, Setting};

const SHELL: &str = "/bin/sh";

/// Runs what the permit permits, and waits for its end.
///
/// A command that fails, is killed or runs out of time is an [`Output`]; an error means that nothing ran. Where the
/// returned future is dropped, the command's group is killed on the spot.
pub(in crate::shell) async fn run(
    permit: Permit,
    setting: &Setting,
    mut cancel: CancelSignal,
) -> Result<Output, ExecError> {
    let handle = Arc::new(Handle::new().map_err(|source| ExecError::Resources { source })?);
    let (answer, mut answered) = oneshot::channel();
    let (watched, setting) = (Arc::clone(&handle), setting.clone());
    let thread = Builder::new()
        .name("ghost-exec".to_owned())
        .spawn(move || {
            // Where nobody waits any more the answer has no reader.
            drop(answer.send(supervise(&permit, &setting, &watched)));
        })
        .map_err(|source| ExecError::Resources { source })?;
    let owner = Owner { handle, thread: Some(thread) };
    let outcome = tokio::select! {
        biased;
        outcome = &mut answered => outcome,
        () = cancel.canceled() => {
            owner.handle.cancel();
            answered.await
        }
    };
    owner.join();
    outcome.unwrap_or(Err(ExecError::Lost))
}

/// Owns the watching thread for as long as somebody waits for its answer.
struct Owner {
    handle: Arc<Handle>,
    thread: Option<JoinHandle<()>>,
}

impl Owner {
    /// Joins the thread, whose answer was its last act.
    fn join(mut self) {
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // The thread sees it, cleans up and ends; joining it here would block whoever drops the future.
        if self.thread.is_some() {
            self.handle.abandon();
        }
    }
}

/// Everything about one start.
struct Launch {
    program: PathBuf,
    arguments: Vec<String>,
    environment: BTreeMap<String, OsString>,
    cwd: PathBuf,
}

/// Prepares, starts and watches; blocks until the end.
fn supervise(permit: &Permit, setting: &Setting, handle: &Handle) -> Result<Output, ExecError> {
    let arguments = match permit.form() {
        Form::Words(words) => words.clone(),
        Form::Text(text) => [SHELL, "-c", text].map(str::to_owned).into(),
    };
    if arguments.iter().any(|word| word.contains('\0')) {
        return Err(ExecError::NulCharacter);
    }
    let first = arguments.first().ok_or(ExecError::Empty)?;
    let profile = permit.profile();
    let program = match profile {
        Some(_) => setting.programs.find(first)?,
        None => setting.programs.find_approved(first, &setting.cwd)?,
    };
    let in_scratch = |source| ExecError::Scratch { source };
    let scratch = profile.map(|_| Scratch::create(&setting.scratch)).transpose().map_err(in_scratch)?;
    let (cage, home) = match (profile, &scratch) {
        (Some(profile), Some(scratch)) => {
            let cage = Cage::safe(profile, setting, &program, scratch.path()).map_err(in_scratch)?;
            (cage, home(profile, scratch.path()))
        }
        (None, _) | (_, None) => (Cage::approved(setting), Home::Real),
    };
    let environment = environment(&setting.environment, home);
    let launch = Launch { program, arguments, environment, cwd: setting.cwd.clone() };
    let started = Instant::now();
    let Caged { child, mut confinement, remains } = cage.start(&launch.program, || start(&launch))?;
    let survivors = if profile.is_some() { Survivors::Kill } else { Survivors::Leave };
    let ending = watch(child, started, survivors, &setting.limits, handle);
    drop((remains, scratch));

    confinement.limits.push(format!("time {} s", setting.limits.timeout.as_secs_f64()));
    confinement.limits.push(format!("output {} bytes of each stream", setting.limits.output));
    let (exit_code, signal) = (ending.exit_code(), ending.signal());
    let (timed_out, canceled, still_open) = (ending.timed_out, ending.canceled, ending.still_open);
    let duration = ending.duration;
    let [(stdout, stdout_total, stdout_truncated), (stderr, stderr_total, stderr_truncated)] =
        ending.streams();
    Ok(Output {
        exit_code,
        signal,
        stdout,
        stderr,
        stdout_total,
        stderr_total,
        stdout_truncated,
        stderr_truncated,
        timed_out,
        canceled,
        still_open,
        duration,
        confinement,
        program: launch.program,
    })
}

fn home<'a>(profile: &Profile, scratch: &'a Path) -> Home<'a> {
    if profile.cloud { Home::Cloud(scratch) } else { Home::Scratch(scratch) }
}

/// Starts the child as the leader of a group of its own, without standard input.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that starts a process, and it has a permit"
)]
fn start(launch: &Launch) -> io::Result<Child> {
    let mut command = Command::new(&launch.program);
    if let Some((name, arguments)) = launch.arguments.split_first() {
        command.arg0(name).args(arguments);
    }
    command
        .env_clear()
        .envs(&launch.environment)
        .current_dir(&launch.cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}
