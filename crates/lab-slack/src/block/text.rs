//! Composition objects: text, option, option group, confirmation, filter, files and icons.

use serde_json::{Map, Value};

use crate::block::shape::{Field, NO_LIMIT, Rule, Shape, may, need};
use crate::block::walk::Walk;

/// Only `plain_text`.
pub(super) const PLAIN: &[&str] = &["plain_text"];

/// Either format.
pub(super) const EITHER: &[&str] = &["plain_text", "mrkdwn"];

/// No text object is longer, wherever it is.
pub(super) const MAX_TEXT_LEN: usize = 3000;

/// The placeholder of an input or a menu.
pub(super) const PLACEHOLDER: Field = may("placeholder", Rule::Text(PLAIN, 150));

/// The dialog that asks before an element acts.
pub(super) const CONFIRM: Field = may(
    "confirm",
    Rule::Object(&Shape {
        fields: &[
            need("title", Rule::Text(PLAIN, 100)),
            need("text", Rule::Text(EITHER, 300)),
            need("confirm", Rule::Text(PLAIN, 30)),
            need("deny", Rule::Text(PLAIN, 30)),
            may("style", STYLE),
        ],
        checks: &[],
    }),
);

/// The colors that a button may have.
pub(super) const STYLE: Rule = Rule::Word(&["primary", "danger"]);

/// An option of a menu: plain text only.
pub(super) static OPTION: Rule = Rule::Object(&Shape {
    fields: &[
        need("text", Rule::Text(PLAIN, 75)),
        need("value", Rule::Str(1, 150)),
        may("description", Rule::Text(PLAIN, 75)),
    ],
    checks: &[],
});

/// An option of an overflow menu: it may lead somewhere.
pub(super) static OVERFLOW_OPTION: Rule = Rule::Object(&Shape {
    fields: &[
        need("text", Rule::Text(PLAIN, 75)),
        need("value", Rule::Str(1, 150)),
        may("description", Rule::Text(PLAIN, 75)),
        may("url", Rule::Str(1, 3000)),
    ],
    checks: &[],
});

/// An option of radio buttons or checkboxes: formatted text is allowed.
pub(super) static CHOICE: Rule = Rule::Object(&Shape {
    fields: &[
        need("text", Rule::Text(EITHER, 75)),
        need("value", Rule::Str(1, 150)),
        may("description", Rule::Text(EITHER, 75)),
    ],
    checks: &[],
});

/// A labeled group of options.
pub(super) static OPTION_GROUP: Rule = Rule::Object(&Shape {
    fields: &[need("label", Rule::Text(PLAIN, 75)), need("options", Rule::List(1, 100, &OPTION))],
    checks: &[],
});

/// Which conversations a menu offers.
pub(super) const FILTER: Field = may(
    "filter",
    Rule::Object(&Shape {
        fields: &[
            may("include", Rule::List(1, 4, &Rule::Word(&["im", "mpim", "private", "public"]))),
            may("exclude_external_shared_channels", Rule::Bool),
            may("exclude_bot_users", Rule::Bool),
        ],
        checks: &[one_of_filter],
    }),
);

/// When an input tells the app what is typed.
pub(super) const DISPATCH: Field = may(
    "dispatch_action_config",
    Rule::Object(&Shape {
        fields: &[may(
            "trigger_actions_on",
            Rule::List(1, 2, &Rule::Word(&["on_enter_pressed", "on_character_entered"])),
        )],
        checks: &[],
    }),
);

/// An image that lies in Slack.
pub(super) const SLACK_FILE: Field = may(
    "slack_file",
    Rule::Object(&Shape {
        fields: &[may("id", Rule::Str(1, NO_LIMIT)), may("url", Rule::Str(1, 3000))],
        checks: &[one_of_file],
    }),
);

/// One of Slack's own icons.
pub(super) static ICON: Shape = Shape {
    fields: &[
        need("type", Rule::Word(&["icon"])),
        need(
            "name",
            Rule::Word(&[
                "archive",
                "book",
                "bookmark",
                "bot",
                "bug",
                "calendar",
                "call",
                "caret-left",
                "caret-right",
                "check",
                "clipboard",
                "code",
                "comment",
                "compass",
                "copy",
                "cube",
                "download",
                "edit",
                "email",
                "eye-closed",
                "eye-open",
                "file",
                "flag",
                "folder",
                "gear",
                "globe",
                "heart",
                "help",
                "image",
                "info",
                "key",
                "lightbulb",
                "link",
                "map",
                "mobile",
                "new-window",
                "pin",
                "plus",
                "refine",
                "refresh",
                "rocket",
                "save",
                "screen",
                "share",
                "sparkle",
                "star",
                "star-filled",
                "tag",
                "thumbs-down",
                "thumbs-up",
                "trash",
                "upload",
                "user",
                "warning",
            ]),
        ),
    ],
    checks: &[],
};

/// Holds a text object against the formats and the length that its place allows.
pub(super) fn check(walk: &mut Walk, formats: &[&str], most: usize, value: &Value) {
    let Some(object) = value.as_object() else {
        walk.note("must provide an object");
        return;
    };
    let Some(format) = object.get("type") else {
        walk.note("missing required field: type");
        return;
    };
    let format = match format.as_str() {
        None => {
            walk.note_in("type", "must provide a string");
            return;
        }
        Some(format) if formats.contains(&format) => format,
        Some(format) if formats.len() > 1 => {
            let format: String = format.chars().take(100).collect();
            walk.note_in("type", format!("unsupported type: {format}"));
            return;
        }
        Some(_) => {
            walk.note_in("type", "must be a valid enum value");
            return;
        }
    };
    match object.get("text") {
        None => walk.note("missing required field: text"),
        Some(Value::String(text)) => {
            let length = text.chars().count();
            if length == 0 {
                walk.note_in("text", "must be more than 0 characters");
            } else if length > most {
                // The general shape of a text and the limit of this place are two schemas, and one of them failed.
                walk.note("failed to match all allowed schemas");
                walk.note_in("text", format!("must be less than {} characters", most.saturating_add(1)));
            }
        }
        Some(_) => walk.note_in("text", "must provide a string"),
    }
    for (name, value) in object {
        match (name.as_str(), format) {
            ("type" | "text", _) => {}
            ("emoji", "plain_text") | ("verbatim", "mrkdwn") if value.is_boolean() => {}
            ("emoji", "plain_text") | ("verbatim", "mrkdwn") => walk.note_in(name, "must be a boolean"),
            _ => {
                let name: String = name.chars().take(100).collect();
                walk.note(format!("invalid additional property: {name}"));
            }
        }
    }
}

fn one_of_filter(object: &Map<String, Value>, walk: &mut Walk) {
    if object.is_empty() {
        walk.note("must define at least one of `include`, `exclude_external_shared_channels` or `exclude_bot_users`");
    }
}

fn one_of_file(object: &Map<String, Value>, walk: &mut Walk) {
    if object.contains_key("id") == object.contains_key("url") {
        walk.note("must define either `id` or `url`");
    }
}

/// An image comes from an address or from Slack, not from both.
pub(super) fn one_image(object: &Map<String, Value>, walk: &mut Walk) {
    match (object.contains_key("image_url"), object.contains_key("slack_file")) {
        (false, false) => walk.note("missing required field: image_url"),
        (true, true) => walk.note("must define either `image_url` or `slack_file`"),
        (true, false) | (false, true) => {}
    }
}
