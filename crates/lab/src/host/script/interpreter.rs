//! A shell without a process.

use std::time::Duration;

use super::file::Files;
use super::run::{Flow, Shell};
use crate::host::port::ScriptOutput;
use ghost_base::Timestamp;

/// The longest script.
const MAX_SCRIPT_BYTES: usize = 1 << 20;

/// A shell without a process: what scripts for machines are made of, and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::host) struct Interpreter;

impl Interpreter {
    /// Runs a script to its end.
    pub(in crate::host) fn run(
        self,
        text: &str,
        arguments: &[String],
        variables: &[(String, String)],
        calls: &mut dyn Calls,
    ) -> ScriptOutput {
        let begun = calls.now();
        if text.len() > MAX_SCRIPT_BYTES {
            let err = "bash: the script is too large\n".to_owned();
            return ScriptOutput { out: String::new(), err, code: 2, took: std::time::Duration::ZERO };
        }
        let mut shell = Shell::new(calls, arguments.to_vec());
        for (name, value) in [
            ("HOME", "/root"),
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("PWD", "/root"),
            ("USER", "root"),
        ] {
            shell.variables.insert(name.to_owned(), value.to_owned());
        }
        shell.variables.extend(variables.iter().cloned());
        let io = Shell::io();
        let flow = shell.inner(text, &io);
        let mut code = shell.status;
        let (out, mut err) = (shell.close(0), shell.close(1));
        if flow == Flow::Killed {
            err.extend_from_slice(b"Killed\n");
            code = code.max(1);
        }
        let took = shell.calls.now().since(begun);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        ScriptOutput { out: text(out), err: text(err), code, took }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::host) struct ProgramResult {
    /// Standard output.
    pub(in crate::host) out: String,
    /// Standard error.
    pub(in crate::host) err: String,
    /// The exit code.
    pub(in crate::host) code: u8,
    /// How long it took.
    pub(in crate::host) took: Duration,
}

impl ProgramResult {
    /// Makes one that printed something and went well.
    pub(in crate::host) fn printed(out: impl Into<String>) -> Self {
        Self { out: out.into(), ..Self::default() }
    }

    /// Makes one that complained and failed.
    pub(in crate::host) fn failed(code: u8, err: impl Into<String>) -> Self {
        Self { err: err.into(), code, ..Self::default() }
    }
}

/// The machine under a script. Text tools are the interpreter's own; everything else is called here.
pub(in crate::host) trait Calls {
    /// Runs a program and returns when it is done; when it returns, the time it took is over.
    fn call(&mut self, argv: &[String], input: &str) -> ProgramResult;

    /// Starts a program and leaves it running; returns its number.
    fn start(&mut self, argv: &[String]) -> u32;

    /// Says into which file a program prints that was left running.
    fn prints_to(&mut self, number: u32, path: &str) {
        let _ = (number, path);
    }

    /// Says how long a program that was left running may go on.
    fn lasts(&mut self, number: u32, time: Duration) {
        let _ = (number, time);
    }

    /// Says where a program lies, as in `/usr/sbin/tc`.
    fn find(&self, program: &str) -> Option<String>;

    /// Returns the files that scripts wrote, and those that were there before.
    fn files(&mut self) -> &mut Files;

    /// Returns a file that is made up as it is read, as in `/proc/net/dev`.
    fn read(&mut self, path: &str) -> Option<String>;

    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Lets time pass.
    fn sleep(&mut self, time: Duration);
}
