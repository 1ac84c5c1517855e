//! Facts about running processes, with real ones.

mod lists;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tempfile::TempDir;

use crate::exec::run;
use crate::{
    Cancel, CancelSignal, ExecError, Limits, Output, Permit, ProcessBound, Profile, Programs, Reviewer,
    Ruling, Setting, Tier, Verdict,
};

/// A place to run commands in, removed with the value.
pub(crate) struct TestFolder {
    pub(crate) folder: TempDir,
    pub(crate) setting: Setting,
}

impl TestFolder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let environment = [("HOME", inside("home").into_os_string()), ("SLACK_BOT_TOKEN", "xoxb".into())];
        let setting = Setting {
            limits: Limits { timeout: Duration::from_secs(30), ..Limits::default() },
            scratch: inside("scratch"),
            captures: inside("captures"),
            cwd: inside("work"),
            environment: environment.map(|(name, value)| (name.to_owned(), value)).into(),
            programs: Programs::default(),
            bound: ProcessBound::Cgroup,
        };
        Self { folder, setting }
    }

    pub(crate) fn within(mut self, timeout: Duration) -> Self {
        self.setting.limits.timeout = timeout;
        self
    }

    pub(crate) async fn safe(&self, words: &[&str], profile: Profile) -> Output {
        run(safe(words, profile), &self.setting, CancelSignal::never()).await.unwrap()
    }

    /// Runs words as a human approves them: without a sandbox.
    pub(crate) async fn outside(&self, words: &[&str]) -> Output {
        run(approved_words(words), &self.setting, CancelSignal::never()).await.unwrap()
    }

    async fn text(&self, text: &str) -> Output {
        run(approved(text), &self.setting, CancelSignal::never()).await.unwrap()
    }

    pub(crate) fn scratch_is_empty(&self) -> bool {
        fs::read_dir(&self.setting.scratch).unwrap().next().is_none()
    }

    fn fifo(&self) -> PathBuf {
        let path = self.setting.cwd.join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        path
    }
}

fn ruling(verdict: Verdict, argv: Option<Vec<String>>, profile: Profile) -> Ruling {
    let (rule, reason) = ("test".into(), "a test".into());
    Ruling { verdict, tier: Tier::Program, rule, reason, argv, profile, ..Ruling::default() }
}

pub(crate) fn safe(words: &[&str], mut profile: Profile) -> Permit {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    profile.programs.extend(words.first().cloned());
    Permit::for_safe(&ruling(Verdict::Safe, Some(words), profile)).unwrap()
}

fn approved(text: &str) -> Permit {
    Permit::approved(Reviewer::new("U1"), text, &ruling(Verdict::Risky, None, Profile::default())).unwrap()
}

fn approved_words(words: &[&str]) -> Permit {
    let words = words.iter().map(|&word| word.to_owned()).collect();
    let ruling = ruling(Verdict::Risky, Some(words), Profile::default());
    Permit::approved(Reviewer::new("U1"), "", &ruling).unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap().trim_end()
}

/// Waits until a process has ended; fails where it lives on.
#[track_caller]
fn ends(process: &str) {
    let number = Pid::from_raw(process.trim().parse().unwrap()).unwrap();
    let Ok(process) = pidfd_open(number, PidfdFlags::empty()) else { return };
    let patience = Timespec::try_from(Duration::from_secs(10)).unwrap();
    let ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&patience)).unwrap();
    assert_eq!(ended, 1, "process {number:?} is still running");
}

#[tokio::test]
async fn a_command_that_fails_is_an_output() {
    let output = TestFolder::new().text("echo out; echo err >&2; exit 3").await;
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("out", "err"));
    assert_eq!((output.exit_code, output.signal, output.still_open), (Some(3), None, false));
}

#[tokio::test]
async fn a_signal_is_reported_instead_of_an_exit_code() {
    let output = TestFolder::new().text("kill -9 $$").await;
    assert_eq!((output.exit_code, output.signal), (None, Some(9)));
}

#[tokio::test]
async fn a_timeout_kills_grandchildren_and_keeps_what_was_printed() {
    let place = TestFolder::new().within(Duration::from_millis(300));
    let output = place.text("sleep 300 & echo $!; sleep 300").await;
    assert!(output.timed_out && !output.canceled && output.exit_code.is_none());
    assert!(output.duration < Duration::from_secs(10), "{:?}", output.duration);
    ends(text(&output.stdout));
}

#[tokio::test]
async fn a_group_that_ignores_the_request_to_end_is_killed() {
    let place = TestFolder::new().within(Duration::from_millis(100));
    let output = place.text("trap '' TERM; sleep 300 & echo $!; wait; wait; sleep 300").await;
    assert_eq!((output.timed_out, output.signal), (true, Some(9)));
    ends(text(&output.stdout));
}

#[tokio::test]
async fn a_command_may_end_well_when_asked() {
    let place = TestFolder::new().within(Duration::from_millis(100));
    let output = place.text("trap 'echo bye; exit 7' TERM; sleep 300 & wait").await;
    assert_eq!((output.timed_out, output.exit_code, text(&output.stdout)), (true, Some(7), "bye"));
}

#[tokio::test]
async fn a_cancellation_ends_a_command_and_keeps_what_was_printed() {
    let place = TestFolder::new();
    let (cancel, signal) = Cancel::new();
    let fifo = place.fifo();
    let started = tokio::task::spawn_blocking(move || fs::read_to_string(fifo).unwrap());
    let canceling = async {
        started.await.unwrap();
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(
        run(approved("echo early; echo up > fifo; sleep 300"), &place.setting, signal),
        canceling
    );
    let output = output.unwrap();
    assert_eq!((output.canceled, output.timed_out, text(&output.stdout)), (true, false, "early"));
}

#[tokio::test]
async fn a_cancellation_that_came_first_still_ends_the_command() {
    let (cancel, signal) = Cancel::new();
    cancel.cancel();
    let place = TestFolder::new();
    let output = run(approved("sleep 300"), &place.setting, signal).await.unwrap();
    assert!(output.canceled);
}

#[tokio::test]
async fn dropping_the_future_kills_the_group() {
    let place = TestFolder::new();
    let fifo = place.fifo();
    let started = tokio::task::spawn_blocking(move || fs::read_to_string(fifo).unwrap());
    let running =
        run(approved("sleep 300 & echo $! $$ > fifo; sleep 300"), &place.setting, CancelSignal::never());
    let processes = tokio::select! {
        output = running => panic!("it ended: {output:?}"),
        processes = started => processes.unwrap(),
    };
    processes.split_ascii_whitespace().for_each(ends);
}

#[tokio::test]
async fn what_an_approved_command_leaves_running_is_left_and_said() {
    let place = TestFolder::new();
    let output = place.text("sleep 5 & echo $!").await;
    assert!(output.still_open && output.exit_code == Some(0) && output.duration < Duration::from_secs(4));
    let left = Pid::from_raw(text(&output.stdout).parse().unwrap()).unwrap();
    rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_hundred_megabytes_are_read_to_the_end_and_kept_to_the_limit() {
    let mut place = TestFolder::new();
    place.setting.limits.output = 1024 * 1024;
    let output = place.text("head -c 100000000 /dev/zero").await;
    assert_eq!((output.exit_code, output.stdout_total), (Some(0), 100_000_000));
    assert!(output.stdout_truncated && !output.stderr_truncated);
    assert_eq!(output.stdout.len(), 1024 * 1024);
    assert!(output.stdout.capacity() <= 2 * 1024 * 1024, "{}", output.stdout.capacity());
}

#[tokio::test]
async fn an_endless_output_ends_with_the_time() {
    let place = TestFolder::new().within(Duration::from_millis(300));
    let output = place.text("yes").await;
    assert!(output.timed_out && output.stdout_total > 0);
}

#[tokio::test]
async fn bytes_that_are_no_text_arrive_as_they_are() {
    let output = TestFolder::new().text(r"printf '\377\000\376'").await;
    assert_eq!(output.stdout, [0xff, 0, 0xfe]);
}

#[tokio::test]
async fn standard_input_is_empty() {
    let place = TestFolder::new();
    let output = run(approved_words(&["cat"]), &place.setting, CancelSignal::never()).await.unwrap();
    assert_eq!((output.exit_code, output.stdout_total), (Some(0), 0));
}

#[tokio::test]
async fn an_approved_command_sees_a_clean_environment_and_the_real_home() {
    let place = TestFolder::new();
    let output = run(approved_words(&["env"]), &place.setting, CancelSignal::never()).await.unwrap();
    let seen: BTreeMap<&str, &str> =
        text(&output.stdout).lines().filter_map(|line| line.split_once('=')).collect();
    assert_eq!(
        seen.keys().copied().collect::<Vec<_>>(),
        ["AZURE_EXTENSION_USE_DYNAMIC_INSTALL", "HOME", "LC_ALL", "PAGER", "PATH", "SYSTEMD_PAGER", "TERM"]
    );
    let home = place.setting.environment.get("HOME").cloned();
    assert_eq!(seen.get("HOME").map(OsString::from), home);
}

#[tokio::test]
async fn words_are_passed_as_they_are() {
    let place = TestFolder::new();
    let words = approved_words(&["printf", "%s|", "a b", "$HOME", ";", "*"]);
    let output = run(words, &place.setting, CancelSignal::never()).await.unwrap();
    assert_eq!(text(&output.stdout), "a b|$HOME|;|*|");
    assert!(output.program.is_absolute());
}

#[track_caller]
fn refused(outcome: Result<Output, ExecError>) -> ExecError {
    outcome.map(|output| panic!("it ran: {output:?}")).unwrap_err()
}

#[tokio::test]
async fn a_missing_program_is_exit_127_with_a_hint() {
    let place = TestFolder::new();
    for words in [["no-such-program"], ["./no-such-program"]] {
        let error = refused(run(approved_words(&words), &place.setting, CancelSignal::never()).await);
        assert_eq!(error.exit_code(), Some(127), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("install it")));
    }
}

#[tokio::test]
async fn a_missing_interpreter_is_exit_127_too() {
    let place = TestFolder::new();
    let script = place.setting.cwd.join("script");
    fs::write(&script, "#!/nonexistent/interpreter\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = refused(run(approved_words(&["./script"]), &place.setting, CancelSignal::never()).await);
    assert_eq!(error.exit_code(), Some(127), "{error}");
}

#[tokio::test]
async fn a_file_that_cannot_run_is_exit_126() {
    let place = TestFolder::new();
    fs::write(place.setting.cwd.join("notes"), "").unwrap();
    let error = refused(run(approved_words(&["./notes"]), &place.setting, CancelSignal::never()).await);
    assert_eq!(error.exit_code(), Some(126), "{error}");
}

#[tokio::test]
async fn a_nul_character_runs_nothing() {
    let place = TestFolder::new();
    let error = refused(run(approved_words(&["echo", "a\0b"]), &place.setting, CancelSignal::never()).await);
    assert!(matches!(error, ExecError::NulCharacter));
}

#[tokio::test]
async fn no_words_run_nothing() {
    let place = TestFolder::new();
    let error = refused(run(approved_words(&[]), &place.setting, CancelSignal::never()).await);
    assert!(matches!(error, ExecError::Empty));
}

/// Both run on a runtime of one thread, which the slow one must not hold.
#[tokio::test]
async fn commands_run_side_by_side() {
    let place = TestFolder::new();
    let started = Instant::now();
    let slow = || run(approved("sleep 1"), &place.setting, CancelSignal::never());
    let outputs = tokio::join!(slow(), slow(), slow(), slow());
    assert!([outputs.0, outputs.1, outputs.2, outputs.3].iter().all(|output| output.is_ok()));
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn many_commands_at_once_do_not_mix_their_output() {
    let place = TestFolder::new();
    let mut runs = tokio::task::JoinSet::new();
    for number in 0..60 {
        let setting = place.setting.clone();
        runs.spawn(async move {
            let word = number.to_string();
            let permit = safe(&["echo", &word], Profile::default());
            let output = run(permit, &setting, CancelSignal::never()).await.unwrap();
            (word, text(&output.stdout).to_owned())
        });
    }
    for (word, printed) in runs.join_all().await {
        assert_eq!(word, printed);
    }
    assert!(place.scratch_is_empty() && Path::new(&place.setting.scratch).exists());
}
