//! What is seen while a session works: lines that stay, and below them one line that says what is done now.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::cli::investigate::line;
use ghost_base::{Clock as _, SystemClock};
use ghost_investigate::event::{Recorded, StepId};
use ghost_investigate::report::{Board, plain};
use ghost_investigate::state::State;
use ghost_session::Observer;
use ghost_tools::tone::colors_wanted;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenKind {
    /// Events as JSON on standard output.
    Json,
    /// Lines on standard error.
    Plain,
    /// Lines, and one below them that says what is done now.
    Live,
}

/// Draws.
pub(super) struct Screen {
    kind: ScreenKind,
    drawn: Mutex<DrawnBoard>,
}

#[derive(Default)]
struct DrawnBoard {
    /// How many lines of the board stand on the screen.
    board: usize,
    /// Whether standard output is gone.
    closed: bool,
    /// The trouble that was printed last: the same one is not printed again and again.
    trouble: Option<String>,
}

impl Screen {
    /// Makes a screen.
    pub(super) fn new(kind: ScreenKind) -> Self {
        Self { kind, drawn: Mutex::default() }
    }

    /// Takes the board away, for a question or the report.
    pub(super) fn clear(&self) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        write(&wipe(&mut drawn));
    }

    /// Shows the board once, whatever the kind of the screen.
    pub(super) fn status(&self, state: &State) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = wipe(&mut drawn);
        for line in Board::of(state, SystemClock.now())
            .lines(width(), self.kind == ScreenKind::Live && colors_wanted())
        {
            text.push_str(&line);
            text.push('\n');
        }
        write(&text);
    }

    fn show(&self, state: Option<&State>, line: Option<&str>) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = wipe(&mut drawn);
        if let Some(line) = line {
            text.push_str(line);
            text.push('\n');
        }
        if let Some(state) = state.filter(|state| self.kind == ScreenKind::Live && state.concluded.is_none())
        {
            let line = Board::of(state, SystemClock.now()).progress(width(), colors_wanted());
            drawn.board = 1;
            text.push_str(&line);
            text.push('\n');
        }
        write(&text);
    }
}

impl Observer for Screen {
    fn recorded(&self, state: &State, event: &Recorded) {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner).trouble = None;
        if self.kind == ScreenKind::Json {
            let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
            let mut out = io::stdout().lock();
            // A reader that went away does not end an investigation.
            let put = !drawn.closed
                && writeln!(out, "{}", line::json(state, event)).and_then(|()| out.flush()).is_ok();
            drawn.closed = !put;
            return;
        }
        self.show(Some(state), line::human(state, event).as_deref());
    }

    fn words(&self, _words: &str) {}

    fn trouble(&self, what: &str) {
        let before =
            self.drawn.lock().unwrap_or_else(PoisonError::into_inner).trouble.replace(what.to_owned());
        if before.as_deref() == Some(what) {
            return;
        }
        self.show(None, Some(&format!("… {}", plain(what))));
    }

    fn thinking(&self, state: &State, since: Duration) {
        match self.kind {
            ScreenKind::Live => self.show(Some(state), None),
            ScreenKind::Plain | ScreenKind::Json => {
                self.show(None, Some(&format!("… the model has been thinking for {} s", since.as_secs())));
            }
        }
    }

    fn running(&self, state: &State, step: StepId, since: Duration) {
        if self.kind == ScreenKind::Live {
            self.show(Some(state), None);
        } else {
            self.show(None, Some(&format!("… {step} still runs, {} s", since.as_secs())));
        }
    }
}

/// Returns what takes the board off the screen.
fn wipe(drawn: &mut DrawnBoard) -> String {
    match std::mem::take(&mut drawn.board) {
        0 => String::new(),
        lines => format!("\x1b[{lines}A\x1b[J"),
    }
}

fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| size.ws_col);
    usize::from(columns.clamp(40, 120))
}

/// Writes to standard error; nobody is left to tell when it is gone.
fn write(text: &str) {
    let mut err = io::stderr().lock();
    drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
}
