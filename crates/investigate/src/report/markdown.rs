//! Text that Markdown must take as text.
//!
//! Whatever comes out of here shows exactly the data when it is read as CommonMark, with or without the common extensions,
//! and calls nobody when the raw text lands in a messenger. What cannot be seen is spelled out, see [`super::plain`].

use crate::report::spell::{invisible, spell};

/// Names that call everybody.
const EVERYBODY: [&str; 3] = ["here", "channel", "everyone"];
/// The longest name of a scheme that is looked for.
const MAX_SCHEME_CHARS: usize = 32;

/// Returns data as prose on one line. It may stand anywhere, in the cell of a table and at the start of a line too.
#[must_use]
pub fn text(data: &str) -> String {
    prose(data, true)
}

/// `begins` where a line may begin with it.
fn prose(data: &str, begins: bool) -> String {
    let spelled = spell(data, |char, _| invisible(char));
    let digits = spelled.bytes().take_while(u8::is_ascii_digit).count();
    let first = spelled.len() - spelled.trim_start_matches(' ').len();
    let end = spelled.trim_end_matches(' ').len();
    let mut out = String::with_capacity(spelled.len() + 8);
    for (at, char) in spelled.char_indices() {
        let (before, rest) = (spelled.get(..at).unwrap_or(""), spelled.get(at..).unwrap_or(""));
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            // Elsewhere it ends nothing, as nothing can have begun.
            '>' if at <= first => out.push_str("&gt;"),
            // An entity is shown as it stands by some messengers: where a backslash is enough, it is the backslash.
            '@' if calls(char, rest.get(1..).unwrap_or("")) => out.push_str("&#64;"),
            '@' => out.push_str("\\@"),
            // A backslash in front of it does not hold in every reader of tables.
            '|' => out.push_str("&#124;"),
            // At an edge it would be lost.
            ' ' if at < first || at >= end => out.push_str("&#32;"),
            // An address becomes a link by itself in some readers.
            ':' if rest.starts_with("://") => out.push_str("\\:"),
            '.' if ends_in_www(before) => out.push_str("\\."),
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '$' | '^' => out.extend(['\\', char]),
            // What would begin a list, a rule or a definition.
            '-' | '+' | '=' | ':' if at == 0 && begins => out.extend(['\\', char]),
            '.' | ')' if at == digits && at > 0 && begins && ends_word(rest) => out.extend(['\\', char]),
            _ => out.push(char),
        }
    }
    out
}

/// Returns data as prose on one line in which what stands between backticks is code. Where the backticks do not pair, all of it is
/// prose.
#[must_use]
pub fn inline(data: &str) -> String {
    let parts: Vec<&str> = data.trim().split('`').collect();
    let codes = parts.iter().skip(1).step_by(2);
    if parts.len().is_multiple_of(2) || codes.clone().any(|part| part.trim().is_empty()) {
        return text(data.trim());
    }
    let part = |(at, part): (usize, &&str)| {
        if at % 2 == 1 {
            return code(part);
        }
        let inner = part.trim_matches(' ');
        let before = if part.starts_with(' ') { " " } else { "" };
        let behind = if part.ends_with(' ') && !inner.is_empty() { " " } else { "" };
        format!("{before}{}{behind}", prose(inner, at == 0))
    };
    parts.iter().enumerate().map(part).collect()
}

/// Tells whether the first character of a text is the last of its word.
fn ends_word(text: &str) -> bool {
    text.chars().nth(1).is_none_or(|next| next == ' ')
}

fn ends_in_www(text: &str) -> bool {
    text.len().checked_sub(3).and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

/// Returns data as a quoted block that keeps its lines.
#[must_use]
pub fn quote(data: &str) -> String {
    let line = |line: &str| format!("> {}", text(if line.is_empty() { " " } else { line }));
    data.split('\n').map(line).collect::<Vec<_>>().join("\\\n")
}

/// Returns data as a code span. It must not stand in a table, whose bars it does not escape.
#[must_use]
pub fn code(data: &str) -> String {
    let spelled = spell(data, |char, rest| invisible(char) || calls(char, rest));
    if spelled.is_empty() {
        return spelled;
    }
    let ticks = "`".repeat(longest_run(&spelled) + 1);
    let spaced = spelled.starts_with(' ') && spelled.ends_with(' ') && spelled.trim() != "";
    let pad = if spaced || spelled.starts_with('`') || spelled.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{spelled}{pad}{ticks}")
}

/// Returns data as a fenced block that begins and ends a line.
#[must_use]
pub fn fence(data: &str) -> String {
    let hides = |char, rest: &str| (invisible(char) && !matches!(char, '\n' | '\t')) || calls(char, rest);
    let spelled = spell(data, hides);
    let ticks = "`".repeat(longest_run(&spelled).max(2) + 1);
    let end = if spelled.is_empty() || spelled.ends_with('\n') { "" } else { "\n" };
    format!("{ticks}text\n{spelled}{end}{ticks}")
}

/// Returns a table; its cells are Markdown already.
#[must_use]
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        cells.fold("|".to_owned(), |line, cell| line + " " + if cell.is_empty() { "—" } else { cell } + " |")
    };
    let mut lines =
        vec![line(&mut header.iter().copied()), line(&mut std::iter::repeat_n("---", header.len()))];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}

/// Tells whether a messenger would read a call or a link from here on, even inside code.
fn calls(char: char, rest: &str) -> bool {
    match char {
        '<' => {
            rest.starts_with(['@', '#'])
                || rest
                    .strip_prefix('!')
                    .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_alphabetic()))
                || names_scheme(rest)
        }
        '@' => EVERYBODY
            .iter()
            .any(|name| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))),
        _ => false,
    }
}

fn names_scheme(rest: &str) -> bool {
    let in_scheme = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '+' | '.' | '-');
    let length = rest.chars().take(MAX_SCHEME_CHARS).take_while(in_scheme).count();
    length > 0 && rest.get(length..).is_some_and(|rest| rest.starts_with(':'))
}

fn longest_run(text: &str) -> usize {
    let (longest, _) = text.chars().fold((0_usize, 0_usize), |(longest, run), char| {
        let run = if char == '`' { run + 1 } else { 0 };
        (longest.max(run), run)
    });
    longest
}
