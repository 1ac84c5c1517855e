//! What a running script knows, and its bounds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::host::script::interpreter::Calls;
use crate::host::script::parse::SyntaxError;
use crate::host::script::tree::Command;
use ghost_base::Timestamp;

/// How many commands a script may run.
const MAX_COMMANDS: u32 = 100_000;
/// How many bytes a script may print or hand on.
const MAX_OUTPUT_BYTES: usize = 32 << 20;
/// So deep functions, substitutions and shells may stand in each other.
const MAX_DEPTH: usize = 24;
/// How long the platform lets a script run.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(90 * 60);

/// A shell that runs.
pub(in crate::host::script) struct Shell<'a> {
    pub(in crate::host::script) calls: &'a mut dyn Calls,
    pub(in crate::host::script) variables: BTreeMap<String, String>,
    pub(super) functions: BTreeMap<String, Rc<Command>>,
    pub(super) arguments: Vec<String>,
    pub(super) options: Options,
    pub(in crate::host::script) status: u8,
    pub(super) begun: Timestamp,
    /// When `timeout` ends it.
    pub(in crate::host::script) limit: Option<Timestamp>,
    pub(super) started: Option<u32>,
    pub(super) line: usize,
    pub(super) conditional: u32,
    pub(super) substituted: bool,
    depth: usize,
    steps: u32,
    bytes: usize,
    buffers: Vec<Vec<u8>>,
}

/// What `set` sets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) errexit: bool,
    pub(super) nounset: bool,
    pub(super) pipefail: bool,
    pub(super) trace: bool,
}

/// How it goes on behind a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host::script) enum Flow {
    Next,
    Break(u32),
    Continue(u32),
    Return,
    Exit,
    /// The script took more than it may.
    Killed,
}

/// Where a descriptor leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host::script) enum Target {
    Buffer(usize),
    File(String),
    Null,
}

/// What a command reads, and where it writes.
#[derive(Debug, Clone)]
pub(in crate::host::script) struct Io {
    pub(in crate::host::script) input: Rc<RefCell<Input>>,
    pub(super) targets: BTreeMap<u32, Target>,
}

/// An input, and how far it was read.
#[derive(Debug, Default)]
pub(in crate::host::script) struct Input {
    pub(super) bytes: Vec<u8>,
    pub(super) at: usize,
}

impl Input {
    pub(super) fn of(bytes: Vec<u8>) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self { bytes, at: 0 }))
    }

    /// Takes what is left.
    pub(in crate::host::script) fn rest(&mut self) -> Vec<u8> {
        let rest = self.bytes.get(self.at..).unwrap_or_default().to_vec();
        self.at = self.bytes.len();
        rest
    }

    /// Takes a line without its end; nothing at the end of the input.
    pub(super) fn line(&mut self) -> Option<(Vec<u8>, bool)> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().to_vec();
        self.at += line.len() + usize::from(end.is_some());
        Some((line, end.is_some()))
    }
}

impl<'a> Shell<'a> {
    pub(in crate::host::script) fn new(calls: &'a mut dyn Calls, arguments: Vec<String>) -> Self {
        let begun = calls.now();
        Self {
            calls,
            variables: BTreeMap::new(),
            functions: BTreeMap::new(),
            arguments,
            options: Options::default(),
            status: 0,
            begun,
            limit: None,
            started: None,
            line: 1,
            conditional: 0,
            substituted: false,
            depth: 0,
            steps: 0,
            bytes: 0,
            buffers: vec![Vec::new(), Vec::new()],
        }
    }

    /// Returns what a script begins with.
    pub(in crate::host::script) fn io() -> Io {
        let targets = BTreeMap::from([(1, Target::Buffer(0)), (2, Target::Buffer(1))]);
        Io { input: Input::of(Vec::new()), targets }
    }

    /// Counts a command; a script that takes more than it may is ended, as by a machine that runs out.
    pub(super) fn step(&mut self) -> Flow {
        self.steps += 1;
        let late = self.calls.now().since(self.begun) > SCRIPT_TIMEOUT;
        if self.steps > MAX_COMMANDS || self.bytes > MAX_OUTPUT_BYTES || late {
            self.status = 137;
            return Flow::Killed;
        }
        if self.limit.is_some_and(|limit| self.calls.now() >= limit) {
            self.status = 124;
            return Flow::Exit;
        }
        Flow::Next
    }

    /// Counts bytes that are held or copied.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Flow> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= MAX_OUTPUT_BYTES {
            return Ok(());
        }
        self.status = 137;
        Err(Flow::Killed)
    }

    /// Goes one deeper.
    pub(super) fn deeper(&mut self) -> Result<(), Flow> {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        self.depth -= 1;
        self.status = 139;
        Err(Flow::Killed)
    }

    pub(super) fn shallower(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Writes bytes to a descriptor.
    pub(in crate::host::script) fn put(&mut self, io: &Io, descriptor: u32, bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_OUTPUT_BYTES {
            return;
        }
        match io.targets.get(&descriptor) {
            Some(Target::Buffer(number)) => {
                if let Some(buffer) = self.buffers.get_mut(*number) {
                    buffer.extend_from_slice(bytes);
                }
            }
            Some(Target::File(path)) => {
                let mut content =
                    self.calls.files().get(path).map(|file| file.content.clone()).unwrap_or_default();
                // What is copied counts too, or appending to one file would cost without bound.
                self.bytes = self.bytes.saturating_add(content.len() / 16);
                content.extend_from_slice(bytes);
                if !self.calls.files().write(path, content) {
                    self.status = 1;
                }
            }
            Some(Target::Null) | None => {}
        }
    }

    /// Prints a line of text.
    pub(in crate::host::script) fn say(&mut self, io: &Io, text: &str) {
        self.put(io, 1, text.as_bytes());
        self.put(io, 1, b"\n");
    }

    /// Complains; returns the exit code.
    pub(in crate::host::script) fn complain(&mut self, io: &Io, text: &str, code: u8) -> u8 {
        self.put(io, 2, text.as_bytes());
        self.put(io, 2, b"\n");
        code
    }

    /// Complains as the shell itself does.
    pub(super) fn protest(&mut self, io: &Io, text: &str, code: u8) -> u8 {
        let text = format!("bash: line {}: {text}", self.line);
        self.complain(io, &text, code)
    }

    pub(super) fn broken(&mut self, io: &Io, broken: &SyntaxError) -> u8 {
        self.complain(io, &format!("bash: line {}: {}", broken.line, broken.what), 2)
    }

    /// Opens a buffer.
    pub(super) fn open(&mut self) -> usize {
        self.buffers.push(Vec::new());
        self.buffers.len() - 1
    }

    /// Takes what a buffer holds; the last one is closed.
    pub(in crate::host::script) fn close(&mut self, number: usize) -> Vec<u8> {
        let taken = self.buffers.get_mut(number).map(std::mem::take).unwrap_or_default();
        if number + 1 == self.buffers.len() && number > 1 {
            self.buffers.pop();
        }
        taken
    }
}
