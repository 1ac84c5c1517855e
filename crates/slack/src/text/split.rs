//! Cutting long Markdown where a reader would.

use crate::text::limit::length;

/// The least room for which cutting at natural places makes sense.
const LEAST: usize = 64;

/// Cuts Markdown into parts of at most `most` characters: before headings if it can, else between paragraphs, else between
/// lines, else between words. Code that is cut is closed and opened again, a table that is cut begins again with its head.
///
/// ```
/// let parts = ghost_slack::text::split(&"word ".repeat(100), 200);
/// assert_eq!(parts.len(), 3);
/// ```
#[must_use]
pub fn split(markdown: &str, most: usize) -> Vec<String> {
    let most = most.max(LEAST);
    let mut parts = Vec::new();
    let mut rest: Vec<String> = markdown.split('\n').map(str::to_owned).collect();
    loop {
        let total = rest.iter().map(|line| length(line) + 1).sum::<usize>().saturating_sub(1);
        if total <= most {
            let last = rest.join("\n");
            if !last.trim().is_empty() || parts.is_empty() {
                parts.push(last);
            }
            return parts;
        }
        let (part, after) = cut(&rest, most);
        if !part.trim().is_empty() {
            parts.push(part);
        }
        rest = after;
    }
}

/// How good a place is to cut before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CutPoint {
    Line,
    Item,
    Paragraph,
    Heading,
}

/// Cuts one part off; returns it and the lines that are left. At least one character less is left than there was.
fn cut(lines: &[String], most: usize) -> (String, Vec<String>) {
    let mut open: Option<String> = None;
    let mut used = 0;
    let mut best: Option<((bool, CutPoint), usize, Option<String>)> = None;
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            // However good a place is, before the first third it would make a short part.
            let rank = (used * 3 >= most, cut_point(lines, at, open.is_some()));
            if best.as_ref().is_none_or(|(known, _, _)| rank >= *known) {
                best = Some((rank, at, open.clone()));
            }
        }
        let closing = open.as_ref().map_or(0, |fence| length(marks(fence)) + 1);
        used += length(line) + usize::from(at > 0);
        let next = after(open.as_deref(), line);
        let closing = closing.max(next.as_ref().map_or(0, |fence| length(marks(fence)) + 1));
        if used + closing > most {
            break;
        }
        open = next;
    }
    match best {
        Some((_, at, open)) => {
            let begins: Vec<String> = lines.iter().take(at).cloned().collect();
            let mut left: Vec<String> = lines.iter().skip(at).cloned().collect();
            let mut part = begins.join("\n").trim_end_matches('\n').to_owned();
            if let Some(fence) = open {
                // A fence with nothing behind it would be closed at once, and again and again.
                if at > 1 {
                    part = format!("{part}\n{}", marks(&fence));
                    left.insert(0, fence);
                    return (part, left);
                }
                return inside(lines, most, Some(fence));
            }
            if let Some(head) = head(lines, at)
                && at > 2
                && length(&head.join("\n")) * 4 < most
            {
                left.splice(0..0, head);
            }
            (part, left)
        }
        None => inside(lines, most, None),
    }
}

/// Cuts inside a line that is too long by itself: the first, or the one behind the fence that was opened again.
fn inside(lines: &[String], most: usize, fence: Option<String>) -> (String, Vec<String>) {
    let skipped = usize::from(fence.is_some());
    let line = lines.get(skipped).map(String::as_str).unwrap_or_default();
    let room = match &fence {
        Some(fence) => most.saturating_sub(length(fence) + length(marks(fence)) + 2).max(8),
        None => most,
    };
    let end = line.char_indices().nth(room).map_or(line.len(), |(at, _)| at);
    let whole = line.get(..end).unwrap_or(line);
    let at = whole.rfind(' ').filter(|at| *at * 2 > whole.len()).map_or(end, |at| at + 1);
    let (one, two) = line.split_at_checked(at).unwrap_or((line, ""));
    let mut left: Vec<String> = lines.iter().skip(skipped + 1).cloned().collect();
    left.insert(0, two.to_owned());
    match fence {
        Some(fence) => {
            let part = format!("{fence}\n{one}\n{}", marks(&fence));
            left.insert(0, fence);
            (part, left)
        }
        None => (one.to_owned(), left),
    }
}

fn cut_point(lines: &[String], at: usize, in_code: bool) -> CutPoint {
    let line = lines.get(at).map(|line| line.trim_start()).unwrap_or_default();
    let before = lines.get(at - 1).map(|line| line.trim()).unwrap_or_default();
    if in_code {
        return CutPoint::Line;
    }
    let item = ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark)) || numbered(line);
    match () {
        () if is_heading(line) && !is_heading(before) => CutPoint::Heading,
        // What is announced by a heading stays with it.
        () if is_heading(before) => CutPoint::Line,
        () if before.is_empty() && !line.is_empty() => CutPoint::Paragraph,
        () if item => CutPoint::Item,
        () => CutPoint::Line,
    }
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && (rest.is_empty() || rest.starts_with(' '))
}

fn numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "))
}

/// Returns the fence that is open after a line: the whole line that opened it.
fn after(open: Option<&str>, line: &str) -> Option<String> {
    let marked = marks(line);
    match open {
        Some(fence) => {
            let mine = marks(fence);
            let closes = marked.starts_with(mine) && line.trim().len() == marked.len();
            (!closes).then(|| fence.to_owned())
        }
        // What follows the marks is repeated as long as it is short.
        None if marked.len() >= 3 && marked.len() <= 12 => {
            Some(if length(line) <= 24 { line.to_owned() } else { marked.to_owned() })
        }
        None => None,
    }
}

/// Returns the backticks or tildes that a line begins with, where they are a fence.
fn marks(line: &str) -> &str {
    let line = line.trim_start();
    let first = line.chars().next().filter(|char| matches!(char, '`' | '~'));
    let Some(first) = first else { return "" };
    let end = line.find(|char| char != first).unwrap_or(line.len());
    let marks = line.get(..end).unwrap_or_default();
    if marks.len() >= 3 { marks } else { "" }
}

/// Returns the head of the table that a cut goes through.
fn head(lines: &[String], at: usize) -> Option<Vec<String>> {
    let is_row = |at: usize| lines.get(at).is_some_and(|line| line.trim_start().starts_with('|'));
    if !is_row(at) || !is_row(at - 1) {
        return None;
    }
    let first = (0..at).rev().take_while(|row| is_row(*row)).last()?;
    let rule = lines.get(first + 1)?;
    let is_rule = rule.contains("---") && rule.chars().all(|char| matches!(char, '|' | '-' | ':' | ' '));
    (is_rule && at > first + 2).then(|| lines.iter().skip(first).take(2).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_text_stays_whole() {
        assert_eq!(split("# A\n\nb", 100), ["# A\n\nb"]);
        assert_eq!(split("", 100), [""]);
    }

    #[test]
    fn a_heading_begins_a_part_and_keeps_what_it_announces() {
        let body = "x".repeat(60);
        let parts = split(&format!("# A\n\n{body}\n\n# B\n\n{body}"), 100);
        assert_eq!(parts, [format!("# A\n\n{body}"), format!("# B\n\n{body}")]);
    }

    #[test]
    fn code_is_closed_and_opened_again() {
        let line = "y".repeat(30);
        let text = format!("```console\n{line}\n{line}\n{line}\n{line}\n```\nend");
        let parts = split(&text, 100);
        assert!(parts.len() > 1);
        for part in &parts {
            assert_eq!(part.matches("```").count() % 2, 0, "{part}");
        }
        assert!(parts[1].starts_with("```console\n"));
    }

    #[test]
    fn a_table_begins_again_with_its_head() {
        let rows: Vec<String> = (0..20).map(|row| format!("| {row} | b |")).collect();
        let parts = split(&format!("| a | b |\n|---|---|\n{}", rows.join("\n")), 100);
        assert!(
            parts.len() > 1 && parts.iter().all(|part| part.starts_with("| a | b |\n|---|---|\n| ")),
            "{parts:?}"
        );
    }

    #[test]
    fn a_line_without_a_blank_is_cut_anyway() {
        let parts = split(&"é".repeat(250), 100);
        assert_eq!(parts.iter().map(|part| length(part)).collect::<Vec<_>>(), [100, 100, 50]);
    }

    fn letters(text: &str) -> String {
        text.chars().filter(|char| char.is_alphabetic()).collect()
    }

    proptest! {
        #[test]
        fn no_part_is_too_long_and_no_letter_is_lost(text in "([a-zé]{1,90}|[-#>] |\\n|\\n\\n|[.] ){0,60}", most in 64_usize..300) {
            let parts = split(&text, most);
            for part in &parts {
                prop_assert!(length(part) <= most, "{} > {most}: {part}", length(part));
            }
            prop_assert_eq!(letters(&parts.concat()), letters(&text));
        }

        #[test]
        fn code_is_never_left_open(text in "([a-z ]{1,40}\\n|```\\n|```sh\\n|~~~~\\n|\\| a \\|\\n|\\n){0,60}", most in 64_usize..300) {
            for part in split(&text, most) {
                prop_assert!(length(&part) <= most, "{} > {most}: {part}", length(&part));
            }
        }
    }
}
