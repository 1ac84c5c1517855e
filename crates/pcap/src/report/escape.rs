//! What comes from a capture, made so that Markdown shows it and does nothing else.
//!
//! Names are anybody's. Words go through [`text`], names of hosts and the like through [`code`], display filters through [`filter`];
//! and whatever a section forgets, [`neutralize`] takes at the end: nobody is called, nothing invisible is left.

/// Names that call everybody.
const BROADCAST_MENTIONS: [&str; 3] = ["here", "channel", "everyone"];

/// Returns words on one line, to stand anywhere, in the cell of a table too.
pub(super) fn text(data: &str) -> String {
    let mut out = String::with_capacity(data.len() + 8);
    let mut before = None;
    let mut rest = data.chars();
    while let Some(char) = rest.next() {
        let next = rest.clone().next();
        let word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            // A backslash in front of it does not hold in every reader of tables.
            '|' => out.push_str("&#124;"),
            '\\' | '`' | '*' | '[' | ']' | '~' | '#' | '$' => out.extend(['\\', char]),
            // Inside a word it does nothing, and names stay as they are.
            '_' if !(word(before) && word(next)) => out.push_str("\\_"),
            // An address becomes a link by itself in some readers.
            ':' if rest.as_str().starts_with("//") => out.push_str("\\:"),
            '.' if ends_in_www(&out) => out.push_str("\\."),
            char => out.push(shown(char)),
        }
        before = Some(char);
    }
    out
}

/// Returns words in which names stand between backticks already: each part by its own rules.
pub(super) fn words(data: &str) -> String {
    if data.matches('`').count() % 2 == 1 {
        return text(data);
    }
    let parts = data.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { code(part) } else { text(part) }).collect()
}

/// Returns data as a code span that may stand in the cell of a table.
pub(super) fn code(data: &str) -> String {
    let line: String = data.chars().map(|char| if char == '|' { '¦' } else { shown(char) }).collect();
    span(&line)
}

/// Returns a display filter as a code span, still good to be pasted; it must not stand in a table.
pub(super) fn filter(data: &str) -> String {
    span(&filtered(data))
}

/// Returns a display filter in which nothing calls anybody or ends a block of code.
///
/// What is replaced can only stand within quotes there, where a filter takes numbers for letters.
pub(super) fn filtered(data: &str) -> String {
    data.chars()
        .map(|char| match char {
            '`' => "\\x60".to_owned(),
            '@' => "\\x40".to_owned(),
            char => shown(char).to_string(),
        })
        .collect()
}

/// Takes from a text what would call somebody in a messenger, and what cannot be seen.
pub(super) fn neutralize(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown.chars();
    while let Some(char) = rest.next() {
        match char {
            '<' if rest.as_str().starts_with(['!', '@', '#']) => out.push('‹'),
            '@' if calls(rest.as_str()) => out.push('＠'),
            '\n' => out.push('\n'),
            char => out.push(shown(char)),
        }
    }
    out
}

fn calls(rest: &str) -> bool {
    BROADCAST_MENTIONS
        .iter()
        .any(|name| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
}

fn span(line: &str) -> String {
    if line.is_empty() {
        return "` `".to_owned();
    }
    let (longest, _) = line.chars().fold((0_usize, 0_usize), |(longest, run), char| {
        let run = if char == '`' { run + 1 } else { 0 };
        (longest.max(run), run)
    });
    let ticks = "`".repeat(longest + 1);
    let pad = if line.starts_with(['`', ' ']) || line.ends_with(['`', ' ']) { " " } else { "" };
    format!("{ticks}{pad}{line}{pad}{ticks}")
}

/// Returns a character that can be seen, on one line.
fn shown(char: char) -> char {
    let hidden = matches!(char,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}');
    if char.is_control() || hidden { '\u{fffd}' } else { char }
}

fn ends_in_www(text: &str) -> bool {
    text.len().checked_sub(3).and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_show_what_they_are() {
        assert_eq!(text("10.0.0.9:443 refused 3 connections"), "10.0.0.9:443 refused 3 connections");
        assert_eq!(text("evil_name.example"), "evil_name.example");
        assert_eq!(text("_ldap._tcp"), "\\_ldap.\\_tcp");
        assert_eq!(text("[x](http://a.b) `c` *d*"), "\\[x\\](http\\://a.b) \\`c\\` \\*d\\*");
        assert_eq!(text("www.example <!channel> a|b"), "www\\.example &lt;!channel&gt; a&#124;b");
        assert_eq!(text("a\nb\u{202e}c"), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn code_cannot_be_left() {
        assert_eq!(code("a`b|c"), "``a`b¦c``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(filter("dns.qry.name == \"a`@here\""), "`dns.qry.name == \"a\\x60\\x40here\"`");
    }

    proptest! {
        #[test]
        fn nobody_is_called_and_no_line_begins(data in "[<>!@#&*`|\\[\\]a-z:/_\\n\\r\u{202e} ]{0,40}|.*@here.*") {
            for made in [text(&data), code(&data), filter(&data)] {
                let made = neutralize(&made);
                let loud = ["<!", "<@", "<#", "@here", "@channel", "@everyone"].iter().any(|sign| made.contains(sign));
                prop_assert!(!loud && !made.contains('\n') && !made.contains('\u{202e}'), "{}", made);
            }
            prop_assert!(!text(&data).contains('|') && !code(&data).contains('|'));
        }
    }
}
