//! How far a long file is read, for a terminal: a line that is overwritten and removed in the end.

use std::io::{self, IsTerminal as _, Read, Write};
use std::time::{Duration, Instant};

/// What is read faster than this needs no word.
const LONG: Duration = Duration::from_millis(700);
/// How often the line changes.
const STEP: Duration = Duration::from_millis(200);
const CELLS: usize = 24;
const MEGABYTE: f64 = 1e6;

/// Reads through to another reader and shows how far it is.
pub(super) struct Progress<R> {
    inner: R,
    read: u64,
    /// How much there is, where that is known.
    size: Option<u64>,
    begun: Instant,
    line: Option<Line<io::Stderr>>,
}

impl<R: Read> Progress<R> {
    /// Begins to read; shows nothing where standard error is no terminal.
    pub(super) fn new(inner: R, size: Option<u64>) -> Self {
        let line = io::stderr().is_terminal().then(|| Line { out: io::stderr(), shown: None });
        Self { inner, read: 0, size, begun: Instant::now(), line }
    }
}

impl<R: Read> Read for Progress<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read += count as u64;
        if let Some(line) = &mut self.line {
            line.at(self.begun.elapsed(), self.read, self.size);
        }
        Ok(count)
    }
}

/// The line on the terminal.
struct Line<W: Write> {
    out: W,
    /// When it was written last.
    shown: Option<Duration>,
}

impl<W: Write> Line<W> {
    /// Says how far it is after some time. A terminal that is gone is no reason to stop.
    fn at(&mut self, time: Duration, read: u64, size: Option<u64>) {
        let next = self.shown.map_or(LONG, |shown| shown + STEP);
        if time < next {
            return;
        }
        self.shown = Some(time);
        drop(write!(self.out, "\r{}\x1b[K", text(time, read, size)).and_then(|()| self.out.flush()));
    }
}

impl<W: Write> Drop for Line<W> {
    fn drop(&mut self) {
        if self.shown.is_some() {
            drop(write!(self.out, "\r\x1b[K").and_then(|()| self.out.flush()));
        }
    }
}

fn text(time: Duration, read: u64, size: Option<u64>) -> String {
    let megabytes = read as f64 / MEGABYTE;
    let rate = megabytes / time.as_secs_f64().max(0.001);
    let Some(size) = size.filter(|size| *size > 0) else {
        return format!("{megabytes:.0} MB, {rate:.0} MB/s");
    };
    // A file that grew meanwhile is not more than whole.
    let part = (read as f64 / size as f64).min(1.0);
    let full = (part * CELLS as f64) as usize;
    let bar: String = (0..CELLS).map(|cell| if cell < full { '#' } else { '.' }).collect();
    let left = (size.saturating_sub(read) as f64 / MEGABYTE / rate.max(0.001)).ceil();
    format!(
        "{bar} {:.0} %, {megabytes:.0} of {:.0} MB, {rate:.0} MB/s, {left:.0} s left",
        part * 100.0,
        size as f64 / MEGABYTE
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_far_it_is_and_how_long_it_takes() {
        let second = Duration::from_secs(1);
        assert_eq!(
            text(second, 50_000_000, Some(200_000_000)),
            "######.................. 25 %, 50 of 200 MB, 50 MB/s, 3 s left"
        );
        assert_eq!(
            text(second, 9_000_000, Some(1_000_000)),
            "######################## 100 %, 9 of 1 MB, 9 MB/s, 0 s left"
        );
        assert_eq!(text(second * 2, 50_000_000, None), "50 MB, 25 MB/s");
        assert_eq!(text(Duration::ZERO, 0, Some(0)), "0 MB, 0 MB/s");
    }

    #[test]
    fn a_short_file_shows_nothing_and_a_long_one_clears_its_line() {
        for (steps, lines) in [(6, 0), (7, 1), (8, 1), (9, 2), (13, 4)] {
            let mut out = Vec::new();
            let mut line = Line { out: &mut out, shown: None };
            for step in 1..=steps {
                line.at(Duration::from_millis(100 * step), step * 1000, Some(10_000));
            }
            drop(line);
            let written = String::from_utf8(out).unwrap();
            assert_eq!(written.matches('#').count() > 0, lines > 0 && steps >= 7);
            assert_eq!(written.matches('\r').count(), if lines == 0 { 0 } else { lines + 1 }, "{written:?}");
            assert!(written.is_empty() || written.ends_with("\r\x1b[K"));
        }
    }
}
