//! The only file of the crate that starts a process, and only for a [`Permit`].
//!
//! Goes in: a permit, which is used up. Comes out: what the commands printed and how they ended. Never: a terminal, our
//! standard input, our environment, a process that nobody watches, a blocked runtime.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use rustix::process::{Pid, geteuid};
use tokio::sync::oneshot;

use crate::permit::Form;
use crate::process::{
    Handle, Home, PipelineLimits, ProcessEnd, Streams, Survivors, environment, kubeconfig, watch,
};
use crate::sandbox::{
    OWNERS_VARIABLE, RemainingProcesses, SandboxLayers, SandboxedChild, Scratch, SocketOwners,
    list_socket_owners,
};
use crate::{
    CancelSignal, ExecError, Output, Permit, Pipeline, Profile, Setting, Stage, StageRun, Stderr, Stdout,
    When,
};

const SHELL: &str = "/bin/sh";

/// Runs what the permit permits, and waits for its end.
///
/// A command that fails, is killed or runs out of time is an [`Output`]; an error means that nothing ran. Where the
/// returned future is dropped, the command's group is killed on the spot.
pub(crate) async fn run(
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

/// Prepares, starts, connects and watches; blocks until the end.
fn supervise(permit: &Permit, setting: &Setting, handle: &Handle) -> Result<Output, ExecError> {
    let (pipelines, is_list) = pipelines(permit);
    let stages = || pipelines.iter().flat_map(|pipeline| &pipeline.stages);
    if stages().next().is_none() || stages().any(|stage| stage.argv.is_empty()) {
        return Err(ExecError::Empty);
    }
    if stages().any(|stage| stage.argv.iter().any(|word| word.contains('\0'))) {
        return Err(ExecError::NulCharacter);
    }
    let confined = permit.is_confined();
    let started = Instant::now();
    let bounds = PipelineLimits {
        deadline: started.checked_add(setting.limits.timeout).unwrap_or(started),
        survivors: if confined { Survivors::Kill } else { Survivors::Leave },
    };
    let mut walk = PipelineWalk {
        setting,
        handle,
        bounds,
        confined,
        is_list,
        streams: Streams::new(setting.limits.output),
        ran: Vec::new(),
        failed: None,
        end: PipelineEnd::default(),
    };
    for pipeline in &pipelines {
        if walk.comes_to(pipeline.when) {
            walk.pipeline(pipeline)?;
        }
    }
    walk.output(started)
}

/// Returns what is to run, and whether one end of several decides about the others.
fn pipelines(permit: &Permit) -> (Vec<Pipeline>, bool) {
    let alone = |argv: Vec<String>| {
        let profile = permit.profile().cloned().unwrap_or_default();
        let stage = Stage { argv, profile, stdout: Stdout::Next, stderr: Stderr::Errors };
        (vec![Pipeline { when: When::Always, stages: vec![stage] }], false)
    };
    match permit.form() {
        Form::Words(words) => alone(words.clone()),
        Form::List(list) => (list.pipelines.clone(), true),
        Form::Text(text) => alone([SHELL, "-c", text].map(str::to_owned).into()),
    }
}

/// The run through the pipelines of a permit.
struct PipelineWalk<'a> {
    setting: &'a Setting,
    handle: &'a Handle,
    bounds: PipelineLimits,
    confined: bool,
    is_list: bool,
    streams: Streams,
    ran: Vec<StageRun>,
    /// Why the first stage that could not start did not.
    failed: Option<ExecError>,
    end: PipelineEnd,
}

/// How the last pipeline ended.
#[derive(Default)]
struct PipelineEnd {
    exit_code: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    canceled: bool,
    still_open: bool,
}

/// One stage that runs.
struct Running {
    at: usize,
    _remains: RemainingProcesses,
    _scratch: Option<Scratch>,
}

impl PipelineWalk<'_> {
    /// Tells whether a pipeline runs after what came before it.
    fn comes_to(&mut self, when: When) -> bool {
        if self.end.timed_out || self.end.canceled {
            return false;
        }
        let first = self.ran.is_empty() && self.failed.is_none();
        if !first && (self.handle.is_stopped() || Instant::now() >= self.bounds.deadline) {
            self.end.canceled = self.handle.is_stopped();
            self.end.timed_out = !self.end.canceled;
            return false;
        }
        match when {
            When::Always => true,
            When::Succeeded => self.end.exit_code == Some(0),
            When::Failed => self.end.exit_code != Some(0),
        }
    }

    /// Starts every stage of a pipeline, connected, and watches them to their ends.
    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<(), ExecError> {
        let resources = |source| ExecError::Resources { source };
        let (output, output_end) = io::pipe().map_err(resources)?;
        let (errors, errors_end) = io::pipe().map_err(resources)?;
        let mut links = Vec::new();
        for _ in 1..pipeline.stages.len() {
            let (reader, writer) = io::pipe().map_err(resources)?;
            links.push((Some(reader), writer));
        }
        links.push((None, output_end));
        // From here on nothing returns early: what has started is watched to its end.
        let (mut children, mut running, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut absent = None;
        let mut input = None;
        for (at, (stage, (next_input, onward))) in pipeline.stages.iter().zip(links).enumerate() {
            let ends = StagePipes { input: input.take(), onward: &onward, errors: &errors_end };
            absent = None;
            match self.stage(stage, ends) {
                Ok((child, remains, scratch)) => {
                    self.handle.lead(Pid::from_child(&child));
                    children.push(child);
                    running.push(Running { at, _remains: remains, _scratch: scratch });
                }
                Err(error) if self.is_list => {
                    // As for a shell: what cannot start has ended, and the others go on.
                    absent = Some(error.exit_code().unwrap_or(126));
                    match stage.stderr {
                        Stderr::Errors => notes.push(said(&error)),
                        // Nobody else wrote into it, so that it has room.
                        Stderr::Next => drop((&onward).write_all(said(&error).as_bytes())),
                        Stderr::Null => {}
                    }
                    self.failed.get_or_insert(error);
                }
                // A single command: nothing has started.
                Err(error) => return Err(error),
            }
            input = next_input;
        }
        drop((errors_end, input));
        let ending = watch(&mut children, [output, errors], &mut self.streams, self.bounds, self.handle);
        notes.iter().for_each(|note| self.streams.say(note));
        self.end = ended(&ending, &running, pipeline.stages.len(), absent);
        Ok(())
    }

    /// Starts one stage inside its layers.
    fn stage(
        &mut self,
        stage: &Stage,
        ends: StagePipes<'_>,
    ) -> Result<(Child, RemainingProcesses, Option<Scratch>), ExecError> {
        let setting = self.setting;
        let first = stage.argv.first().ok_or(ExecError::Empty)?;
        let program = if self.confined {
            setting.programs.find(first)?
        } else {
            setting.programs.find_approved(first, &setting.cwd)?
        };
        let in_scratch = |source| ExecError::Scratch { source };
        let scratch =
            self.confined.then(|| Scratch::create(&setting.scratch)).transpose().map_err(in_scratch)?;
        let (layers, home) = match &scratch {
            Some(scratch) => {
                scratch.pin(&stage.profile.pins).map_err(in_scratch)?;
                let layers = SandboxLayers::safe(&stage.profile, setting, &program, scratch.path())
                    .map_err(in_scratch)?;
                (layers, home(&stage.profile, scratch.path()))
            }
            None => (SandboxLayers::approved(setting), Home::Real),
        };
        let mut environment = environment(&setting.environment, home);
        if stage.profile.kubeconfig {
            environment.extend(kubeconfig(&setting.environment));
        }
        let owners = scratch.as_ref().map(|scratch| socket_owners(&stage.profile, scratch)).transpose();
        let owners = owners.map_err(in_scratch)?.flatten();
        if let Some(owners) = &owners {
            environment.insert(OWNERS_VARIABLE.to_owned(), owners.root.clone().into());
        }
        let resources = |source| ExecError::Resources { source };
        let launch = Launch {
            program,
            arguments: &stage.argv,
            environment,
            cwd: &setting.cwd,
            streams: ends.streams(stage).map_err(resources)?,
        };
        let program = launch.program.clone();
        let SandboxedChild { child, mut confinement, remains } = layers.start(&program, || start(launch))?;
        confinement.limits.push(format!("time {} s", setting.limits.timeout.as_secs_f64()));
        confinement.limits.push(format!("output {} bytes of each stream", setting.limits.output));
        if owners.is_some_and(|owners| owners.is_cut) {
            confinement.limits.push("owners of the first sockets alone".to_owned());
        }
        self.ran.push(StageRun { program, confinement });
        Ok((child, remains, scratch))
    }

    /// Says its result; the error of the first stage where none could start.
    fn output(self, started: Instant) -> Result<Output, ExecError> {
        let mut ran = self.ran.into_iter();
        let Some(StageRun { program, confinement }) = ran.next() else {
            return Err(self.failed.unwrap_or(ExecError::Empty));
        };
        let [(stdout, stdout_total, stdout_truncated), (stderr, stderr_total, stderr_truncated)] =
            self.streams.into_parts();
        Ok(Output {
            exit_code: self.end.exit_code,
            signal: self.end.signal,
            stdout,
            stderr,
            stdout_total,
            stderr_total,
            stdout_truncated,
            stderr_truncated,
            timed_out: self.end.timed_out,
            canceled: self.end.canceled,
            still_open: self.end.still_open,
            duration: started.elapsed(),
            confinement,
            program,
            others: ran.collect(),
        })
    }
}

/// The end of a pipeline is that of its last stage.
fn ended(ending: &ProcessEnd, running: &[Running], stages: usize, absent: Option<i32>) -> PipelineEnd {
    let last = running.iter().position(|running| running.at + 1 == stages);
    let (exit_code, signal) = last.map_or((absent, None), |child| ending.of(child));
    PipelineEnd {
        exit_code,
        signal,
        timed_out: ending.timed_out,
        canceled: ending.canceled,
        still_open: ending.still_open,
    }
}

fn said(error: &ExecError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}\n")
}

fn home<'a>(profile: &Profile, scratch: &'a Path) -> Home<'a> {
    if profile.cloud { Home::Cloud(scratch) } else { Home::Scratch(scratch) }
}

/// Lists who holds which socket, where the command says so; it then runs as nobody where it also enters a namespace.
fn socket_owners(profile: &Profile, scratch: &Scratch) -> io::Result<Option<SocketOwners>> {
    let for_nobody = profile.namespace && geteuid().is_root();
    profile.socket_owners.then(|| list_socket_owners(scratch.path(), for_nobody)).transpose()
}

/// The ends of the pipes around one stage.
struct StagePipes<'a> {
    input: Option<PipeReader>,
    onward: &'a PipeWriter,
    errors: &'a PipeWriter,
}

impl StagePipes<'_> {
    /// Returns the three streams of a stage; the first one of a pipeline has nothing to read.
    fn streams(self, stage: &Stage) -> io::Result<[Stdio; 3]> {
        let to = |end: &PipeWriter| end.try_clone().map(Stdio::from);
        let stdout = match stage.stdout {
            Stdout::Next => to(self.onward)?,
            Stdout::Null => Stdio::null(),
        };
        let stderr = match stage.stderr {
            Stderr::Errors => to(self.errors)?,
            Stderr::Next => to(self.onward)?,
            Stderr::Null => Stdio::null(),
        };
        Ok([self.input.map_or_else(Stdio::null, Stdio::from), stdout, stderr])
    }
}

/// Everything about one start.
struct Launch<'a> {
    program: PathBuf,
    arguments: &'a [String],
    environment: BTreeMap<String, OsString>,
    cwd: &'a Path,
    streams: [Stdio; 3],
}

/// Starts the child as the leader of a group of its own.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that starts a process, and it has a permit"
)]
fn start(launch: Launch<'_>) -> io::Result<Child> {
    let mut command = Command::new(&launch.program);
    if let Some((name, arguments)) = launch.arguments.split_first() {
        command.arg0(name).args(arguments);
    }
    let [stdin, stdout, stderr] = launch.streams;
    command
        .env_clear()
        .envs(&launch.environment)
        .current_dir(launch.cwd)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0)
        .spawn()
}
