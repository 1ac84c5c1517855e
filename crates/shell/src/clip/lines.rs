//! Cuts a text by its lines, and a line by its characters.

use crate::clip::model_text::{Cut, Limits};

/// The most that one line may take of all bytes, so that the last lines are still seen.
const MAX_LINE_SHARE: usize = 4;

/// What a marker needs at most.
const MAX_MARKER_BYTES: usize = 48;

/// Shows the first and the last lines; of a table mostly the first.
pub(super) fn cut(whole: &str, table: bool, limits: Limits) -> Cut {
    let all: Vec<&str> = whole.lines().collect();
    let room = limits.bytes().min(whole.len());
    // Limits too narrow for a marker leave room for the beginning only.
    if limits.lines < 3 || room < 2 * MAX_MARKER_BYTES {
        let first = if limits.lines == 0 { "" } else { all.first().copied().unwrap_or_default() };
        let text = first.get(..first.floor_char_boundary(room)).unwrap_or_default().to_owned();
        return Cut { lines: usize::from(!text.is_empty()), text, items: None };
    }
    let widest = (room / MAX_LINE_SHARE).max(MAX_MARKER_BYTES);
    let head_lines = if table { limits.lines - 2 } else { (limits.lines - 1) * 2 / 3 };
    let head_room = if table { room - MAX_MARKER_BYTES - widest } else { (room - MAX_MARKER_BYTES) * 2 / 3 };
    let head = fill(all.iter(), head_lines.max(1), head_room, widest);
    let rest = all.get(head.len()..).unwrap_or_default();
    let used: usize = head.iter().map(|line| line.len() + 1).sum();
    let tail_lines = if table { 1 } else { limits.lines - 1 - head.len() };
    let mut tail = fill(rest.iter().rev(), tail_lines, room.saturating_sub(MAX_MARKER_BYTES + used), widest);
    tail.reverse();
    let left_out = all.len() - head.len() - tail.len();
    let shown = head.len() + tail.len();
    let mut lines_shown = head;
    if left_out > 0 {
        lines_shown.push(format!("[... {left_out} lines left out ...]"));
    }
    lines_shown.append(&mut tail);
    let mut text = lines_shown.join("\n");
    // Markers of a text that barely missed the limits can make it longer than it was.
    if text.len() >= whole.len() {
        text.truncate(text.floor_char_boundary(whole.len().saturating_sub(1)));
    }
    Cut { text, lines: shown, items: None }
}

/// Takes lines while there is room, each shortened to a width.
fn fill<'a>(
    lines: impl Iterator<Item = &'a &'a str>,
    most: usize,
    room: usize,
    widest: usize,
) -> Vec<String> {
    let mut taken = Vec::new();
    let mut used = 0;
    for line in lines.take(most) {
        let line = shorten(line, widest);
        used += line.len() + 1;
        if used > room {
            break;
        }
        taken.push(line);
    }
    taken
}

/// Cuts the middle out of a line that is too long; the result is never longer than the width.
pub(super) fn shorten(line: &str, widest: usize) -> String {
    if line.len() <= widest {
        return line.to_owned();
    }
    let room = widest.saturating_sub(MAX_MARKER_BYTES);
    let head = line.get(..line.floor_char_boundary(room * 2 / 3)).unwrap_or_default();
    let tail = line.get(line.ceil_char_boundary(line.len() - room / 3)..).unwrap_or_default();
    let left_out = line.len() - head.len() - tail.len();
    let shortened = format!("{head}[... {left_out} bytes left out ...]{tail}");
    if shortened.len() <= widest {
        shortened
    } else {
        line.get(..line.floor_char_boundary(widest)).unwrap_or_default().to_owned()
    }
}
