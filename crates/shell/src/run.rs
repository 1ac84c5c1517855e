//! Who carries out what is permitted: this machine, or a list of recordings.
//!
//! Goes in: a permit, which is used up. Comes out: what was printed and how it ended. Never: a run without the gate: whoever
//! runs sees a command only behind judgement, consent and the record of the intent.

use std::time::Duration;

use async_trait::async_trait;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::permit::Form;
use crate::policy::quote;
use crate::{CancelSignal, ExecError, Output, Permit, Setting, exec};

/// Carries out what is permitted.
#[async_trait]
pub trait Runner: Send + Sync {
    /// Runs what the permit permits, and waits for its end.
    ///
    /// # Errors
    /// Fails where nothing ran. A command that failed by itself is an [`Output`].
    async fn run(&self, permit: Permit, setting: &Setting, cancel: CancelSignal)
    -> Result<Output, ExecError>;

    /// Tells whether it starts processes of this machine, which a sandbox has to confine.
    fn starts_processes(&self) -> bool {
        true
    }

    /// Says in which turn of a session the commands that follow are asked for, so that the same read need not be made twice in it.
    /// Outside of a turn nothing is known from one command to the next.
    fn begin_turn(&self, _turn: Option<u64>) {}

    /// Tells whether it carries this out as the identity by itself, so that nobody has to be signed in to `az` before.
    fn brings_identity(&self, _permit: &Permit, _setting: &Setting) -> bool {
        false
    }
}

/// Runs processes of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Processes;

#[async_trait]
impl Runner for Processes {
    async fn run(
        &self,
        permit: Permit,
        setting: &Setting,
        cancel: CancelSignal,
    ) -> Result<Output, ExecError> {
        exec::run(permit, setting, cancel).await
    }
}

/// A pattern that takes more memory than this is refused.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// What a shell says of a program that is not there.
const NOT_FOUND: i32 = 127;

/// What one command printed, once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Which commands it answers: a regular expression for the whole line, each word quoted as a shell would have it, commands
    /// of a list joined by ` | `, ` && `, ` || ` and `; `.
    pub command: String,
    /// Where it comes from, for whoever reads the file.
    pub origin: String,
    /// How it ended.
    #[serde(default)]
    pub exit_code: i32,
    /// What it printed.
    #[serde(default)]
    pub stdout: String,
    /// What it printed beside that.
    #[serde(default)]
    pub stderr: String,
    /// How long it took.
    #[serde(default)]
    pub millis: u64,
}

/// Why a text is no list of recordings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no recording: {what}")]
pub struct RecordingError {
    /// Which, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// The recordings, the first that fits answering.
#[derive(Debug, Clone)]
pub struct Recorded {
    recordings: Vec<(Regex, Recording)>,
    longest: Duration,
}

impl Recorded {
    /// Reads recordings, a JSON object a line. Empty lines say nothing.
    ///
    /// No answer takes longer than `longest`, however long it took when it was recorded.
    ///
    /// # Errors
    /// Says which line is no recording.
    pub fn parse(text: &str, longest: Duration) -> Result<Self, RecordingError> {
        let lines = text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty());
        let read = |(text, line): (&str, usize)| {
            let wrong = |what: String| RecordingError { line, what };
            let recording: Recording =
                serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
            let pattern = RegexBuilder::new(&format!("^(?:{})$", recording.command))
                .size_limit(MAX_PATTERN_BYTES)
                .build()
                .map_err(|error| wrong(error.to_string()))?;
            Ok((pattern, recording))
        };
        Ok(Self { recordings: lines.map(read).collect::<Result<_, _>>()?, longest })
    }

    /// Returns the recordings.
    pub fn recordings(&self) -> impl Iterator<Item = &Recording> {
        self.recordings.iter().map(|(_, recording)| recording)
    }

    fn find(&self, line: &str) -> Option<&Recording> {
        self.recordings.iter().find(|(pattern, _)| pattern.is_match(line)).map(|(_, recording)| recording)
    }
}

#[async_trait]
impl Runner for Recorded {
    fn starts_processes(&self) -> bool {
        false
    }

    async fn run(
        &self,
        permit: Permit,
        _setting: &Setting,
        mut cancel: CancelSignal,
    ) -> Result<Output, ExecError> {
        let line = match permit.form() {
            Form::Words(words) => words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
            Form::List(list) => list.to_string(),
            Form::Text(text) => text.trim().to_owned(),
        };
        let Some(found) = self.find(&line) else {
            let message =
                "there is no recording of this command, and nothing runs here: this is a demonstration\n";
            return Ok(output(NOT_FOUND, String::new(), message.to_owned(), Duration::ZERO));
        };
        let took = Duration::from_millis(found.millis);
        tokio::select! {
            () = tokio::time::sleep(took.min(self.longest)) => {
                Ok(output(found.exit_code, found.stdout.clone(), found.stderr.clone(), took))
            }
            () = cancel.canceled() => {
                let mut stopped = output(0, String::new(), String::new(), Duration::ZERO);
                (stopped.exit_code, stopped.canceled) = (None, true);
                Ok(stopped)
            }
        }
    }
}

fn output(exit_code: i32, stdout: String, stderr: String, duration: Duration) -> Output {
    Output::answered(exit_code, stdout.into_bytes(), stderr.into_bytes(), duration, "(a recording)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Policy, ProcessBound, Programs, Reviewer};
    use std::path::PathBuf;

    fn setting() -> Setting {
        Setting {
            limits: Limits::default(),
            scratch: PathBuf::new(),
            captures: PathBuf::new(),
            cwd: PathBuf::new(),
            environment: std::collections::BTreeMap::new(),
            programs: Programs::default(),
            bound: ProcessBound::Off,
        }
    }

    fn permit(command: &str) -> Permit {
        let ruling = Policy::builtin().unwrap().classify(command);
        Permit::approved(Reviewer::new("ana"), command, &ruling).unwrap()
    }

    fn recorded(lines: &str) -> Recorded {
        Recorded::parse(lines, Duration::ZERO).unwrap()
    }

    #[tokio::test]
    async fn the_first_recording_that_fits_answers() {
        let lines = "{\"command\":\"iperf -c 10\\\\.0\\\\.1\\\\.5 -t [0-9]+\",\"origin\":\"here\",\"exit_code\":1,\"stdout\":\"a\",\"stderr\":\"b\",\"millis\":1500}\n\n\
             {\"command\":\"iperf .*\",\"origin\":\"here\"}";
        let runner = recorded(lines);
        let answer = |command: &'static str| {
            let runner = runner.clone();
            async move { runner.run(permit(command), &setting(), CancelSignal::never()).await.unwrap() }
        };
        let first = answer("iperf -c '10.0.1.5' -t 2").await;
        assert_eq!((first.exit_code, first.stdout, first.stderr), (Some(1), b"a".to_vec(), b"b".to_vec()));
        assert_eq!(first.duration, Duration::from_millis(1500), "as it was recorded");
        assert!(first.confinement.summary().contains("nothing ran"), "{}", first.confinement.summary());
        assert_eq!(answer("iperf -s").await.exit_code, Some(0));
    }

    #[tokio::test]
    async fn a_list_is_answered_as_the_line_that_it_is() {
        use crate::{List, Pipeline, Profile, Ruling, Stage, Stderr, Stdout, Verdict, When};
        let stage = |words: &[&str], stderr| Stage {
            argv: words.iter().map(|&word| word.to_owned()).collect(),
            profile: Profile::default(),
            stdout: Stdout::Next,
            stderr,
            fills: std::collections::BTreeMap::new(),
        };
        let pipelines = vec![
            Pipeline {
                when: When::Always,
                stages: vec![stage(&["ss", "-tln"], Stderr::Null), stage(&["grep", "a b"], Stderr::Errors)],
            },
            Pipeline { when: When::Failed, stages: vec![stage(&["uptime"], Stderr::Next)] },
        ];
        let list = Some(List { pipelines });
        let ruling = Ruling { verdict: Verdict::Safe, list, ..Ruling::default() };
        let lines = "{\"command\":\"ss -tln 2>/dev/null \\\\| grep 'a b' \\\\|\\\\| uptime 2>&1\",\"origin\":\"here\",\"stdout\":\"x\"}";
        let permit = Permit::for_safe(&ruling).unwrap();
        let output = recorded(lines).run(permit, &setting(), CancelSignal::never()).await.unwrap();
        assert_eq!((output.exit_code, output.stdout), (Some(0), b"x".to_vec()));
    }

    #[tokio::test]
    async fn what_was_not_recorded_says_so_and_runs_nothing() {
        let mark = tempfile::tempdir().unwrap().path().join("mark");
        let command = format!("touch {}", mark.display());
        let output = recorded("").run(permit(&command), &setting(), CancelSignal::never()).await.unwrap();
        assert_eq!(output.exit_code, Some(127));
        assert!(String::from_utf8(output.stderr).unwrap().contains("no recording"));
        assert!(!mark.exists());
    }

    #[tokio::test]
    async fn a_stop_ends_the_wait() {
        let lines = "{\"command\":\"date -u\",\"origin\":\"here\",\"millis\":3600000}";
        let runner = Recorded::parse(lines, Duration::from_secs(3600)).unwrap();
        let (cancel, stop) = crate::Cancel::new();
        cancel.cancel();
        let output = runner.run(permit("date -u"), &setting(), stop).await.unwrap();
        assert_eq!((output.exit_code, output.canceled), (None, true));
    }

    #[test]
    fn a_line_that_is_no_recording_is_named() {
        let wrong = |text: &str| Recorded::parse(text, Duration::ZERO).unwrap_err();
        assert_eq!(wrong("\n{\"command\":\"(\",\"origin\":\"\"}").line, 2);
        assert_eq!(wrong("{\"command\":\"a\"}").line, 1);
        assert!(wrong("{\"command\":\"a{1000}{1000}\",\"origin\":\"\"}").what.contains("size"), "too large");
    }
}
