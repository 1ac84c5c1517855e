//! `pins.*`: messages that a conversation keeps at hand.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::channel::{Message, Pin};
use crate::state::error::SlackError;
use crate::state::model::{Workspace, seconds, stamp};
use crate::state::user::set;
use ghost_base::Timestamp;

/// How many messages of a conversation can be pinned.
const MOST: usize = 100;

impl Pin {
    /// `pinned_info` of a message.
    pub(crate) fn form(&self) -> Value {
        json!({"channel": self.channel, "pinned_by": self.user, "pinned_ts": self.created})
    }
}

impl Workspace {
    /// `pins.add`
    pub(crate) fn pins_add(&mut self, app: &str, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let (channel, ts) = self.pinnable(app, args)?;
        let bot = self.app(app)?.bot_user.clone();
        self.pin(&channel, &ts, &bot, true, now)?;
        Ok(json!({"ok": true}))
    }

    /// `pins.remove`
    pub(crate) fn pins_remove(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let (channel, ts) = self.pinnable(app, args)?;
        let bot = self.app(app)?.bot_user.clone();
        self.pin(&channel, &ts, &bot, false, now)?;
        Ok(json!({"ok": true}))
    }

    /// `pins.list`
    pub(crate) fn pins_list(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let channel = self.place_to_read(app, &args.need("channel")?)?;
        let messages = self.channel(&channel)?.messages.values();
        let mut pinned: Vec<(&Pin, &Message)> =
            messages.filter_map(|message| message.pin.as_ref().map(|pin| (pin, message))).collect();
        // The latest pin first.
        pinned.sort_by_key(|(pin, _)| std::cmp::Reverse(pin.created));
        let items: Vec<Value> =
            pinned.into_iter().map(|(pin, message)| self.pinned_item(&channel, pin, message)).collect();
        Ok(json!({"ok": true, "items": items}))
    }

    fn pinned_item(&self, channel: &str, pin: &Pin, message: &Message) -> Value {
        let mut look = self.look(message, false);
        set(&mut look, "permalink", json!(self.permalink(channel, message)));
        json!({
            "type": "message", "channel": channel, "created": pin.created, "created_by": pin.user,
            "message": look,
        })
    }

    fn pinnable(&self, app: &str, args: &Args) -> Result<(String, String), SlackError> {
        let channel = self.place_to_read(app, &args.need("channel")?)?;
        let ts = args.text("timestamp").ok_or_else(|| SlackError::new("no_item_specified"))?;
        let figures = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !ts.split_once('.').is_some_and(|(whole, part)| figures(whole) && figures(part)) {
            return Err(SlackError::new("bad_timestamp"));
        }
        Ok((channel, ts))
    }

    /// Pins a message or takes its pin away, for an app or a person.
    pub(crate) fn pin(
        &mut self,
        channel: &str,
        ts: &str,
        user: &str,
        add: bool,
        now: Timestamp,
    ) -> Result<(), SlackError> {
        let place = self.channel_mut(channel)?;
        let count = place.messages.values().filter(|message| message.pin.is_some()).count();
        let message = place.messages.get_mut(ts).filter(|one| one.only_for.is_none() && !one.tombstone);
        let message = message.ok_or_else(|| SlackError::new("message_not_found"))?;
        let old = message.pin.take();
        let pin = match (add, old) {
            (true, Some(old)) => {
                message.pin = Some(old);
                return Err(SlackError::new("already_pinned"));
            }
            (true, None) if count >= MOST => return Err(SlackError::new("too_many_pins")),
            (true, None) => {
                let pin = Pin { channel: channel.to_owned(), user: user.to_owned(), created: seconds(now) };
                message.pin = Some(pin.clone());
                pin
            }
            (false, Some(old)) => old,
            (false, None) => return Err(SlackError::new("no_pin")),
        };
        let message = message.clone();
        let left = if add { count + 1 } else { count - 1 };
        self.changed(channel, &message);
        let mut event = json!({
            "type": if add { "pin_added" } else { "pin_removed" }, "user": user, "channel_id": channel,
            "item": self.pinned_item(channel, &pin, &message), "item_user": message.user,
            "pin_count": left, "pinned_info": pin.form(), "event_ts": stamp(now),
        });
        if !add {
            set(&mut event, "has_pins", json!(left > 0));
        }
        self.tell(channel, &event, now);
        Ok(())
    }
}
