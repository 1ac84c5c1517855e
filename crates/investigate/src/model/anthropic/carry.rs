//! What Anthropic wants to see again: a turn with signed thoughts, block by block, and what stood before it.
//!
//! A signature holds for a thought only as long as the system prompt, the tools and the messages before it are the same; the
//! provider rejects the request otherwise. The digest of what was sent decides here, before it is sent: after a compaction the
//! thoughts behind it are left out, without a failed request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::anthropic::client::PROVIDER;
use crate::model::anthropic::encode::id;
use crate::model::{Call, Carry};
use ghost_base::Digest;

/// The value of a [`Carry`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Thoughts {
    /// The model that thought.
    pub(super) model: String,
    /// The digest of everything before the turn, in hexadecimal.
    pub(super) before: String,
    /// The turn's content as it came.
    pub(super) blocks: Vec<Value>,
}

impl Thoughts {
    /// Wraps a turn's content, nothing where it has no thought.
    pub(super) fn wrap(model: &str, before: Digest, blocks: Vec<Value>) -> Option<Carry> {
        if !blocks.iter().any(is_thought) {
            return None;
        }
        let thoughts = Self { model: model.to_owned(), before: before.to_string(), blocks };
        let value = serde_json::to_value(thoughts).ok()?;
        Some(Carry { provider: PROVIDER.to_owned(), value })
    }

    /// Returns a turn's content where it may be sent again: to the same model, behind the same messages, with the same calls.
    pub(super) fn reopen(
        carry: Option<&Carry>,
        model: &str,
        before: Digest,
        calls: &[Call],
    ) -> Option<Vec<Value>> {
        let carry = carry.filter(|carry| carry.provider == PROVIDER)?;
        let thoughts: Self = serde_json::from_value(carry.value.clone()).ok()?;
        let ids = thoughts.blocks.iter().filter(|block| kind(block) == "tool_use");
        let ids = ids.map(|block| block.get("id").and_then(Value::as_str).unwrap_or_default());
        let same = thoughts.model == model
            && thoughts.before == before.to_string()
            && calls.iter().all(|call| id(&call.id) == call.id)
            && ids.eq(calls.iter().map(|call| call.id.as_str()));
        same.then_some(thoughts.blocks)
    }
}

/// Names the kind of a block.
pub(super) fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn is_thought(block: &Value) -> bool {
    matches!(kind(block), "thinking" | "redacted_thinking")
}
