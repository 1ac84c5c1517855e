//! The text of blocks, in Slack's markup, whatever kinds of blocks there will be.

use serde_json::Value;

use crate::arrive::{at, items, said, text};
use crate::text::escape;

/// How deep blocks are searched.
const MAX_DEPTH: usize = 10;

/// Elements that only act: their labels say nothing about an incident.
const CONTROLS: &[&str] = &[
    "actions",
    "button",
    "overflow",
    "static_select",
    "external_select",
    "users_select",
    "conversations_select",
    "channels_select",
    "multi_static_select",
    "datepicker",
    "timepicker",
    "checkboxes",
    "radio_buttons",
    "plain_text_input",
    "input",
    "context_actions",
    "feedback_buttons",
    "icon_button",
    "workflow_button",
    "divider",
];

/// Kinds of lists whose members stand on one line.
const INLINE: &[&str] = &["rich_text_section", "rich_text_preformatted", "rich_text_quote"];

/// Returns the text of blocks, a line for each that says something. Tables are read elsewhere.
pub(crate) fn blocks_text(blocks: &[Value]) -> String {
    let mut lines = Vec::new();
    for block in blocks {
        gather(block, 0, &mut lines);
    }
    lines.retain(|line| !line.trim().is_empty());
    lines.join("\n")
}

/// Returns the text of one block or element on one line, for a cell of a table.
pub(super) fn line_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) => String::new(),
        Value::Object(_) => {
            let mut lines = Vec::new();
            gather(value, 0, &mut lines);
            lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
        }
    }
}

fn gather(item: &Value, depth: usize, lines: &mut Vec<String>) {
    let kind = said(item, &["type"]);
    if depth > MAX_DEPTH
        || CONTROLS.contains(&kind.as_str())
        || matches!(kind.as_str(), "table" | "data_table")
    {
        return;
    }
    if INLINE.contains(&kind.as_str()) {
        lines.push(inline(items(item, &["elements"])));
        return;
    }
    if kind == "image" {
        lines.extend(text(item, &["alt_text"]));
        lines.extend(text(item, &["title", "text"]));
        return;
    }
    for name in ["title", "subtitle", "header", "description", "body", "text"] {
        match at(item, &[name]) {
            Some(Value::String(text)) => lines.push(literal(&kind, text)),
            Some(inner) if inner.is_object() => lines.extend(object(inner, depth, lines.len())),
            Some(_) | None => {}
        }
    }
    for field in items(item, &["fields"]) {
        let field = object(field, depth, 0).join(" ");
        lines.push(field.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    }
    for name in ["elements", "blocks", "rows", "cells", "content", "tasks", "details", "output", "children"] {
        match at(item, &[name]) {
            Some(Value::Array(list)) => list.iter().for_each(|inner| gather(inner, depth + 1, lines)),
            Some(inner) if inner.is_object() => gather(inner, depth + 1, lines),
            Some(_) | None => {}
        }
    }
    for element in at(item, &["accessory"]).into_iter() {
        gather(element, depth + 1, lines);
    }
}

/// Reads a composition object for text, or a block in the place of one.
fn object(inner: &Value, depth: usize, _at: usize) -> Vec<String> {
    let kind = said(inner, &["type"]);
    match text(inner, &["text"]) {
        Some(text) => vec![literal(&kind, &text)],
        None => {
            let mut lines = Vec::new();
            gather(inner, depth + 1, &mut lines);
            lines
        }
    }
}

/// Returns a text in markup: what is plain text there may hold characters that markup escapes.
fn literal(kind: &str, text: &str) -> String {
    let is_escaped = ["&amp;", "&lt;", "&gt;"].iter().any(|escape| text.contains(escape));
    match kind {
        "plain_text" | "raw_text" | "text" if !is_escaped => escape(text),
        _ => text.to_owned(),
    }
}

/// Puts the elements of rich text beside each other, in the markup that stands for them.
fn inline(elements: &[Value]) -> String {
    let mut line = String::new();
    for element in elements {
        let field = |name: &str| said(element, &[name]);
        match field("type").as_str() {
            "link" => {
                let (url, label) = (field("url"), field("text"));
                if label.is_empty() || label == url {
                    line.push_str(&format!("<{url}>"));
                } else {
                    line.push_str(&format!("<{url}|{}>", escape(&label)));
                }
            }
            "user" => line.push_str(&format!("<@{}>", field("user_id"))),
            "usergroup" => line.push_str(&format!("<!subteam^{}>", field("usergroup_id"))),
            "channel" => line.push_str(&format!("<#{}>", field("channel_id"))),
            "broadcast" => line.push_str(&format!("<!{}>", field("range"))),
            "emoji" => line.push_str(&format!(":{}:", field("name"))),
            "date" => line.push_str(&escape(&field("fallback"))),
            "color" => line.push_str(&field("value")),
            _ => match at(element, &["elements"]) {
                Some(_) => line.push_str(&inline(items(element, &["elements"]))),
                None => line.push_str(&escape(&field("text"))),
            },
        }
    }
    line
}
