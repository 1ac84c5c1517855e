//! Cuts a line of Markdown where nothing opens or closes by it.

use crate::bot::show::amount::count;

/// Cells of a table are cut earlier: there are several in a line.
const CELL: usize = 400;

/// Returns a line of our own Markdown that is at most about so long; what is left out is counted. Escapes and entities stay
/// whole, a code span that is cut is closed.
pub(super) fn cut_line(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    if line.starts_with("| ") && line.ends_with(" |") {
        let cells = line.trim_matches('|').split('|').map(|cell| cut(cell.trim(), CELL));
        return format!("| {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    cut(line, most)
}

fn cut(text: &str, most: usize) -> String {
    let total = text.chars().count();
    if total <= most {
        return text.to_owned();
    }
    let mut taken = 0;
    let mut out = String::new();
    let mut open: Option<usize> = None;
    let mut rest = text;
    while taken < most {
        let Some(token) = token(rest, open.is_some()) else { break };
        let length = token.chars().count();
        if taken + length > most {
            break;
        }
        if token.starts_with('`') {
            open = match open {
                None => Some(length),
                Some(ticks) if ticks == length => None,
                Some(ticks) => Some(ticks),
            };
        }
        out.push_str(token);
        taken += length;
        rest = rest.get(token.len()..).unwrap_or_default();
    }
    // A blank keeps the closing ticks apart from ticks of the data.
    if let Some(ticks) = open {
        out.push(' ');
        out.push_str(&"`".repeat(ticks));
    }
    format!("{out} … continues in rca.md: {}", count(total - taken, "more character"))
}

/// Returns what has to stay together at the front of a text.
fn token(text: &str, in_code: bool) -> Option<&str> {
    let first = text.chars().next()?;
    let length = match first {
        '`' => text.len() - text.trim_start_matches('`').len(),
        '\\' if !in_code => 1 + text.chars().nth(1).map_or(0, char::len_utf8),
        '&' if !in_code => {
            let end = text.bytes().take(10).position(|byte| byte == b';');
            end.map_or(1, |end| end + 1)
        }
        _ => first.len_utf8(),
    };
    text.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_closes_what_it_opened() {
        assert_eq!(cut_line("short", 10), "short");
        assert_eq!(cut_line("a `bcdefgh` i", 5), "a `bc ` … continues in rca.md: 8 more characters");
        assert_eq!(cut_line("a &lt;b", 4), "a  … continues in rca.md: 5 more characters");
        assert_eq!(cut_line(r"ab\*c", 3), "ab … continues in rca.md: 3 more characters");
        assert_eq!(cut_line("``a`bcd``", 4), "``a` `` … continues in rca.md: 5 more characters");
    }

    #[test]
    fn a_table_stays_a_table() {
        let line = format!("| o1 | {} | x |", "a".repeat(1_000));
        let cut = cut_line(&line, 900);
        assert_eq!(cut.matches('|').count(), 4);
        assert!(cut.contains("600 more characters | x |"), "{cut}");
    }
}
