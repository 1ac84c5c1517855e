//! What a person types, as Slack keeps it: names become mentions, odd signs become entities, words become rich text.

use serde_json::{Value, json};

use crate::lab::workspace::state::channel::Kind;
use crate::lab::workspace::state::model::Workspace;

/// Turns typed text into Slack's form. What is in that form already stays as it is.
pub(crate) fn written(workspace: &Workspace, typed: &str) -> String {
    let mut text = String::with_capacity(typed.len());
    let mut rest = typed;
    let mut before = ' ';
    while let Some(char) = rest.chars().next() {
        let taken = match char {
            '<' => reference(rest)
                .map(|inside| (rest.get(..inside + 1).unwrap_or_default().to_owned(), inside + 1)),
            '@' | '#' if !before.is_alphanumeric() => named(workspace, rest),
            _ => None,
        };
        let (words, length) = taken.unwrap_or_else(|| {
            let words = match char {
                '<' => "&lt;".to_owned(),
                '>' => "&gt;".to_owned(),
                '&' if !["&amp;", "&lt;", "&gt;"].iter().any(|entity| rest.starts_with(entity)) => {
                    "&amp;".to_owned()
                }
                _ => char.to_string(),
            };
            (words, char.len_utf8())
        });
        text.push_str(&words);
        let (done, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
        before = done.chars().last().unwrap_or(' ');
        rest = left;
    }
    text
}

/// Returns where a reference in angle brackets ends, if one begins here.
fn reference(text: &str) -> Option<usize> {
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

/// The rich text that a client sends along with a text.
pub(crate) fn rich(text: &str) -> Value {
    let mut elements = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        if char == '<'
            && let Some(end) = reference(rest)
            && let Some(inside) = rest.get(1..end)
        {
            if !plain.is_empty() {
                elements.push(words(&std::mem::take(&mut plain)));
            }
            elements.push(referred(inside));
            rest = rest.get(end + 1..).unwrap_or_default();
            continue;
        }
        plain.push(char);
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
    }
    if !plain.is_empty() || elements.is_empty() {
        elements.push(words(&plain));
    }
    json!([{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}])
}

fn words(text: &str) -> Value {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    json!({"type": "text", "text": text})
}

fn referred(inside: &str) -> Value {
    let (target, label) =
        inside.split_once('|').map_or((inside, None), |(target, label)| (target, Some(label)));
    if let Some(user) = target.strip_prefix('@') {
        return json!({"type": "user", "user_id": user});
    }
    if let Some(channel) = target.strip_prefix('#') {
        return json!({"type": "channel", "channel_id": channel});
    }
    if let Some(group) = target.strip_prefix("!subteam^") {
        return json!({"type": "usergroup", "usergroup_id": group});
    }
    if let Some(range) = target.strip_prefix('!') {
        return json!({"type": "broadcast", "range": range});
    }
    match label {
        Some(label) => json!({"type": "link", "url": target, "text": label}),
        None => json!({"type": "link", "url": target}),
    }
}
