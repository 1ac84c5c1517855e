//! Answers through the address that came with an interaction: five within half an hour.

use serde_json::{Map, Value, json};

use crate::block::SlackBlock;
use crate::web::call::{Body, Web};
use crate::web::error::CallError;
use crate::web::message::value;

/// An answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Response {
    /// The words.
    pub text: String,
    /// The blocks.
    pub blocks: Vec<SlackBlock>,
    /// Whether everybody sees it; only the one who acted, otherwise.
    pub in_channel: bool,
    /// Whether it takes the place of the message that was acted on.
    pub replace: bool,
    /// Whether it takes that message away.
    pub delete: bool,
}

impl Response {
    /// An answer in words that only the one who acted sees.
    #[must_use]
    pub fn private(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Web {
    /// Answers through a `response_url`. No token goes there.
    ///
    /// # Errors
    /// Fails where the call does; `used_url` and `expired_url` mean that it cannot be answered there any more.
    pub async fn respond(&self, url: &str, response: &Response) -> Result<(), CallError> {
        let mut fields = Map::new();
        if response.delete {
            fields.insert("delete_original".to_owned(), json!(true));
        } else {
            let place = if response.in_channel { "in_channel" } else { "ephemeral" };
            fields.insert("response_type".to_owned(), json!(place));
            fields.insert("replace_original".to_owned(), json!(response.replace));
            fields.insert("text".to_owned(), json!(response.text));
            if !response.blocks.is_empty() {
                fields.insert("blocks".to_owned(), value(&response.blocks));
            }
        }
        self.post_to("response_url", url, Body::Json(&Value::Object(fields))).await.map(drop)
    }
}
