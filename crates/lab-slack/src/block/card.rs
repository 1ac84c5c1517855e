//! Blocks that group and report: alert, card, carousel, container, task and plan.

use serde_json::{Map, Value};

use crate::block::across;
use crate::block::element::{BUTTON_KIND, IMAGE_KIND};
use crate::block::layout::CHILDREN;
use crate::block::rich::RICH_TEXT;
use crate::block::shape::{BLOCK_ID, Field, Kind, NO_LIMIT, Rule, Shape, may, need};
use crate::block::text::{EITHER, ICON, PLAIN};
use crate::block::walk::Walk;

/// On every surface.
pub(super) static CARDS: [Kind; 1] = [Kind("card", &CARD)];

/// In messages and on the Home tab.
pub(super) static WIDE_CARDS: [Kind; 2] = [Kind("carousel", &CAROUSEL), Kind("container", &CONTAINER)];

/// Only in messages.
pub(super) static MESSAGE_CARDS: [Kind; 2] = [Kind("task_card", &TASK_CARD), Kind("plan", &PLAN)];

/// Only in modals.
pub(super) static MODAL_CARDS: [Kind; 1] = [Kind("alert", &ALERT)];

const IMAGE: Rule = Rule::Typed(&[&IMAGE_KIND]);
const RICH: Rule = Rule::Typed(&[&RICH_TEXT]);

static ALERT: Shape = Shape {
    fields: &[
        need("text", Rule::Text(EITHER, 200)),
        may("level", Rule::Word(&["default", "info", "warning", "error", "success"])),
        BLOCK_ID,
    ],
    checks: &[],
};

static CARD: Shape = Shape {
    fields: &[
        may("hero_image", IMAGE),
        may("icon", IMAGE),
        may("slack_icon", Rule::Object(&ICON)),
        may("title", Rule::Text(EITHER, 150)),
        may("subtitle", Rule::Text(EITHER, 150)),
        may("body", Rule::Text(EITHER, 200)),
        may("subtext", Rule::Text(EITHER, 200)),
        may("actions", Rule::List(1, 3, &Rule::Typed(&[&BUTTON_KIND]))),
        BLOCK_ID,
    ],
    checks: &[something_on_it, one_icon, across::card_action_ids],
};

static CAROUSEL: Shape =
    Shape { fields: &[need("elements", Rule::List(1, 10, &Rule::Typed(&[&CARDS]))), BLOCK_ID], checks: &[] };

static CONTAINER: Shape = Shape {
    fields: &[
        may("title", Rule::Text(PLAIN, 150)),
        may("rich_text_title", RICH),
        may("subtitle", Rule::Text(EITHER, 150)),
        need("child_blocks", Rule::List(1, 10, &Rule::Typed(&CHILDREN))),
        may("width", Rule::Word(&["narrow", "standard", "wide", "full"])),
        may("icon", IMAGE),
        may("is_collapsible", Rule::Bool),
        may("default_collapsed", Rule::Bool),
        may("has_header_divider", Rule::Bool),
        BLOCK_ID,
    ],
    checks: &[some_title],
};

const SOURCES: Field = may("sources", Rule::List(0, NO_LIMIT, &SOURCE));

static SOURCE: Rule = Rule::Typed(&[&URL_SOURCE]);

static URL_SOURCE: [Kind; 1] = [Kind(
    "url",
    &Shape {
        fields: &[need("url", Rule::Str(1, NO_LIMIT)), need("text", Rule::Str(1, NO_LIMIT))],
        checks: &[],
    },
)];

static TASK_CARD: Shape = Shape {
    fields: &[
        need("task_id", Rule::Str(1, NO_LIMIT)),
        need("title", Rule::Str(1, NO_LIMIT)),
        may("details", RICH),
        may("output", RICH),
        SOURCES,
        // A card that waits makes sense in a plan only, and only there it is accepted.
        may("status", Rule::Word(&["in_progress", "complete", "error"])),
        may("icon", Rule::Object(&ICON)),
        BLOCK_ID,
    ],
    checks: &[],
};

static TASK: Shape = Shape {
    fields: &[
        may("type", Rule::Word(&["task_card"])),
        need("task_id", Rule::Str(1, NO_LIMIT)),
        need("title", Rule::Str(1, NO_LIMIT)),
        may("details", RICH),
        may("output", RICH),
        SOURCES,
        may("status", Rule::Word(&["pending", "in_progress", "complete", "error"])),
        may("icon", Rule::Object(&ICON)),
        BLOCK_ID,
    ],
    checks: &[],
};

static PLAN: Shape = Shape {
    fields: &[
        need("title", Rule::Str(1, NO_LIMIT)),
        may("tasks", Rule::List(0, 50, &Rule::Object(&TASK))),
        may("status", Rule::Word(&["pending", "in_progress", "complete", "error"])),
        BLOCK_ID,
    ],
    checks: &[],
};

fn something_on_it(object: &Map<String, Value>, walk: &mut Walk) {
    if !["hero_image", "title", "actions", "body"].iter().any(|name| object.contains_key(*name)) {
        walk.note("must define at least one of `hero_image`, `title`, `actions` or `body`");
    }
}

fn one_icon(object: &Map<String, Value>, walk: &mut Walk) {
    if object.contains_key("icon") && object.contains_key("slack_icon") {
        walk.note("cannot define both `icon` and `slack_icon`");
    }
}

fn some_title(object: &Map<String, Value>, walk: &mut Walk) {
    if !object.contains_key("title") && !object.contains_key("rich_text_title") {
        walk.note("must define either `title` or `rich_text_title`");
    }
}
