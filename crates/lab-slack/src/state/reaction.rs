//! `reactions.*`: emoji below messages.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::channel::Reaction;
use crate::state::error::SlackError;
use crate::state::model::{Workspace, stamp};
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
        self.notify_members(channel, &event, now);
        Ok(())
    }
}
