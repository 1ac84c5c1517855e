//! Programs that a script leaves running on a machine: what they print, how long they may go on, who ends them.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::guest::{ChangeCommand, Guest, Memory};
use crate::host::exec::Running;
use crate::host::script::{Files, ProgramResult};

/// The most bytes of its output that a machine can read.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// A program that was left running.
#[derive(Debug)]
pub(super) struct Background {
    running: Running,
    argv: Vec<String>,
    output: Option<File>,
    /// The machine's own file that it prints into.
    path: Option<String>,
    until: Option<Instant>,
}

impl Background {
    /// Says how long it may go on.
    pub(super) fn lasts(&mut self, time: Duration) {
        self.until = Instant::now().checked_add(time);
    }

    /// Says into which of the machine's files it prints.
    pub(super) fn prints_to(&mut self, path: &str) {
        self.path = Some(path.to_owned());
    }

    pub(super) fn number(&self) -> u32 {
        self.running.number()
    }
}

impl Guest {
    /// Starts a program and leaves it running; returns its number, and 0 where it could not be started.
    pub(super) fn leave_running(&self, argv: &[String]) -> u32 {
        let Ok(order) = self.order(argv, "") else { return 0 };
        let output = output(&self.lock);
        let into = output.as_ref().and_then(|file| file.try_clone().ok());
        let Ok(running) = order.start(into.or_else(|| File::create("/dev/null").ok())) else { return 0 };
        let number = running.number();
        let mut memory = self.memory();
        memory.steps.push(ChangeCommand { argv: argv.to_vec(), input: String::new(), runs: true });
        memory.background.push(Background { running, argv: argv.to_vec(), output, path: None, until: None });
        number
    }
}

impl Memory {
    /// Ends what was to run until now.
    pub(super) fn reap(&mut self) {
        let now = Instant::now();
        let late = |program: &Background| program.until.is_some_and(|until| until <= now);
        let numbers: Vec<u32> =
            self.background.iter().filter(|one| late(one)).map(Background::number).collect();
        for number in numbers {
            self.end(number);
        }
    }

    /// Ends a program of this machine; false where it has none of that number.
    fn end(&mut self, number: u32) -> bool {
        if let Some(at) = self.background.iter().position(|one| one.number() == number) {
            let ended = self.background.remove(at);
            // What is over is not begun again on a new machine.
            if let Some(step) = self.steps.iter().rposition(|step| step.runs && step.argv == ended.argv) {
                self.steps.remove(step);
            }
            return true;
        }
        let before = self.services.len();
        self.services.retain(|service| service.number() != number);
        self.services.len() < before
    }

    /// Answers `kill`: of this machine's own programs, and no others.
    pub(super) fn kill(&mut self, words: &[String]) -> ProgramResult {
        let mut called = ProgramResult::default();
        for text in words.iter().filter(|word| !word.starts_with('-')) {
            if !text.parse().is_ok_and(|number| self.end(number)) {
                called.err.push_str(&format!("bash: kill: ({text}) - No such process\n"));
                called.code = 1;
            }
        }
        called
    }

    /// Brings the machine's files up to what its programs printed.
    pub(super) fn printed(&self, files: &mut Files) {
        for program in &self.background {
            let (Some(path), Some(output)) = (&program.path, &program.output) else { continue };
            let mut content = vec![0; MAX_OUTPUT_BYTES];
            let count = output.read_at(&mut content, 0).unwrap_or(0);
            content.truncate(count);
            // A file that was removed stays so.
            if files.get(path).is_some_and(|file| file.content != content) {
                files.write(path, content);
            }
        }
    }
}

/// Opens a file without a name.
fn output(beside: &Path) -> Option<File> {
    let path = beside.with_extension("out");
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).ok()?;
    drop(std::fs::remove_file(&path));
    Some(file)
}
