//! Attachments: the older form of additions to a message; colored bars still need them.

use serde_json::Value;

use crate::block::across;
use crate::block::layout::{Surface, rule};
use crate::block::shape::Problem;
use crate::block::walk::Walk;

/// The members that an attachment may have.
const KNOWN: &[&str] = &[
    "actions",
    "app_id",
    "app_unfurl_url",
    "attachment_type",
    "author_icon",
    "author_id",
    "author_link",
    "author_name",
    "author_subname",
    "blocks",
    "bot_id",
    "callback_id",
    "color",
    "fallback",
    "fields",
    "footer",
    "footer_icon",
    "from_url",
    "id",
    "image_bytes",
    "image_height",
    "image_url",
    "image_width",
    "is_app_unfurl",
    "mrkdwn_in",
    "original_url",
    "pretext",
    "preview",
    "service_icon",
    "service_name",
    "service_url",
    "text",
    "thumb_height",
    "thumb_url",
    "thumb_width",
    "title",
    "title_link",
    "ts",
];

/// Judges the `attachments` of a message; pointers begin with `/attachments`.
///
/// # Errors
/// Everything that is wrong with them. That they are at most 100 is an error of its own (`too_many_attachments`).
pub fn validate_attachments(attachments: &Value) -> Result<(), Vec<Problem>> {
    let mut walk = Walk::at("/attachments");
    let Some(list) = attachments.as_array() else {
        walk.note("must provide an array");
        return walk.end();
    };
    for (at, attachment) in list.iter().enumerate() {
        walk.step(&at.to_string(), |walk| one(walk, attachment));
    }
    walk.end()
}

fn one(walk: &mut Walk, attachment: &Value) {
    let Some(object) = attachment.as_object() else {
        walk.note("must provide an object");
        return;
    };
    if object.contains_key("blocks") && object.keys().any(|name| !KNOWN.contains(&name.as_str())) {
        walk.note("invalid_keys");
    }
    if let Some(blocks) = object.get("blocks") {
        let clean = walk.is_clean();
        walk.step("blocks", |walk| {
            walk.check(rule(Surface::Message), blocks);
            if clean && walk.is_clean() {
                across::blocks(walk, blocks, Surface::Message);
            }
        });
    }
}
