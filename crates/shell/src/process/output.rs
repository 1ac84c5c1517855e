//! What a command printed and how it ended.

use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::time::Duration;

use crate::Confinement;

const CHUNK: usize = 64 * 1024;

/// The result of a command that started.
#[derive(Debug, Clone)]
pub struct Output {
    /// Its exit code; `None` where a signal ended it or where it could not be killed.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The first bytes of its standard output, as they came.
    pub stdout: Vec<u8>,
    /// The first bytes of its standard error, as they came.
    pub stderr: Vec<u8>,
    /// How many bytes of standard output there were.
    pub stdout_total: u64,
    /// How many bytes of standard error there were.
    pub stderr_total: u64,
    /// Whether `stdout` is less than there was.
    pub stdout_truncated: bool,
    /// Whether `stderr` is less than there was.
    pub stderr_truncated: bool,
    /// Whether it was stopped because its time was over.
    pub timed_out: bool,
    /// Whether it was stopped because somebody canceled it.
    pub canceled: bool,
    /// Whether a process that it left behind still held its output, so that more might have come.
    pub still_open: bool,
    /// How long it ran.
    pub duration: Duration,
    /// What it was kept from doing.
    pub confinement: Confinement,
    /// The file that ran.
    pub program: PathBuf,
    /// The other programs of a list, in the order in which they started.
    pub others: Vec<StageRun>,
}

/// One program that ran.
#[derive(Debug, Clone)]
pub struct StageRun {
    /// The file.
    pub program: PathBuf,
    /// What it was kept from doing.
    pub confinement: Confinement,
}

impl Output {
    /// Makes the output of somebody who answered and started nothing; `by` says who.
    #[must_use]
    pub fn answered(exit_code: i32, stdout: Vec<u8>, stderr: Vec<u8>, duration: Duration, by: &str) -> Self {
        let length = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self {
            exit_code: Some(exit_code),
            signal: None,
            stdout_total: length(&stdout),
            stderr_total: length(&stderr),
            stdout,
            stderr,
            stdout_truncated: false,
            stderr_truncated: false,
            timed_out: false,
            canceled: false,
            still_open: false,
            duration,
            confinement: Confinement::nothing_ran(),
            program: PathBuf::from(by),
            others: Vec::new(),
        }
    }

    /// Says in one line what kept each program from what; nothing twice.
    #[must_use]
    pub fn sandbox(&self) -> String {
        let mut summaries = vec![self.confinement.summary()];
        for ran in &self.others {
            let summary = ran.confinement.summary();
            if !summaries.contains(&summary) {
                summaries.push(summary);
            }
        }
        summaries.join(" | ")
    }

    /// Names every file that ran, with what it was kept from doing.
    #[must_use]
    pub fn sandbox_details(&self) -> Vec<String> {
        let program = format!("program {}", self.program.display());
        if self.others.is_empty() {
            return std::iter::once(program).chain(self.confinement.limits.iter().cloned()).collect();
        }
        let first = std::iter::once((&self.program, &self.confinement));
        let others = self.others.iter().map(|ran| (&ran.program, &ran.confinement));
        first
            .chain(others)
            .map(|(program, confinement)| format!("program {}: {}", program.display(), confinement.summary()))
            .collect()
    }
}

/// Both streams of a command, or of all commands of a list.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(super) stdout: KeptOutput,
    pub(super) stderr: KeptOutput,
}

impl Streams {
    /// Makes room for so many bytes of each stream.
    pub(crate) fn new(limit: usize) -> Self {
        Self { stdout: KeptOutput::new(limit), stderr: KeptOutput::new(limit) }
    }

    /// Adds to standard error what a shell would say there.
    pub(crate) fn say(&mut self, text: &str) {
        self.stderr.take(text.as_bytes());
    }

    /// Adds the standard error of what ran beside.
    pub(crate) fn add_errors(&mut self, other: &Self) {
        self.stderr.take(&other.stderr.bytes);
        let dropped =
            other.stderr.total.saturating_sub(u64::try_from(other.stderr.bytes.len()).unwrap_or(u64::MAX));
        self.stderr.total = self.stderr.total.saturating_add(dropped);
    }

    /// Returns standard output, then standard error, each with its whole length and whether that is more than was kept.
    pub(crate) fn into_parts(self) -> [(Vec<u8>, u64, bool); 2] {
        [self.stdout, self.stderr].map(|kept| {
            let truncated = kept.truncated();
            (kept.bytes, kept.total, truncated)
        })
    }
}

/// The beginning of a stream, and the length of all of it.
#[derive(Debug)]
pub(crate) struct KeptOutput {
    pub(super) bytes: Vec<u8>,
    pub(super) total: u64,
    limit: usize,
}

/// What one attempt to read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadResult {
    /// Some bytes, or none for now.
    More,
    /// The end.
    End,
}

impl KeptOutput {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), total: 0, limit }
    }

    /// Reads once, keeps what fits and counts the rest. The source must not block.
    pub(super) fn read_from(&mut self, source: &mut impl Read, chunk: &mut Chunk) -> ReadResult {
        match source.read(&mut chunk.0) {
            Ok(0) => ReadResult::End,
            Ok(length) => {
                self.take(chunk.0.get(..length).unwrap_or_default());
                ReadResult::More
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                ReadResult::More
            }
            Err(_) => ReadResult::End,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.total = self.total.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    }

    pub(super) fn truncated(&self) -> bool {
        u64::try_from(self.bytes.len()).is_ok_and(|kept| kept < self.total)
    }
}

/// The buffer between a pipe and what is kept.
pub(super) struct Chunk(Box<[u8]>);

impl Chunk {
    pub(super) fn new() -> Self {
        Self(vec![0; CHUNK].into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_limit_is_counted_and_dropped() {
        let mut source: &[u8] = &vec![b'x'; 3 * CHUNK];
        let mut kept = KeptOutput::new(CHUNK + 1);
        let mut chunk = Chunk::new();
        while kept.read_from(&mut source, &mut chunk) == ReadResult::More {}
        assert_eq!((kept.bytes.len(), kept.total, kept.truncated()), (CHUNK + 1, 3 * CHUNK as u64, true));
    }

    #[test]
    fn what_fits_exactly_is_whole() {
        let mut source: &[u8] = b"abc";
        let mut kept = KeptOutput::new(3);
        let mut chunk = Chunk::new();
        while kept.read_from(&mut source, &mut chunk) == ReadResult::More {}
        assert_eq!((kept.bytes.as_slice(), kept.truncated()), (b"abc".as_slice(), false));
    }
}
