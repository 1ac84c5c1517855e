//! What a message is made of, as an app sends it and as it is kept.

use serde_json::{Value, json};

use crate::block::{Content, Method, accept_message};
use crate::state::args::Args;
use crate::state::channel::Message;
use crate::state::error::SlackError;
use crate::state::model::{Workspace, text_of};

/// The parts of a message that was judged.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) text: String,
    pub(crate) blocks: Option<Value>,
    pub(crate) attachments: Option<Value>,
    pub(crate) metadata: Option<Value>,
    /// What the answer says beside its yes, where the text was cut.
    pub(crate) warning: Option<Value>,
}

/// Reads and judges the parts of a message.
pub(crate) fn body(args: &Args, method: Method) -> Result<Body, SlackError> {
    let (text, markdown) = (args.text("text"), args.text("markdown_text"));
    let blocks = args.json("blocks", "invalid_blocks_format")?;
    let attachments = args.json("attachments", "invalid_attachments")?;
    let content = Content {
        text: text.as_deref(),
        markdown_text: markdown.as_deref(),
        blocks: blocks.as_ref(),
        attachments: attachments.as_ref(),
    };
    let accepted = accept_message(content, method)?;
    let warning = accepted.warning();
    // Markdown is kept as the block that it stands for.
    let (text, blocks) = match markdown {
        Some(markdown) => {
            let block = json!([{"type": "markdown", "text": markdown}]);
            (markdown, Some(block))
        }
        None => (accepted.text, blocks),
    };
    Ok(Body { text, blocks, attachments, metadata: metadata(args)?, warning })
}

/// Reads the metadata of a message.
pub(crate) fn metadata(args: &Args) -> Result<Option<Value>, SlackError> {
    let Some(metadata) = args.json("metadata", "invalid_metadata_format")? else { return Ok(None) };
    if text_of(&metadata, "event_type").is_empty()
        || !metadata.get("event_payload").is_some_and(Value::is_object)
    {
        return Err(SlackError::new("invalid_metadata_format"));
    }
    Ok(Some(metadata))
}

/// Keeps a list only if something is in it.
pub(crate) fn filled(list: Option<Value>) -> Option<Value> {
    list.filter(|list| list.as_array().is_some_and(|list| !list.is_empty()))
}

impl Workspace {
    /// Makes the message that an app wants to post; returns it with the warning of its answer.
    pub(crate) fn compose(&self, app: &str, args: &Args) -> Result<(Message, Option<Value>), SlackError> {
        let body = body(args, Method::Post)?;
        let thread_ts = args.text("thread_ts");
        let broadcast = thread_ts.is_some() && args.flag("reply_broadcast").unwrap_or(false);
        let message = Message {
            user: self.app(app)?.bot_user.clone(),
            app: Some(app.to_owned()),
            username: args.text("username"),
            subtype: broadcast.then(|| "thread_broadcast".to_owned()),
            text: body.text,
            blocks: filled(body.blocks),
            attachments: filled(body.attachments),
            metadata: body.metadata,
            thread_ts,
            broadcast,
            ..Message::default()
        };
        Ok((message, body.warning))
    }
}
