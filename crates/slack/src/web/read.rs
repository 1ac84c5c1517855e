//! Reading conversations.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::arrive::IncomingMessage;
use crate::web::call::Web;
use crate::web::error::CallError;

/// How many messages are asked for at once.
const PAGE: usize = 200;

/// How many messages of a long thread are asked for at once: as many as Slack gives. Only the newest ones are wanted, and a thread is
/// read from its beginning.
const LONG_PAGE: usize = 1_000;

/// A thread with more messages than this many pages hold is read as far as they go.
const MAX_LONG_PAGES: usize = 5;

/// A page of messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The messages, in Slack's order: threads the oldest first, channels the newest first.
    pub messages: Vec<IncomingMessage>,
    /// Where the next page begins, where there is one.
    pub next: Option<String>,
}

/// What is known about a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The conversation.
    pub id: String,
    /// Its name; direct ones have none.
    pub name: Option<String>,
    /// Whether it is a direct one.
    pub direct: bool,
    /// Whether it is private.
    pub private: bool,
    /// Whether it is shared with another organization.
    pub shared: bool,
    /// Whether the bot is in it.
    pub member: bool,
    /// Whether it is archived.
    pub archived: bool,
}

impl Web {
    /// `conversations.replies`: one page of a thread, its root first.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn replies(&self, channel: &str, root: &str, cursor: Option<&str>) -> Result<Page, CallError> {
        let arguments = json!({
            "channel": channel, "ts": root, "limit": PAGE, "cursor": cursor, "include_all_metadata": true,
        });
        Ok(page(&self.get("conversations.replies", &arguments).await?, channel))
    }

    /// Reads a whole thread, up to `most` messages; tells whether that was all.
    ///
    /// # Errors
    /// Fails where a call does.
    pub async fn thread(
        &self,
        channel: &str,
        root: &str,
        most: usize,
    ) -> Result<(Vec<IncomingMessage>, bool), CallError> {
        let mut messages: Vec<IncomingMessage> = Vec::new();
        let mut cursor = None;
        loop {
            let mut page = self.replies(channel, root, cursor.as_deref()).await?;
            // Some pages begin with the root again.
            page.messages.retain(|new| !messages.iter().any(|known| known.ts == new.ts));
            let stuck = page.messages.is_empty() || page.next == cursor;
            messages.append(&mut page.messages);
            if messages.len() > most {
                messages.truncate(most);
                return Ok((messages, false));
            }
            match page.next {
                Some(next) if !stuck => cursor = Some(next),
                Some(_) | None => return Ok((messages, true)),
            }
        }
    }

    /// Reads of a thread its root and its newest answers before a message, as many as `most` in all, oldest first; counts the others.
    ///
    /// # Errors
    /// Fails where a call does.
    pub async fn newest(
        &self,
        channel: &str,
        root: &str,
        before: Option<&str>,
        most: usize,
    ) -> Result<(Vec<IncomingMessage>, u64), CallError> {
        let method = "conversations.replies";
        let (mut first, mut newest, mut left_out) = (None, VecDeque::new(), 0_u64);
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_LONG_PAGES {
            let arguments = json!({
                "channel": channel, "ts": root, "limit": LONG_PAGE, "cursor": cursor, "latest": before, "inclusive": true,
                "include_all_metadata": true,
            });
            let page = page(&self.get(method, &arguments).await?, channel);
            let is_stuck = page.next.is_none() || page.next == cursor || page.messages.is_empty();
            for message in page.messages {
                // Each page begins with the root again.
                if message.ts == root {
                    first.get_or_insert(message);
                    continue;
                }
                if before.is_some_and(|before| message.ts.as_str() >= before) {
                    continue;
                }
                newest.push_back(message);
                if newest.len() >= most.max(1) {
                    newest.pop_front();
                    left_out += 1;
                }
            }
            cursor = page.next;
            if is_stuck {
                break;
            }
        }
        Ok((first.into_iter().chain(newest).collect(), left_out))
    }

    /// Reads one message of a conversation, in a thread or not; nothing if it is not there.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn message(
        &self,
        channel: &str,
        ts: &str,
        root: Option<&str>,
    ) -> Result<Option<IncomingMessage>, CallError> {
        let found = match root.filter(|root| *root != ts) {
            Some(root) => {
                let arguments = json!({
                    "channel": channel, "ts": root, "oldest": ts, "latest": ts, "inclusive": true, "limit": 2,
                });
                page(&self.get("conversations.replies", &arguments).await?, channel)
            }
            None => {
                let arguments =
                    json!({"channel": channel, "oldest": ts, "latest": ts, "inclusive": true, "limit": 1});
                page(&self.get("conversations.history", &arguments).await?, channel)
            }
        };
        Ok(found.messages.into_iter().find(|message| message.ts == ts))
    }

    /// Reads the last messages of a conversation before a moment, oldest first.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn last(
        &self,
        channel: &str,
        before: &str,
        most: usize,
    ) -> Result<Vec<IncomingMessage>, CallError> {
        let arguments = json!({"channel": channel, "latest": before, "inclusive": false, "limit": most});
        let mut page = page(&self.get("conversations.history", &arguments).await?, channel);
        page.messages.retain(|message| message.ts.as_str() < before);
        page.messages.reverse();
        Ok(page.messages)
    }

    /// `conversations.history`: one page of a conversation, the newest first, of the time between two moments.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn history(
        &self,
        channel: &str,
        oldest: Option<&str>,
        latest: Option<&str>,
        cursor: Option<&str>,
    ) -> Result<Page, CallError> {
        let arguments = json!({
            "channel": channel, "oldest": oldest, "latest": latest, "inclusive": true, "limit": PAGE,
            "cursor": cursor, "include_all_metadata": true,
        });
        Ok(page(&self.get("conversations.history", &arguments).await?, channel))
    }

    /// `conversations.info`
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn conversation(&self, channel: &str) -> Result<Conversation, CallError> {
        let method = "conversations.info";
        let answer = self.get(method, &json!({"channel": channel})).await?;
        let about = answer.get("channel").ok_or_else(|| CallError::odd(method, "channel"))?;
        let flag = |name: &str| about.get(name).and_then(Value::as_bool).unwrap_or(false);
        let direct = flag("is_im") || flag("is_mpim");
        Ok(Conversation {
            id: about.get("id").and_then(Value::as_str).unwrap_or(channel).to_owned(),
            name: about
                .get("name")
                .and_then(Value::as_str)
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            direct,
            private: flag("is_private") || direct,
            shared: flag("is_ext_shared") || flag("is_pending_ext_shared"),
            member: flag("is_member") || flag("is_im"),
            archived: flag("is_archived"),
        })
    }

    /// `conversations.open`: the direct conversation with a person. Returns its id.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn open_dm(&self, user: &str) -> Result<String, CallError> {
        let method = "conversations.open";
        let answer = self.call(method, &json!({"users": user})).await?;
        let id = answer.get("channel").and_then(|channel| channel.get("id")).and_then(Value::as_str);
        id.map(str::to_owned).ok_or_else(|| CallError::odd(method, "channel"))
    }
}

fn page(answer: &Value, channel: &str) -> Page {
    let around = json!({"channel": channel});
    let messages = answer.get("messages").and_then(Value::as_array).into_iter().flatten();
    let next = answer.get("response_metadata").and_then(|metadata| metadata.get("next_cursor"));
    Page {
        messages: messages.map(|message| IncomingMessage::read(message, &around)).collect(),
        next: next.and_then(Value::as_str).filter(|next| !next.is_empty()).map(str::to_owned),
    }
}
