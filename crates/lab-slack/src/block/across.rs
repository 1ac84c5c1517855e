//! What no block says alone: names that must differ, sums, and how many of a kind.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::block::layout::Surface;
use crate::block::table;
use crate::block::walk::Walk;

/// The limit for all markdown blocks of a payload together.
const MARKDOWN: usize = 12_000;

/// Checks the list of blocks as a whole; the walk stands at the list.
pub(super) fn blocks(walk: &mut Walk, blocks: &Value, surface: Surface) {
    let Some(blocks) = blocks.as_array() else {
        return;
    };
    block_ids(walk, blocks);
    if surface == Surface::Message {
        markdown(walk, blocks);
        charts(walk, blocks);
    } else {
        one_focus(walk, blocks);
    }
    cells(walk, blocks);
}

fn block_ids(walk: &mut Walk, blocks: &[Value]) {
    let mut seen = HashSet::new();
    for (at, block) in blocks.iter().enumerate() {
        // A markdown block's name is not kept, so it cannot clash.
        let id = block.get("block_id").and_then(Value::as_str).filter(|_| kind(block) != "markdown");
        if let Some(id) = id
            && !seen.insert(id)
        {
            let message = format!("`block_id` \"{id}\" already exists");
            walk.step(&at.to_string(), |walk| walk.note_in("block_id", message));
        }
    }
}

/// Two elements of a block may not have the same name.
pub(super) fn action_ids(object: &Map<String, Value>, walk: &mut Walk) {
    distinct(object, "elements", walk);
}

/// The same for the buttons of a card.
pub(super) fn card_action_ids(object: &Map<String, Value>, walk: &mut Walk) {
    distinct(object, "actions", walk);
}

fn distinct(object: &Map<String, Value>, list: &str, walk: &mut Walk) {
    let elements = object.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut seen = HashSet::new();
    for (at, element) in elements.iter().enumerate().take(25) {
        if let Some(id) = element.get("action_id").and_then(Value::as_str)
            && id.len() <= 1020
            && !seen.insert(id)
        {
            let message = format!("`action_id` \"{id}\" already exists");
            walk.step(list, |walk| walk.step(&at.to_string(), |walk| walk.note_in("action_id", message)));
        }
    }
}

fn markdown(walk: &mut Walk, blocks: &[Value]) {
    let texts = blocks.iter().filter(|block| kind(block) == "markdown").filter_map(|block| block.get("text"));
    let length: usize = texts.filter_map(Value::as_str).map(|text| text.chars().count()).sum();
    if length > MARKDOWN {
        walk.note(format!("markdown blocks must be less than {} characters in total", MARKDOWN + 1));
    }
}

fn charts(walk: &mut Walk, blocks: &[Value]) {
    if blocks.iter().filter(|block| kind(block) == "data_visualization").count() > 2 {
        walk.note("too many data_visualization blocks");
    }
}

fn one_focus(walk: &mut Walk, blocks: &[Value]) {
    let focused = |element: &&Value| element.get("focus_on_load").and_then(Value::as_bool) == Some(true);
    let elements = blocks.iter().flat_map(|block| {
        let many = block.get("elements").and_then(Value::as_array).into_iter().flatten();
        many.chain(block.get("element")).chain(block.get("accessory"))
    });
    if elements.filter(focused).count() > 1 {
        walk.note("only one element can have `focus_on_load` set to true");
    }
}

fn cells(walk: &mut Walk, blocks: &[Value]) {
    for (at, block) in blocks.iter().enumerate() {
        let most = match kind(block) {
            "table" => 10_000,
            "data_table" => 20_000,
            _ => continue,
        };
        if table::characters(block) > most {
            let message = format!("cells must be less than {} characters in total", most + 1);
            walk.step(&at.to_string(), |walk| walk.note_in("rows", message));
        }
    }
}

/// Returns the places of all tables, also of those in containers.
pub(super) fn tables(list: &str, blocks: &Value) -> Vec<String> {
    let is_table = |block: &Value| matches!(kind(block), "table" | "data_table");
    let mut found = Vec::new();
    for (at, block) in blocks.as_array().into_iter().flatten().enumerate() {
        if is_table(block) {
            found.push(format!("{list}/{at}"));
        }
        let children = block.get("child_blocks").and_then(Value::as_array).into_iter().flatten();
        let inner = children.enumerate().filter(|(_, child)| is_table(child));
        found.extend(inner.map(|(child, _)| format!("{list}/{at}/child_blocks/{child}")));
    }
    found
}

/// Returns the characters of every `text` in a value, however deep it lies; nothing recurses.
pub(super) fn text_length(value: &Value) -> usize {
    let mut open = vec![value];
    let mut length = 0;
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                for (name, value) in members {
                    match value.as_str().filter(|_| name == "text") {
                        Some(text) => length += text.chars().count(),
                        None => open.push(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    length
}

/// Returns the type of a block, or nothing.
pub(super) fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}
