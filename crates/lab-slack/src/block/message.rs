//! A whole message or view: which error an app gets, and with which words.

use serde_json::{Map, Value, json};

use crate::block::across;
use crate::block::layout::{Surface, rule, validate_blocks};
use crate::block::shape::Problem;
use crate::block::view::validate_view;
use crate::block::walk::Walk;

/// Longer texts are cut when they are posted.
const MAX_POST_LEN: usize = 40_000;

/// Longer texts are refused when a message is updated.
const MAX_UPDATE_LEN: usize = 4_000;

/// The limit of `markdown_text`.
const MAX_MARKDOWN_LEN: usize = 12_000;

/// What the texts of all blocks may hold together. Slack documents no number: apps measured refusals from about 13,200
/// characters of text on.
const MAX_BLOCKS_LEN: usize = 13_200;

const MAX_ATTACHMENTS: usize = 100;

/// A serialized view may not be larger.
const MAX_VIEW_LEN: usize = 250_000;

/// Which method carries a message: the limits differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `chat.postMessage`, `chat.postEphemeral`, a `response_url`: what is too long is cut.
    Post,
    /// `chat.update`: what is too long is refused.
    Update,
}

/// What a message consists of. JSON that came as a form's text is parsed before.
#[derive(Debug, Clone, Copy, Default)]
pub struct Content<'a> {
    /// The text, or the fallback of the blocks.
    pub text: Option<&'a str>,
    /// Markdown in place of text and blocks.
    pub markdown_text: Option<&'a str>,
    pub blocks: Option<&'a Value>,
    pub attachments: Option<&'a Value>,
}

/// A message that may be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The text as it is kept.
    pub text: String,
    /// Whether it was cut: the answer then carries [`Accepted::warning`].
    pub truncated: bool,
}

impl Accepted {
    /// Returns the members that tell the app that its text was cut: `response_metadata`.
    #[must_use]
    pub fn warning(&self) -> Option<Value> {
        self.truncated.then(|| {
            let message = format!(
                "[WARN] Your message was truncated but still posted. The `text` field accepts up to {},000 characters.",
                MAX_POST_LEN / 1000
            );
            json!({ "messages": [message], "warnings": ["message_truncated"] })
        })
    }
}

/// Why a message or a view was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The `error` of the answer.
    pub error: &'static str,
    /// What is wrong, where the answer tells it.
    pub problems: Vec<Problem>,
}

impl Refusal {
    /// Returns the answer's body.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut body = Map::new();
        body.insert("ok".to_owned(), false.into());
        body.insert("error".to_owned(), self.error.into());
        if !self.problems.is_empty() {
            let messages: Vec<String> = self.problems.iter().map(Problem::to_string).collect();
            body.insert("response_metadata".to_owned(), json!({ "messages": messages }));
            // Methods that take blocks repeat them; methods that take a view do not.
            if self.error == "invalid_blocks" {
                let errors: Vec<String> = self.problems.iter().map(Problem::bare).collect();
                body.insert("errors".to_owned(), json!(errors));
            }
        }
        Value::Object(body)
    }
}

fn refused(error: &'static str) -> Refusal {
    Refusal { error, problems: Vec::new() }
}

/// Judges a message before it is posted or updated.
///
/// # Errors
/// The refusal as the method answers it.
pub fn accept_message(content: Content<'_>, method: Method) -> Result<Accepted, Refusal> {
    let text = content.text.unwrap_or_default();
    if let Some(markdown) = content.markdown_text {
        if content.text.is_some() || content.blocks.is_some() {
            return Err(refused("markdown_text_conflict"));
        }
        if markdown.chars().count() > MAX_MARKDOWN_LEN {
            return Err(refused("msg_too_long"));
        }
    }
    if let Some(blocks) = content.blocks {
        if !blocks.is_array() {
            return Err(refused("invalid_blocks_format"));
        }
        validate_blocks(blocks, Surface::Message)
            .map_err(|problems| Refusal { error: "invalid_blocks", problems })?;
    }
    if let Some(attachments) = content.attachments {
        if attachments.as_array().is_some_and(|list| list.len() > MAX_ATTACHMENTS) {
            return Err(refused("too_many_attachments"));
        }
        validate_attachments(attachments)
            .map_err(|problems| Refusal { error: "invalid_attachments", problems })?;
    }
    one_table(&content)?;
    if content.blocks.is_some_and(|blocks| across::text_length(blocks) > MAX_BLOCKS_LEN) {
        return Err(refused("msg_blocks_too_long"));
    }
    let filled = |value: Option<&Value>| value.and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let says = !text.is_empty() || content.markdown_text.is_some_and(|text| !text.is_empty());
    if !says && !filled(content.blocks) && !filled(content.attachments) {
        return Err(refused("no_text"));
    }
    if method == Method::Update && text.chars().count() > MAX_UPDATE_LEN {
        return Err(refused("msg_too_long"));
    }
    let kept: String = text.chars().take(MAX_POST_LEN).collect();
    Ok(Accepted { truncated: kept.len() < text.len(), text: kept })
}

/// A message holds one table, wherever it stands.
fn one_table(content: &Content<'_>) -> Result<(), Refusal> {
    let mut tables = content.blocks.map(|blocks| across::tables("/blocks", blocks)).unwrap_or_default();
    for (at, attachment) in content.attachments.and_then(Value::as_array).into_iter().flatten().enumerate() {
        if let Some(blocks) = attachment.get("blocks") {
            tables.extend(across::tables(&format!("/attachments/{at}/blocks"), blocks));
        }
    }
    match tables.into_iter().nth(1) {
        None => Ok(()),
        Some(pointer) => Err(Refusal {
            error: "invalid_attachments",
            problems: vec![Problem { pointer, message: "only_one_table_allowed".to_owned() }],
        }),
    }
}

/// Judges a view before it is opened, pushed, updated or published.
///
/// # Errors
/// `invalid_arguments` with every problem, or `view_too_large`.
pub fn accept_view(view: &Value) -> Result<(), Refusal> {
    if view.to_string().len() > MAX_VIEW_LEN {
        return Err(refused("view_too_large"));
    }
    validate_view(view).map_err(|problems| Refusal { error: "invalid_arguments", problems })
}

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
