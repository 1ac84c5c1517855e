//! The blocks themselves, and on which surface each may stand.

use serde_json::{Map, Value};

use crate::block::across;
use crate::block::card::{CARDS, MESSAGE_CARDS, MODAL_CARDS, WIDE_CARDS};
use crate::block::element::{CHOSEN, CONTEXT_ACTIONS, DATETIME, IMAGE_KIND, PRESSED};
use crate::block::input::{RICH, TYPED_IN};
use crate::block::rich::RICH_TEXT;
use crate::block::select::MENUS;
use crate::block::shape::Problem;
use crate::block::shape::{BLOCK_ID, Kind, NO_LIMIT, Rule, Shape, may, need};
use crate::block::table::{CHARTS, DATA_TABLES, TABLES};
use crate::block::text::{EITHER, MAX_TEXT_LEN, PLAIN, SLACK_FILE, one_image};
use crate::block::walk::Walk;

/// Where blocks are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// A message or one of its attachments.
    Message,
    Modal,
    /// The Home tab of an app.
    Home,
}

/// Judges the `blocks` of a message, a modal or a Home tab; pointers begin with `/blocks`.
///
/// # Errors
/// Everything that is wrong with them.
pub fn validate_blocks(blocks: &Value, surface: Surface) -> Result<(), Vec<Problem>> {
    let mut walk = Walk::at("/blocks");
    walk.check(rule(surface), blocks);
    if walk.is_clean() {
        across::blocks(&mut walk, blocks, surface);
    }
    walk.end()
}

/// Returns what the list of blocks on a surface must be.
pub(super) fn rule(surface: Surface) -> &'static Rule {
    match surface {
        Surface::Message => &MESSAGE_RULE,
        Surface::Modal => &MODAL_RULE,
        Surface::Home => &HOME_RULE,
    }
}

static MESSAGE_RULE: Rule = Rule::List(0, 50, &Rule::Typed(&MESSAGE));
static MODAL_RULE: Rule = Rule::List(0, 100, &Rule::Typed(&MODAL));
static HOME_RULE: Rule = Rule::List(0, 100, &Rule::Typed(&HOME));

static MESSAGE: [&[Kind]; 9] = [
    &EVERYWHERE,
    &RICH_TEXT,
    &ONLY_MESSAGE,
    &CARDS,
    &WIDE_CARDS,
    &MESSAGE_CARDS,
    &TABLES,
    &DATA_TABLES,
    &CHARTS,
];
static MODAL: [&[Kind]; 4] = [&EVERYWHERE, &RICH_TEXT, &CARDS, &MODAL_CARDS];
static HOME: [&[Kind]; 6] = [&EVERYWHERE, &RICH_TEXT, &CARDS, &WIDE_CARDS, &TABLES, &DATA_TABLES];

/// What may stand in a container.
pub(super) static CHILDREN: [&[Kind]; 4] = [&EVERYWHERE, &RICH_TEXT, &FILE_KIND, &TABLES];

static EVERYWHERE: [Kind; 8] = [
    Kind("section", &SECTION),
    Kind("divider", &DIVIDER),
    Kind("header", &HEADER),
    Kind("context", &CONTEXT),
    Kind("actions", &ACTIONS),
    Kind("image", &IMAGE),
    Kind("input", &INPUT),
    Kind("video", &VIDEO),
];

static ONLY_MESSAGE: [Kind; 3] =
    [Kind("context_actions", &CONTEXT_ACTIONS_BLOCK), Kind("markdown", &MARKDOWN), Kind("file", &FILE)];

static FILE_KIND: [Kind; 1] = [Kind("file", &FILE)];

static SECTION: Shape = Shape {
    fields: &[
        may("text", Rule::Text(EITHER, MAX_TEXT_LEN)),
        may("fields", Rule::List(1, 10, &Rule::Text(EITHER, 2000))),
        may("accessory", Rule::Typed(&[&PRESSED, &MENUS, &IMAGE_KIND])),
        may("expand", Rule::Bool),
        BLOCK_ID,
    ],
    checks: &[text_or_fields],
};

static DIVIDER: Shape = Shape { fields: &[BLOCK_ID], checks: &[] };

static HEADER: Shape = Shape {
    fields: &[need("text", Rule::Text(PLAIN, 150)), may("level", Rule::Int(1, 4)), BLOCK_ID],
    checks: &[],
};

/// A text object is recognized by its `type` as an element is.
static TEXTS: [Kind; 2] = [
    Kind(
        "plain_text",
        &Shape { fields: &[need("text", Rule::Str(1, MAX_TEXT_LEN)), may("emoji", Rule::Bool)], checks: &[] },
    ),
    Kind(
        "mrkdwn",
        &Shape {
            fields: &[need("text", Rule::Str(1, MAX_TEXT_LEN)), may("verbatim", Rule::Bool)],
            checks: &[],
        },
    ),
];

static CONTEXT: Shape = Shape {
    fields: &[need("elements", Rule::List(1, 10, &Rule::Typed(&[&TEXTS, &IMAGE_KIND]))), BLOCK_ID],
    checks: &[],
};

static ACTIONS: Shape = Shape {
    fields: &[
        need("elements", Rule::List(1, 25, &Rule::Typed(&[&PRESSED, &DATETIME, &MENUS, &RICH]))),
        BLOCK_ID,
    ],
    checks: &[across::action_ids],
};

static CONTEXT_ACTIONS_BLOCK: Shape = Shape {
    fields: &[need("elements", Rule::List(1, 5, &Rule::Typed(&[&CONTEXT_ACTIONS]))), BLOCK_ID],
    checks: &[across::action_ids],
};

static IMAGE: Shape = Shape {
    fields: &[
        need("alt_text", Rule::Str(1, 2000)),
        may("image_url", Rule::Str(1, 3000)),
        SLACK_FILE,
        may("title", Rule::Text(PLAIN, 2000)),
        BLOCK_ID,
    ],
    checks: &[one_image],
};

static INPUT: Shape = Shape {
    fields: &[
        need("label", Rule::Text(PLAIN, 2000)),
        need("element", Rule::Typed(&[&TYPED_IN, &CHOSEN, &DATETIME, &MENUS, &RICH])),
        may("hint", Rule::Text(PLAIN, 2000)),
        may("optional", Rule::Bool),
        may("dispatch_action", Rule::Bool),
        BLOCK_ID,
    ],
    checks: &[no_dispatch_of_files],
};

static MARKDOWN: Shape = Shape { fields: &[need("text", Rule::Str(1, 12_000)), BLOCK_ID], checks: &[] };

static FILE: Shape = Shape {
    fields: &[need("external_id", Rule::Str(1, 255)), need("source", Rule::Word(&["remote"])), BLOCK_ID],
    checks: &[],
};

static VIDEO: Shape = Shape {
    fields: &[
        need("alt_text", Rule::Str(1, NO_LIMIT)),
        need("title", Rule::Text(PLAIN, 199)),
        need("thumbnail_url", Rule::Str(1, 3000)),
        need("video_url", Rule::Str(1, 3000)),
        may("title_url", Rule::Str(1, 3000)),
        may("description", Rule::Text(PLAIN, 199)),
        may("author_name", Rule::Str(0, 49)),
        may("provider_name", Rule::Str(0, NO_LIMIT)),
        may("provider_icon_url", Rule::Str(1, 3000)),
        BLOCK_ID,
    ],
    checks: &[over_https],
};

fn text_or_fields(object: &Map<String, Value>, walk: &mut Walk) {
    if !object.contains_key("text") && !object.contains_key("fields") {
        walk.note_in("type", "must define either `text` or `fields`");
    }
}

fn no_dispatch_of_files(object: &Map<String, Value>, walk: &mut Walk) {
    let dispatches = object.get("dispatch_action").and_then(Value::as_bool) == Some(true);
    let holds = object.get("element").and_then(|element| element.get("type")).and_then(Value::as_str);
    if dispatches && holds == Some("file_input") {
        walk.step("element", |walk| walk.note_in("type", "unsupported type: file_input"));
    }
}

fn over_https(object: &Map<String, Value>, walk: &mut Walk) {
    for name in ["video_url", "title_url"] {
        let url = object.get(name).and_then(Value::as_str);
        if url.is_some_and(|url| !url.is_empty() && !url.starts_with("https://")) {
            walk.note_in(name, "must be an HTTPS URL");
        }
    }
}
