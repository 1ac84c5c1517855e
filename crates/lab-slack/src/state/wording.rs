//! What a person types, as Slack keeps it: names become mentions, addresses become links, odd signs become entities.

use crate::state::channel::Kind;
use crate::state::model::Workspace;

/// Turns typed text into Slack's form. What is in that form already stays as it is.
pub(crate) fn written(workspace: &Workspace, typed: &str) -> String {
    let mut text = String::with_capacity(typed.len());
    let mut rest = typed;
    while !rest.is_empty() {
        let (words, code, left) = next_code(rest);
        prose(workspace, words, &mut text);
        raw(code, &mut text);
        rest = left;
    }
    text
}

/// Splits text before the first code: what stands before it, the code with its marks, and what is left.
fn next_code(text: &str) -> (&str, &str, &str) {
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find('`')) {
        let start = from + found;
        let rest = text.get(start..).unwrap_or_default();
        let marks = if rest.starts_with("```") { "```" } else { "`" };
        let inside = rest.get(marks.len()..).unwrap_or_default();
        let end = inside.find(marks).filter(|end| {
            // Code of one mark ends on its line.
            *end > 0 && (marks.len() > 1 || !inside.get(..*end).unwrap_or_default().contains('\n'))
        });
        if let Some(end) = end {
            let (words, rest) = text.split_at_checked(start).unwrap_or((text, ""));
            let (code, left) = rest.split_at_checked(end + 2 * marks.len()).unwrap_or((rest, ""));
            return (words, code, left);
        }
        from = start + marks.len();
    }
    (text, "", "")
}

/// What people say: names become mentions, and a line that begins with a dash becomes one of a list.
fn prose(workspace: &Workspace, typed: &str, text: &mut String) {
    let mut rest = typed;
    let mut before = text.chars().last().unwrap_or('\n');
    while let Some(char) = rest.chars().next() {
        let taken = match char {
            '@' | '#' if !before.is_alphanumeric() => named(workspace, rest),
            '-' | '*' if before == '\n' && rest.get(1..).is_some_and(|rest| rest.starts_with(' ')) => {
                Some(("•".to_owned(), 1))
            }
            _ => None,
        };
        let (words, length) = taken.unwrap_or_else(|| plain(rest, before));
        text.push_str(&words);
        let (done, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
        before = done.chars().last().unwrap_or(' ');
        rest = left;
    }
}

/// Code: nothing in it is a name, but an address is one.
fn raw(code: &str, text: &mut String) {
    let mut rest = code;
    let mut before = ' ';
    while !rest.is_empty() {
        let (words, length) = plain(rest, before);
        text.push_str(&words);
        let (done, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
        before = done.chars().last().unwrap_or(' ');
        rest = left;
    }
}

/// Writes the next sign, reference or address; returns it with how much of the text it was.
fn plain(rest: &str, before: char) -> (String, usize) {
    let Some(char) = rest.chars().next() else { return (String::new(), rest.len()) };
    let kept = ["&amp;", "&lt;", "&gt;"].iter().any(|entity| rest.starts_with(entity));
    let words = match char {
        '<' => match reference(rest) {
            Some(end) => return (rest.get(..=end).unwrap_or_default().to_owned(), end + 1),
            None => "&lt;".to_owned(),
        },
        'h' if !before.is_alphanumeric() => match address(rest) {
            Some(url) => {
                return (format!("<{}>", url.replace("&amp;", "&").replace('&', "&amp;")), url.len());
            }
            None => "h".to_owned(),
        },
        '>' => "&gt;".to_owned(),
        '&' if !kept => "&amp;".to_owned(),
        _ => char.to_string(),
    };
    (words, char.len_utf8())
}

/// Returns the address with which a text begins, without the signs that end a sentence.
fn address(text: &str) -> Option<&str> {
    let body = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let ends = |char: char| char.is_whitespace() || matches!(char, '<' | '>' | '`' | '"' | '|' | '*');
    let length = body.find(ends).unwrap_or(body.len());
    let url = text.get(..text.len() - body.len() + length)?;
    let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '_', '~']);
    let url = if url.contains('(') { url } else { url.trim_end_matches(')') };
    (url.len() > text.len() - body.len()).then_some(url)
}

/// Returns where a reference in angle brackets ends, if one begins here.
pub(crate) fn reference(text: &str) -> Option<usize> {
    let end = text.find('>')?;
    let inside = text.get(1..end)?;
    let known = ["@", "#", "!", "http://", "https://", "mailto:"];
    (known.iter().any(|start| inside.starts_with(start)) && !inside.contains(['<', '\n'])).then_some(end)
}

/// Turns `@name` and `#name` into what they stand for.
fn named(workspace: &Workspace, text: &str) -> Option<(String, usize)> {
    let sign = text.chars().next()?;
    let plain = |char: &char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.');
    let name: String = text.chars().skip(1).take_while(plain).collect();
    let name = name.trim_end_matches('.');
    let length = sign.len_utf8() + name.len();
    if name.is_empty() {
        return None;
    }
    if sign == '#' {
        let place = workspace.channels.values().find(|place| place.kind != Kind::Im && place.name == name)?;
        return Some((format!("<#{}|{}>", place.id, place.name), length));
    }
    if matches!(name, "here" | "channel" | "everyone") {
        return Some((format!("<!{name}>"), length));
    }
    if let Some(group) = workspace.groups.iter().find(|group| group.handle == name) {
        return Some((format!("<!subteam^{}>", group.id), length));
    }
    let user = workspace.user_named(name).ok()?;
    Some((format!("<@{}>", user.id), length))
}
