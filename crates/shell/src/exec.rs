//! The only file of the crate that starts a process, and only for a [`Permit`].
//!
//! Goes in: a permit, which is used up. Comes out: what the commands printed and how they ended. Never: a terminal, our
//! standard input, our environment, a process that nobody watches, a blocked runtime.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, Builder, JoinHandle};
use std::time::Instant;

use rustix::io::{FdFlags, fcntl_setfd};
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
    CancelSignal, ExecError, List, Output, Permit, Pipeline, Profile, Setting, Stage, StageRun, Stderr,
    Stdout, When,
};

const SHELL: &str = "/bin/sh";

/// Held for writing while a child is started that inherits the pipes of `<( … )`, so that no other child inherits them.
static INHERITANCE: RwLock<()> = RwLock::new(());

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
    let list = List { pipelines };
    let stages = list.stages();
    if stages.is_empty() || stages.iter().any(|stage| stage.argv.is_empty()) {
        return Err(ExecError::Empty);
    }
    if stages.iter().any(|stage| stage.argv.iter().any(|word| word.contains('\0'))) {
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
        sink: None,
        ran: Vec::new(),
        failed: None,
        end: PipelineEnd::default(),
    };
    walk.list(&list)?;
    walk.output(started)
}

/// Returns what is to run, and whether one end of several decides about the others.
fn pipelines(permit: &Permit) -> (Vec<Pipeline>, bool) {
    let alone = |argv: Vec<String>| {
        let profile = permit.profile().cloned().unwrap_or_default();
        let fills = BTreeMap::new();
        let stage = Stage { argv, profile, stdout: Stdout::Next, stderr: Stderr::Errors, fills };
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
    /// Where the output of the pipelines goes, if not to the streams: into the pipe of `<( … )`.
    sink: Option<PipeWriter>,
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

/// What stands in the place of a word of a stage: the end of a pipe with the output of a list.
struct Feed<'p> {
    /// The stage and the word.
    place: (usize, usize),
    list: &'p List,
    reader: Option<PipeReader>,
    writer: PipeWriter,
    handle: Arc<Handle>,
}

impl Feed<'_> {
    /// Runs the list to its end; returns what it said beside its output, and what ran.
    fn run(self, setting: &Setting, bounds: PipelineLimits, confined: bool) -> (Streams, Vec<StageRun>) {
        let mut walk = PipelineWalk {
            setting,
            handle: &self.handle,
            bounds,
            confined,
            is_list: true,
            streams: Streams::new(setting.limits.output),
            sink: Some(self.writer),
            ran: Vec::new(),
            failed: None,
            end: PipelineEnd::default(),
        };
        if let Err(error) = walk.list(self.list) {
            walk.streams.say(&said(&error));
        }
        (walk.streams, walk.ran)
    }
}

/// One stage that runs.
struct Running {
    at: usize,
    _remains: RemainingProcesses,
    _scratch: Option<Scratch>,
}

impl PipelineWalk<'_> {
    /// Runs the pipelines of a list, one after the other.
    fn list(&mut self, list: &List) -> Result<(), ExecError> {
        for pipeline in &list.pipelines {
            if self.comes_to(pipeline.when) {
                self.pipeline(pipeline)?;
            }
        }
        Ok(())
    }

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

    /// Runs a pipeline, and beside it the lists whose output its stages read through pipes.
    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<(), ExecError> {
        let mut feeds = self.feeds(pipeline).map_err(|source| ExecError::Resources { source })?;
        let readers = feeds.iter_mut().filter_map(|feed| Some((feed.place, feed.reader.take()?))).collect();
        let (setting, bounds, confined) = (self.setting, self.bounds, self.confined);
        let handles: Vec<_> = feeds.iter().map(|feed| Arc::clone(&feed.handle)).collect();
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for feed in feeds {
                let named = Builder::new().name("ghost-feed".to_owned());
                match named.spawn_scoped(scope, move || feed.run(setting, bounds, confined)) {
                    Ok(thread) => threads.push(thread),
                    // Its end of the pipe is gone with it, so that its reader finds an empty file.
                    Err(source) => self.streams.say(&said(&ExecError::Resources { source })),
                }
            }
            let went = self.stages(pipeline, readers);
            handles.iter().for_each(|handle| handle.abandon());
            for (streams, ran) in threads.into_iter().filter_map(|thread| thread.join().ok()) {
                self.streams.add_errors(&streams);
                self.ran.extend(ran);
            }
            went
        })
    }

    /// Makes a pipe for each word of a pipeline that stands for the output of a list.
    fn feeds<'p>(&self, pipeline: &'p Pipeline) -> io::Result<Vec<Feed<'p>>> {
        let mut feeds = Vec::new();
        for (at, stage) in pipeline.stages.iter().enumerate() {
            for (word, list) in stage.outputs() {
                let (reader, writer) = io::pipe()?;
                let handle = self.handle.beside()?;
                feeds.push(Feed { place: (at, word), list, reader: Some(reader), writer, handle });
            }
        }
        Ok(feeds)
    }

    /// Starts every stage of a pipeline, connected, and watches them to their ends.
    fn stages(
        &mut self,
        pipeline: &Pipeline,
        mut readers: BTreeMap<(usize, usize), PipeReader>,
    ) -> Result<(), ExecError> {
        let resources = |source| ExecError::Resources { source };
        let (output, output_end) = io::pipe().map_err(resources)?;
        let output_end = match &self.sink {
            Some(sink) => {
                // Nothing is read from the pipe of our own: it ends at once.
                drop(output_end);
                sink.try_clone().map_err(resources)?
            }
            None => output_end,
        };
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
            let later = readers.split_off(&(at + 1, 0));
            let files = std::mem::replace(&mut readers, later);
            let files = files.into_iter().map(|((_, word), reader)| (word, reader)).collect();
            let ends = StagePipes { input: input.take(), onward: &onward, errors: &errors_end, files };
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
        let argv = without_builtin(&stage.argv);
        let first = argv.first().ok_or(ExecError::Empty)?;
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
        let mut arguments = argv.to_vec();
        for (at, reader) in &ends.files {
            arguments
                .get_mut(*at)
                .into_iter()
                .for_each(|word| *word = format!("/dev/fd/{}", reader.as_raw_fd()));
        }
        let files: Vec<PipeReader> = ends.files.into_values().collect();
        let launch = Launch {
            program,
            arguments: &arguments,
            environment,
            cwd: &setting.cwd,
            streams: streams(stage, ends.input, ends.onward, ends.errors).map_err(resources)?,
        };
        let program = launch.program.clone();
        let SandboxedChild { child, mut confinement, remains } = if files.is_empty() {
            let _others = INHERITANCE.read().unwrap_or_else(PoisonError::into_inner);
            layers.start(&program, || start(launch))?
        } else {
            let _alone = INHERITANCE.write().unwrap_or_else(PoisonError::into_inner);
            for file in &files {
                fcntl_setfd(file.as_fd(), FdFlags::empty()).map_err(|error| resources(error.into()))?;
            }
            let started = layers.start(&program, || start(launch));
            // No child that is started later inherits them.
            drop(files);
            started?
        };
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

/// `type` and `command -v` are part of a shell, and `which` answers the same question.
fn without_builtin(argv: &[String]) -> Cow<'_, [String]> {
    let names = match argv {
        [program, names @ ..] if program == "type" => names,
        [program, option, names @ ..] if program == "command" && option == "-v" => names,
        _ => return argv.into(),
    };
    std::iter::once("which".to_owned()).chain(names.iter().cloned()).collect::<Vec<_>>().into()
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
    /// What it reads in the place of a word, by the word's index.
    files: BTreeMap<usize, PipeReader>,
}

/// Returns the three streams of a stage; the first one of a pipeline has nothing to read.
fn streams(
    stage: &Stage,
    input: Option<PipeReader>,
    onward: &PipeWriter,
    errors: &PipeWriter,
) -> io::Result<[Stdio; 3]> {
    let to = |end: &PipeWriter| end.try_clone().map(Stdio::from);
    let stdout = match stage.stdout {
        Stdout::Next => to(onward)?,
        Stdout::Null => Stdio::null(),
    };
    let stderr = match stage.stderr {
        Stderr::Errors => to(errors)?,
        Stderr::Next => to(onward)?,
        Stderr::Null => Stdio::null(),
    };
    Ok([input.map_or_else(Stdio::null, Stdio::from), stdout, stderr])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_shell_has_is_answered_by_a_program() {
        let runs = |line: &str| {
            let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
            without_builtin(&argv).join(" ")
        };
        assert_eq!(runs("type -a nft"), "which -a nft");
        assert_eq!(runs("command -v nft ip"), "which nft ip");
        assert_eq!(runs("command nft"), "command nft");
        assert_eq!(runs("which type"), "which type");
    }
}
