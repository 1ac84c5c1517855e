//! Splits our own Markdown at natural places.

use crate::bot::show::report::cut::cut_line;
use crate::bot::show::text::length;

/// A line that is longer is cut, and says so.
const LINE: usize = 2_500;

/// Returns a text in parts of at most so many units: between sections where possible, else between paragraphs, else between
/// lines. A table that goes on repeats its header, a code block is closed and opened again.
///
pub(super) fn split(markdown: &str, max_len: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let chunks = sections(markdown).into_iter().flat_map(|section| chunks(&section, max_len));
    for chunk in chunks {
        match parts.last_mut() {
            Some(part) if length(part) + length(&chunk) + 2 <= max_len => {
                part.push_str("\n\n");
                part.push_str(&chunk);
            }
            _ => parts.push(chunk),
        }
    }
    parts
}

/// What a line is part of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Inside {
    /// The line that opened a code block, and the one that closes it.
    fence: Option<(String, String)>,
    /// The two lines that head a table.
    table: Vec<String>,
}

impl Inside {
    fn step(&mut self, line: &str) {
        if let Some((_, close)) = &self.fence {
            if line == close {
                self.fence = None;
            }
            return;
        }
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks >= 3 {
            self.fence = Some((line.to_owned(), "`".repeat(ticks)));
        }
        if !line.starts_with('|') {
            self.table.clear();
        } else if self.table.len() < 2 {
            self.table.push(line.to_owned());
        }
    }

    fn open(&self) -> Vec<String> {
        match &self.fence {
            Some((open, _)) => vec![open.clone()],
            None => self.table.clone(),
        }
    }

    fn close(&self) -> Option<&str> {
        self.fence.as_ref().map(|(_, close)| close.as_str())
    }
}

fn sections(markdown: &str) -> Vec<Vec<String>> {
    let mut sections: Vec<Vec<String>> = vec![Vec::new()];
    let mut inside = Inside::default();
    for line in markdown.trim_end().lines() {
        let heads = inside.fence.is_none() && line.starts_with("## ");
        inside.step(line);
        if heads {
            sections.push(Vec::new());
        }
        if let Some(section) = sections.last_mut() {
            section.push(cut_line(line, LINE));
        }
    }
    sections
}

fn chunks(section: &[String], max_len: usize) -> Vec<String> {
    let whole = section.join("\n");
    if length(&whole) <= max_len {
        let whole = whole.trim_matches('\n').to_owned();
        return if whole.is_empty() { Vec::new() } else { vec![whole] };
    }
    let mut chunks = Vec::new();
    let (mut chunk, mut inside): (Vec<&str>, Inside) = (Vec::new(), Inside::default());
    let mut carried: Vec<String> = Vec::new();
    let mut used = 0;
    // Where a paragraph ended last: so many lines, and so much of the room.
    let mut paragraph = (0, 0);
    for line in section {
        let closing = inside.close().map_or(0, |close| close.len() + 1);
        if used + length(line) + 1 + closing > max_len && !chunk.is_empty() {
            let (lines, room) = paragraph;
            let kept = if room * 2 > max_len { lines } else { chunk.len() };
            let tail = chunk.split_off(kept);
            let close = if tail.is_empty() { inside.close() } else { None };
            chunks.push(join(&carried, &chunk, close));
            carried = if tail.is_empty() { inside.open() } else { Vec::new() };
            chunk = tail;
            let before = carried.iter().map(String::as_str).chain(chunk.iter().copied());
            used = before.map(|line| length(line) + 1).sum();
            paragraph = (0, 0);
        }
        chunk.push(line);
        used += length(line) + 1;
        inside.step(line);
        if line.is_empty() && inside.fence.is_none() {
            paragraph = (chunk.len(), used);
        }
    }
    chunks.push(join(&carried, &chunk, None));
    chunks.retain(|chunk| !chunk.is_empty());
    chunks
}

fn join(carried: &[String], lines: &[&str], close: Option<&str>) -> String {
    let all = carried.iter().map(String::as_str).chain(lines.iter().copied()).chain(close);
    all.collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_stays_whole() {
        assert_eq!(split("# a\n\nb\n\n## c\n\nd\n", 100), ["# a\n\nb\n\n## c\n\nd"]);
        assert_eq!(split("", 100), Vec::<String>::new());
    }

    #[test]
    fn sections_come_first() {
        assert_eq!(split("# a\n\nbbbb\n\n## c\n\ndddd", 14), ["# a\n\nbbbb", "## c\n\ndddd"]);
    }

    #[test]
    fn paragraphs_come_next() {
        assert_eq!(split("## a\n\nbbbbbb\n\ncccccc\ndddddd", 20), ["## a\n\nbbbbbb", "cccccc\ndddddd"]);
    }

    #[test]
    fn a_table_repeats_its_header() {
        let parts = split("| a |\n| --- |\n| 1 |\n| 2 |\n| 3 |\n| 4 |", 26);
        assert_eq!(parts, ["| a |\n| --- |\n| 1 |\n| 2 |", "| a |\n| --- |\n| 3 |\n| 4 |"]);
    }

    #[test]
    fn a_code_block_is_closed_and_opened_again() {
        let parts = split("```text\naaaa\nbbbb\ncccc\n```", 22);
        assert_eq!(parts, ["```text\naaaa\nbbbb\n```", "```text\ncccc\n```"]);
    }

    #[test]
    fn a_heading_inside_code_is_none() {
        assert_eq!(split("a\n```text\n## b\n```", 100), ["a\n```text\n## b\n```"]);
    }

    proptest! {
        #[test]
        fn no_part_is_too_long_and_no_line_is_lost(
            lines in prop::collection::vec("(## |\\| |- |)[a-z ]{0,30}", 0..60), max_len in 120_usize..300
        ) {
            let text = lines.join("\n");
            let parts = split(&text, max_len);
            prop_assert!(parts.iter().all(|part| length(part) <= max_len && !part.is_empty()));
            let all = parts.join("\n");
            for line in lines.iter().filter(|line| !line.trim().is_empty()) {
                prop_assert!(all.lines().any(|found| found.trim_end() == line.trim_end()), "{:?} is lost", line);
            }
        }
    }
}
