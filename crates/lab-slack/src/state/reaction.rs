//! `reactions.*`: emoji below messages.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::channel::{Message, Reaction};
use crate::state::error::SlackError;
use crate::state::model::{Workspace, stamp};
use crate::state::paging::page;
use ghost_base::Timestamp;

impl Workspace {
    /// `reactions.add`
    pub(crate) fn reactions_add(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let (channel, ts, name) = self.aim(app, args)?;
        let bot = self.app(app)?.bot_user.clone();
        self.react(&channel, &ts, &bot, &name, true, now)?;
        Ok(json!({"ok": true}))
    }

    /// `reactions.remove`
    pub(crate) fn reactions_remove(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let (channel, ts, name) = self.aim(app, args)?;
        let bot = self.app(app)?.bot_user.clone();
        self.react(&channel, &ts, &bot, &name, false, now)?;
        Ok(json!({"ok": true}))
    }

    /// `reactions.get`
    pub(crate) fn reactions_get(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let channel = self.place_to_read(app, &args.need("channel")?)?;
        let (_, message) = self.at(&channel, &args.need("timestamp")?)?;
        Ok(json!({"ok": true, "type": "message", "channel": channel, "message": self.look(message, false)}))
    }

    /// `reactions.list`
    pub(crate) fn reactions_list(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let user = args.text("user").unwrap_or_else(|| bot.clone());
        self.user(&user)?;
        let mut found: Vec<(&String, &String, &Message)> = Vec::new();
        for place in self.channels.values().filter(|place| place.members.contains(&bot)) {
            let reacted = |message: &&Message| message.reactions.iter().any(|row| row.users.contains(&user));
            let messages = place.messages.values().filter(|message| message.only_for.is_none());
            found.extend(messages.filter(reacted).map(|message| (&message.ts, &place.id, message)));
        }
        // The latest message first.
        found.sort_by(|one, other| other.0.cmp(one.0));
        let all: Vec<Value> = found
            .into_iter()
            .map(|(_, channel, message)| {
                json!({"type": "message", "channel": channel, "message": self.look(message, false)})
            })
            .collect();
        let (items, next) = page(&all, args, 1000, 100)?;
        Ok(json!({"ok": true, "items": items, "response_metadata": {"next_cursor": next}}))
    }

    fn aim(&self, app: &str, args: &Args) -> Result<(String, String, String), SlackError> {
        let name = args.text("name").ok_or_else(|| SlackError::new("invalid_name"))?;
        let channel = self.place_to_read(app, &args.need("channel")?)?;
        let ts = args.text("timestamp").ok_or_else(|| SlackError::new("no_item_specified"))?;
        Ok((channel, ts, name))
    }

    /// Puts an emoji below a message or takes it away, for an app or a person.
    pub(crate) fn react(
        &mut self,
        channel: &str,
        ts: &str,
        user: &str,
        name: &str,
        add: bool,
        now: Timestamp,
    ) -> Result<(), SlackError> {
        let name = name.trim_matches(':');
        let plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b':' | b'\'');
        if name.is_empty() || name.len() > 100 || !name.bytes().all(plain) {
            return Err(SlackError::new("invalid_name"));
        }
        let (_, message) = self.at(channel, ts)?;
        let author = message.user.clone();
        let place = self.channel_mut(channel)?;
        let message = place.messages.get_mut(ts).ok_or_else(|| SlackError::new("message_not_found"))?;
        if message.only_for.is_some() || message.tombstone {
            return Err(SlackError::new("message_not_found"));
        }
        let row = message.reactions.iter_mut().find(|row| row.name == name);
        let own = row.as_ref().and_then(|row| row.users.iter().position(|each| each == user));
        match (add, row, own) {
            (true, _, Some(_)) => return Err(SlackError::new("already_reacted")),
            (true, Some(row), None) => row.users.push(user.to_owned()),
            (true, None, None) => {
                message.reactions.push(Reaction { name: name.to_owned(), users: vec![user.to_owned()] });
            }
            (false, Some(row), Some(at)) => drop(row.users.remove(at)),
            (false, _, _) => return Err(SlackError::new("no_reaction")),
        }
        message.reactions.retain(|row| !row.users.is_empty());
        let message = message.clone();
        self.changed(channel, &message);
        let event = json!({
            "type": if add { "reaction_added" } else { "reaction_removed" }, "user": user, "reaction": name,
            "item": {"type": "message", "channel": channel, "ts": ts}, "item_user": author, "event_ts": stamp(now),
        });
        self.tell(channel, &event, now);
        Ok(())
    }
}
