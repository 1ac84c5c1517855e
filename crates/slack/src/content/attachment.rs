//! Attachments: forwarded messages, cards of programs, tables, and what Slack shows of a link.

use serde_json::Value;

use crate::arrive::{attached, flag, items, said, text};
use crate::content::block::blocks_text;
use crate::content::file::read_files;
use crate::content::passage::{Content, Origin, PassageKind};
use crate::content::same::{holds, merged};
use crate::content::table::tables;

/// A forwarded message may hold another one; deeper ones are not read.
const MAX_DEPTH: usize = 3;

pub(super) fn read_attachments(attachments: &[Value], depth: usize, content: &mut Content) {
    if depth > MAX_DEPTH {
        return;
    }
    for attachment in attachments {
        read_attachment(attachment, depth, content);
    }
}

fn read_attachment(attachment: &Value, depth: usize, content: &mut Content) {
    let kind = kind_of(attachment);
    let blocks = items(attachment, &["blocks"]);
    let mut text = match &kind {
        PassageKind::Forwarded(_) => forwarded(attachment),
        PassageKind::Words
        | PassageKind::Table
        | PassageKind::Card
        | PassageKind::Preview
        | PassageKind::Snippet { .. } => card(attachment),
    };
    let mut found = tables(blocks);
    for inner in items(attachment, &["message_blocks"]) {
        found.extend(tables(items(inner, &["message", "blocks"])));
    }
    // Slack says in the fallback what old clients show: it counts where there is nothing else.
    let is_fallback = text.trim().is_empty() && found.iter().all(String::is_empty);
    if is_fallback {
        let fallback = said(attachment, &["fallback"]);
        text = if is_placeholder(&fallback) { String::new() } else { fallback };
    }
    let forwarded_by = match &kind {
        PassageKind::Forwarded(origin) => Some(origin.clone()),
        PassageKind::Words
        | PassageKind::Table
        | PassageKind::Card
        | PassageKind::Preview
        | PassageKind::Snippet { .. } => None,
    };
    let of_table = forwarded_by.clone().map_or(PassageKind::Table, PassageKind::Forwarded);
    // A forwarded message whose words are all in its cards has no words of its own but its date.
    let has_inner = !items(attachment, &["attachments"]).is_empty()
        || items(attachment, &["message_blocks"])
            .iter()
            .any(|inner| !items(inner, &["message", "attachments"]).is_empty());
    if !(has_inner && is_fallback) {
        content.add(kind, text);
    }
    for table in found {
        content.add(of_table.clone(), table);
    }
    let files: Vec<_> = items(attachment, &["files"]).iter().map(attached).collect();
    read_files(&files, content);
    let mut inner = Content::default();
    read_attachments(items(attachment, &["attachments"]), depth + 1, &mut inner);
    for message in items(attachment, &["message_blocks"]) {
        read_attachments(items(message, &["message", "attachments"]), depth + 1, &mut inner);
    }
    // What stands in a forwarded message is forwarded, and its cards are a program's.
    for passage in inner.passages {
        let kind = match (passage.kind, &forwarded_by) {
            (PassageKind::Card | PassageKind::Words, Some(origin)) => {
                PassageKind::Forwarded(Origin { is_bot: true, ..origin.clone() })
            }
            (PassageKind::Table, Some(origin)) => PassageKind::Forwarded(origin.clone()),
            (kind, _) => kind,
        };
        content.add(kind, passage.text);
    }
    content.unread.extend(inner.unread);
}

/// `[no preview available]` and the like stand for text that only blocks say.
fn is_placeholder(fallback: &str) -> bool {
    let fallback = fallback.trim();
    fallback.starts_with('[') && fallback.ends_with(']') && fallback.to_lowercase().contains("preview")
        || fallback.eq_ignore_ascii_case("this content can't be displayed.")
}

fn kind_of(attachment: &Value) -> PassageKind {
    let is = |name: &str| flag(attachment, &[name]);
    let link = text(attachment, &["from_url"]).or_else(|| text(attachment, &["original_url"]));
    let is_message = is("is_share")
        || is("is_msg_unfurl")
        || is("is_reply_unfurl")
        || is("is_thread_root_unfurl")
        || !items(attachment, &["message_blocks"]).is_empty()
        || (text(attachment, &["channel_id"]).is_some() && text(attachment, &["author_id"]).is_some());
    if is_message {
        let author = text(attachment, &["author_id"]);
        let is_bot = text(attachment, &["bot_id"]).is_some()
            || author.as_deref().is_some_and(|id| id.starts_with('B'))
            || text(attachment, &["author_subname"]).as_deref() == Some("bot")
            || items(attachment, &["message_blocks"]).iter().any(|inner| {
                text(inner, &["message", "bot_id"]).is_some()
                    || text(inner, &["message", "subtype"]).as_deref() == Some("bot_message")
            });
        return PassageKind::Forwarded(Origin {
            user: author.filter(|id| !id.starts_with('B')),
            name: text(attachment, &["author_name"]),
            is_bot,
            channel: text(attachment, &["channel_id"]),
            ts: text(attachment, &["ts"]),
        });
    }
    match link {
        Some(_) => PassageKind::Preview,
        None => PassageKind::Card,
    }
}

fn forwarded(attachment: &Value) -> String {
    let mut blocks = Vec::new();
    for inner in items(attachment, &["message_blocks"]) {
        blocks.push(blocks_text(items(inner, &["message", "blocks"])));
    }
    blocks.push(blocks_text(items(attachment, &["blocks"])));
    blocks.retain(|text| !text.is_empty());
    merged(&said(attachment, &["text"]), &blocks.join("\n"))
}

fn card(attachment: &Value) -> String {
    let mut lines: Vec<String> = Vec::new();
    for name in ["pretext", "title", "text"] {
        let line = said(attachment, &[name]);
        if !lines.iter().any(|known| holds(known, &line)) {
            lines.push(line);
        }
    }
    for field in items(attachment, &["fields"]) {
        let (title, value) = (said(field, &["title"]), said(field, &["value"]));
        let (title, value) = (title.trim().trim_end_matches(':'), value.trim());
        lines.push(match (title.is_empty(), value.is_empty()) {
            (false, false) => format!("{title}: {value}"),
            (_, _) => format!("{title}{value}"),
        });
    }
    lines.push(blocks_text(items(attachment, &["blocks"])));
    lines.retain(|line| !line.trim().is_empty());
    lines.join("\n")
}
