//! The rich text that a client sends along with a text: fences, quotes, lists, and what stands in a line.

use serde_json::{Map, Value, json};

use crate::state::user::set;
use crate::state::wording::reference;

const FENCE: &str = "```";

/// Turns a text, as Slack keeps it, into the blocks that go with it.
pub(crate) fn rich(text: &str) -> Value {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, inside, after)) = fenced(rest) {
        lines(before, &mut parts);
        let mut elements = Vec::new();
        literal(inside, Style::default(), &mut elements);
        parts.push(json!({"type": "rich_text_preformatted", "elements": elements, "border": 0}));
        rest = after;
    }
    lines(rest, &mut parts);
    if parts.is_empty() {
        parts.push(section(""));
    }
    json!([{"type": "rich_text", "elements": parts}])
}

/// Splits at the first fence: what stands before it, in it, and after it.
fn fenced(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(FENCE)?;
    let (inside, after) = rest.split_once(FENCE)?;
    let inside = inside.strip_prefix('\n').unwrap_or(inside);
    let inside = inside.strip_suffix('\n').unwrap_or(inside);
    Some((before, inside, after.strip_prefix('\n').unwrap_or(after))).filter(|_| !inside.is_empty())
}

/// What a line is, with the text that is left of it.
#[derive(Clone, Copy, PartialEq)]
enum Line<'a> {
    Plain,
    Quote(&'a str),
    Item { ordered: bool, indent: usize, text: &'a str },
}

fn line(text: &str) -> Line<'_> {
    if let Some(quoted) = text.strip_prefix("&gt;") {
        return Line::Quote(quoted.strip_prefix(' ').unwrap_or(quoted));
    }
    let inner = text.trim_start_matches(' ');
    let indent = ((text.len() - inner.len()) / 4).min(8);
    if let Some(text) = ["• ", "◦ ", "▪ "].iter().find_map(|sign| inner.strip_prefix(sign)) {
        return Line::Item { ordered: false, indent, text };
    }
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    match inner.get(digits..).and_then(|rest| rest.strip_prefix(". ")) {
        Some(text) if (1..=3).contains(&digits) => Line::Item { ordered: true, indent, text },
        Some(_) | None => Line::Plain,
    }
}

/// Turns lines into sections, quotes and lists; neighbors of a kind are one.
fn lines(text: &str, parts: &mut Vec<Value>) {
    let mut rest = text;
    while !rest.is_empty() {
        // Three signs quote everything that follows.
        if let Some(quoted) = rest.strip_prefix("&gt;&gt;&gt;") {
            parts.push(quote(quoted.trim_start_matches([' ', '\n'])));
            return;
        }
        let (all, left) = take(rest);
        parts.push(all);
        rest = left;
    }
}

/// Takes the lines of one kind from the front.
fn take(text: &str) -> (Value, &str) {
    let bare = |whole: &'_ str| whole.strip_suffix('\n').unwrap_or(whole).len();
    let kind = |at: usize| {
        let whole = text.get(at..).and_then(|rest| rest.split_inclusive('\n').next())?;
        Some((line(whole.get(..bare(whole)).unwrap_or_default()), at + whole.len()))
    };
    let mut end = 0;
    let mut quoted = Vec::new();
    let mut items = Vec::new();
    let mut first = None;
    while let Some((line, next)) = kind(end).filter(|_| end < text.len()) {
        let many = end > 0 && text.get(end..).is_some_and(|rest| rest.starts_with("&gt;&gt;&gt;"));
        let alike = match (first.unwrap_or(line), line) {
            (Line::Plain, Line::Plain) | (Line::Quote(_), Line::Quote(_)) => true,
            (Line::Item { ordered: one, indent: deep, .. }, Line::Item { ordered, indent, .. }) => {
                one == ordered && deep == indent
            }
            (Line::Plain | Line::Quote(_) | Line::Item { .. }, _) => false,
        };
        if many || !alike {
            break;
        }
        match line {
            Line::Plain => {}
            Line::Quote(text) => quoted.push(text),
            Line::Item { text, .. } => items.push(section(text)),
        }
        first.get_or_insert(line);
        end = next;
    }
    let (own, left) = text.split_at_checked(end).unwrap_or((text, ""));
    let part = match first.unwrap_or(Line::Plain) {
        Line::Plain => section(own),
        Line::Quote(_) => quote(&quoted.join("\n")),
        Line::Item { ordered, indent, .. } => json!({
            "type": "rich_text_list", "style": if ordered { "ordered" } else { "bullet" }, "indent": indent,
            "border": 0, "elements": items,
        }),
    };
    (part, left)
}

fn section(text: &str) -> Value {
    let mut elements = Vec::new();
    inline(text, Style::default(), &mut elements);
    json!({"type": "rich_text_section", "elements": elements})
}

fn quote(text: &str) -> Value {
    let mut elements = Vec::new();
    inline(text, Style::default(), &mut elements);
    json!({"type": "rich_text_quote", "elements": elements})
}

/// Which marks are open; the same form says which of them have no partner on the line.
#[derive(Debug, Clone, Copy, Default)]
struct Style {
    bold: bool,
    italic: bool,
    strike: bool,
    code: bool,
}

impl Style {
    fn of(&mut self, mark: char) -> Option<&mut bool> {
        match mark {
            '*' => Some(&mut self.bold),
            '_' => Some(&mut self.italic),
            '~' => Some(&mut self.strike),
            '`' => Some(&mut self.code),
            _ => None,
        }
    }

    fn has(mut self, mark: char) -> bool {
        self.of(mark).is_some_and(|flag| *flag)
    }

    fn with(mut self, mark: char) -> Self {
        if let Some(flag) = self.of(mark) {
            *flag = true;
        }
        self
    }

    /// Puts the style on an element, if there is any.
    fn on(self, mut element: Value) -> Value {
        let flags =
            [("bold", self.bold), ("italic", self.italic), ("strike", self.strike), ("code", self.code)];
        let style: Map<String, Value> =
            flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| (name.to_owned(), json!(true))).collect();
        if !style.is_empty() {
            set(&mut element, "style", Value::Object(style));
        }
        element
    }
}

/// Reads a line or several: marks, references, emoji, words.
///
/// A mark that finds no partner is not looked for again on its line, so that the work stays in proportion to the text.
fn inline(text: &str, style: Style, elements: &mut Vec<Value>) {
    let mut words = String::new();
    let mut alone = Style::default();
    let mut before = ' ';
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let inside = rest.get(char.len_utf8()..).unwrap_or_default();
        let mut length = char.len_utf8();
        let mut found = Vec::new();
        match char {
            '<' => {
                if let Some((element, end)) = referred(rest, style) {
                    found.push(element);
                    length = end;
                }
            }
            ':' if !before.is_alphanumeric() => {
                if let Some((element, end)) = emoji(rest, style) {
                    found.push(element);
                    length = end;
                }
            }
            '\n' => alone = Style::default(),
            '*' | '_' | '~' | '`' if opens(before, char, inside) && !style.has(char) && !alone.has(char) => {
                match closes(inside, char) {
                    Some(end) if char == '`' => {
                        literal(inside.get(..end).unwrap_or_default(), style.with(char), &mut found);
                        length = end + 2;
                    }
                    Some(end) => {
                        inline(inside.get(..end).unwrap_or_default(), style.with(char), &mut found);
                        length = end + 2;
                    }
                    None => alone = alone.with(char),
                }
            }
            _ => {}
        }
        let (done, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if found.is_empty() {
            words.push_str(done);
        } else {
            spoken(&mut words, style, elements);
            elements.append(&mut found);
        }
        before = done.chars().last().unwrap_or(' ');
        rest = left;
    }
    spoken(&mut words, style, elements);
}

/// Code: words, and addresses as links.
fn literal(text: &str, style: Style, elements: &mut Vec<Value>) {
    let mut words = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let found = referred(rest, style).filter(|(element, _)| element.get("url").is_some());
        let length = found.as_ref().map_or(char.len_utf8(), |(_, end)| *end);
        let (done, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match found {
            Some((element, _)) => {
                spoken(&mut words, style, elements);
                elements.push(element);
            }
            None => words.push_str(done),
        }
        rest = left;
    }
    spoken(&mut words, style, elements);
}

/// Tells whether a mark can open something: at the edge of a word, and before one.
fn opens(before: char, mark: char, inside: &str) -> bool {
    let next = inside.chars().next();
    !before.is_alphanumeric()
        && before != mark
        && next.is_some_and(|next| !next.is_whitespace() && next != mark)
}

/// Finds the partner of a mark on its line.
fn closes(inside: &str, mark: char) -> Option<usize> {
    let mut before = ' ';
    let mut skipped = 0;
    for (at, char) in inside.char_indices() {
        if char == '\n' {
            return None;
        }
        let next = inside.get(at + char.len_utf8()..).and_then(|rest| rest.chars().next());
        let edge = next.is_none_or(|next| !next.is_alphanumeric() && next != mark);
        if at >= skipped && char == mark && at > 0 && edge && (mark == '`' || !before.is_whitespace()) {
            return Some(at);
        }
        if char == '<' && at >= skipped {
            // What stands in a reference is no mark.
            let end = inside.get(at..).and_then(reference);
            skipped = end.map_or(skipped, |end| at + end);
        }
        before = char;
    }
    None
}

/// Ends the words that were read so far.
fn spoken(words: &mut String, style: Style, elements: &mut Vec<Value>) {
    if !words.is_empty() {
        let text = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        elements.push(style.on(json!({"type": "text", "text": text})));
        words.clear();
    }
}

/// Reads a reference in angle brackets; returns its element and where it ends.
fn referred(text: &str, style: Style) -> Option<(Value, usize)> {
    if !text.starts_with('<') {
        return None;
    }
    let end = reference(text)?;
    let inside = text.get(1..end)?;
    let (target, label) =
        inside.split_once('|').map_or((inside, None), |(target, label)| (target, Some(label)));
    let named = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let element = if let Some(user) = target.strip_prefix('@') {
        named(user).then(|| json!({"type": "user", "user_id": user}))?
    } else if let Some(channel) = target.strip_prefix('#') {
        named(channel).then(|| json!({"type": "channel", "channel_id": channel}))?
    } else if let Some(group) = target.strip_prefix("!subteam^") {
        named(group).then(|| json!({"type": "usergroup", "usergroup_id": group}))?
    } else if let Some(range) = target.strip_prefix('!') {
        let known = ["here", "channel", "everyone"].contains(&range);
        known.then(|| json!({"type": "broadcast", "range": range}))?
    } else {
        let mut link = json!({"type": "link", "url": target.replace("&amp;", "&")});
        if let Some(label) = label {
            set(&mut link, "text", json!(label));
        }
        link
    };
    Some((style.on(element), end + 1))
}

/// Reads an emoji by its name, with the tone of its skin; times of the day are none.
fn emoji(text: &str, style: Style) -> Option<(Value, usize)> {
    const MAX_NAME_LEN: usize = 64;
    let (name, rest) = text.strip_prefix(':')?.split_once(':')?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_+-'".contains(&byte);
    let named = name.len() <= MAX_NAME_LEN && name.bytes().all(plain);
    if !named || !(matches!(name, "+1" | "-1") || name.bytes().any(|byte| byte.is_ascii_lowercase())) {
        return None;
    }
    let mut element = json!({"type": "emoji", "name": name});
    let mut length = name.len() + 2;
    let tone = rest.strip_prefix(":skin-tone-").and_then(|tone| tone.split_once(':'));
    if let Some((tone, _)) = tone
        && let Ok(number @ 2..=6) = tone.parse::<u8>()
    {
        set(&mut element, "skin_tone", json!(number));
        length += ":skin-tone-:".len() + tone.len();
    }
    Some((style.on(element), length))
}
