//! Which tool a text is of, and why it may tell nothing.
//!
//! Numbers as tools write them.

use super::{iperf, qperf};

/// The longest text that is read. A run prints a few hundred lines at most.
pub const MAX_OUTPUT_BYTES: usize = 4 << 20;

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
    const MAX_LINE_LEN: usize = 120;
    let line = line.trim();
    if line.chars().count() <= MAX_LINE_LEN {
        line.to_owned()
    } else {
        line.chars().take(MAX_LINE_LEN).chain(['…']).collect()
    }
}

/// Reads a number without sign and exponent; thousands may be separated.
pub(super) fn number(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !part.is_none_or(digits) {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped = whole.contains(',');
    let well = digits(first)
        && (!grouped || first.len() <= 3)
        && groups.all(|group| group.len() == 3 && digits(group));
    let read: f64 = text.replace(',', "").parse().ok().filter(|_| well)?;
    read.is_finite().then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_and_at_most_one_point() {
        for (text, value) in
            [("8.51", 8.51), ("120", 120.0), ("1,234", 1_234.0), ("1,234,567.5", 1_234_567.5), ("0.0", 0.0)]
        {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in [
            "", ".", "1.", ".5", "1..0", "12.3.4", "-1", "+1", "1e3", "nan", "inf", "1,23", "1234,567", ",1",
            "1,", "1,234,5", "٣",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(number(&"9".repeat(400)), None);
    }
}
