//! Which tool a text is of, and why it may tell nothing.

use super::{iperf, qperf};

/// The longest text that is read. A run prints a few hundred lines at most.
pub const LARGEST: usize = 4 << 20;

/// A tool that measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `qperf HOST tcp_lat`: latency.
    Qperf,
    /// `iperf -c HOST`, version 2: throughput.
    Iperf,
}

impl Tool {
    /// Returns the unit of its figure.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Qperf => "us",
            Self::Iperf => "gbps",
        }
    }
}

/// Why a text tells no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It is empty.
    #[error("the tool printed nothing")]
    Empty,
    /// The tool says itself that it failed.
    #[error("the tool failed: {0}")]
    Failed(String),
    /// A line that should hold the figure cannot be read.
    #[error("the line `{0}` cannot be read")]
    Unreadable(String),
    /// Another tool printed it.
    #[error("this is what {0} prints")]
    Foreign(&'static str),
    /// No line holds the figure.
    #[error("no line tells {0}")]
    Missing(&'static str),
}

/// Reads the figure of a run: microseconds of `qperf`, gigabits a second of `iperf`.
///
/// # Errors
/// Fails where the text tells no such figure, or tells one that is not to be trusted.
pub fn parse(tool: Tool, text: &str) -> Result<f64, ParseError> {
    if text.trim().is_empty() {
        return Err(ParseError::Empty);
    }
    match tool {
        Tool::Qperf => qperf::latency(text),
        Tool::Iperf => iperf::throughput(text),
    }
}

/// Returns a line as an error shows it.
pub(super) fn shown(line: &str) -> String {
    const MOST: usize = 120;
    let line = line.trim();
    if line.chars().count() <= MOST {
        line.to_owned()
    } else {
        line.chars().take(MOST).chain(['…']).collect()
    }
}
