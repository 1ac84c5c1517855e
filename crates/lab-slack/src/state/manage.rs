//! `conversations.*` that change a conversation itself: its name, its topic, who is in it.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::channel::{Channel, Kind, Message};
use crate::state::error::SlackError;
use crate::state::event::Notice;
use crate::state::model::{Workspace, seconds, stamp};
use ghost_base::Timestamp;

/// How long a name may be.
const LONGEST_NAME: usize = 80;
/// How long a topic or a purpose may be.
const LONGEST_TOPIC: usize = 250;

impl Workspace {
    /// `conversations.create`
    pub(crate) fn conversations_create(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let name = self.free_name(args)?;
        if self.channels.len() >= self.caps.channels {
            return Err(SlackError::new("cannot_create_channel"));
        }
        let bot = self.app(app)?.bot_user.clone();
        let private = args.flag("is_private").unwrap_or(false);
        let kind = if private { Kind::Private } else { Kind::Public };
        let id = self.id("C");
        let mut place = Channel::new(&id, &name, kind, &bot, seconds(now));
        place.members.insert(bot.clone());
        self.channels.insert(id.clone(), place);
        self.notice(Notice::of("channel").in_channel(&id));
        if !private {
            let event = json!({
                "type": "channel_created", "event_ts": stamp(now),
                "channel": {
                    "id": id, "name": name, "name_normalized": name, "is_channel": true, "is_private": false,
                    "created": seconds(now), "creator": bot, "context_team_id": self.team.id,
                },
            });
            self.tell_of(&id, &event, now);
        }
        Ok(json!({"ok": true, "channel": self.shape(self.channel(&id)?, &bot)}))
    }

    /// Reads the name of a channel that nobody has yet.
    fn free_name(&self, args: &Args) -> Result<String, SlackError> {
        let name = args.text("name").ok_or_else(|| SlackError::new("invalid_name_required"))?;
        let word = |char: char| char.is_alphanumeric() && !char.is_uppercase();
        let code = if name.chars().count() > LONGEST_NAME {
            "invalid_name_maxlength"
        } else if !name.chars().all(|char| word(char) || matches!(char, '-' | '_')) {
            "invalid_name_specials"
        } else if !name.chars().any(word) {
            "invalid_name_punctuation"
        } else if self.channels.values().any(|place| place.name == name) {
            "name_taken"
        } else {
            return Ok(name);
        };
        Err(SlackError::new(code))
    }

    /// Finds a channel that an app may change, because it is in it.
    fn tended(&self, app: &str, args: &Args) -> Result<String, SlackError> {
        let id = self.place_to_read(app, &args.need("channel")?)?;
        let place = self.channel(&id)?;
        if matches!(place.kind, Kind::Im | Kind::Mpim) {
            return Err(SlackError::new("method_not_supported_for_channel_type"));
        }
        if place.archived {
            return Err(SlackError::new("is_archived"));
        }
        Ok(id)
    }

    /// `conversations.rename`
    pub(crate) fn conversations_rename(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let id = self.tended(app, args)?;
        let name = self.free_name(args)?;
        let place = self.channel_mut(&id)?;
        place.name.clone_from(&name);
        let (kind, created) = (place.kind, place.created);
        let event = json!({
            "type": if kind == Kind::Private { "group_rename" } else { "channel_rename" },
            "channel": {"id": id, "name": name, "name_normalized": name, "created": created}, "event_ts": stamp(now),
        });
        self.notice(Notice::of("channel").in_channel(&id));
        self.tell_of(&id, &event, now);
        Ok(json!({"ok": true, "channel": self.shape(self.channel(&id)?, &self.app(app)?.bot_user)}))
    }

    /// `conversations.archive` and `conversations.unarchive`
    pub(crate) fn conversations_archive(
        &mut self,
        app: &str,
        args: &Args,
        away: bool,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let id = self.place_to_read(app, &args.need("channel")?)?;
        let place = self.channel_mut(&id)?;
        let kind = place.kind;
        if matches!(kind, Kind::Im | Kind::Mpim) {
            return Err(SlackError::new("method_not_supported_for_channel_type"));
        }
        match (place.archived, away) {
            (true, true) => return Err(SlackError::new("already_archived")),
            (false, false) => return Err(SlackError::new("not_archived")),
            (false, true) if place.is_general() => return Err(SlackError::new("cant_archive_general")),
            (false, true) | (true, false) => place.archived = away,
        }
        let word = match (kind == Kind::Private, away) {
            (false, true) => "channel_archive",
            (false, false) => "channel_unarchive",
            (true, true) => "group_archive",
            (true, false) => "group_unarchive",
        };
        let event = json!({"type": word, "channel": id, "user": bot, "event_ts": stamp(now)});
        self.notice(Notice::of("channel").in_channel(&id));
        self.tell_of(&id, &event, now);
        Ok(json!({"ok": true}))
    }

    /// `conversations.setTopic`
    pub(crate) fn conversations_set_topic(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let id = self.tended(app, args)?;
        let topic = short(args, "topic")?;
        self.channel_mut(&id)?.topic.clone_from(&topic);
        self.told_by(app, &id, "topic", &topic, now)?;
        Ok(json!({"ok": true, "channel": self.shape(self.channel(&id)?, &self.app(app)?.bot_user)}))
    }

    /// `conversations.setPurpose`
    pub(crate) fn conversations_set_purpose(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let id = self.tended(app, args)?;
        let purpose = short(args, "purpose")?;
        self.channel_mut(&id)?.purpose.clone_from(&purpose);
        self.told_by(app, &id, "purpose", &purpose, now)?;
        Ok(json!({"ok": true, "purpose": purpose}))
    }

    /// Posts the line in which Slack tells that a topic or a purpose changed.
    fn told_by(
        &mut self,
        app: &str,
        id: &str,
        what: &str,
        text: &str,
        now: Timestamp,
    ) -> Result<(), SlackError> {
        let private = self.channel(id)?.kind == Kind::Private;
        let line = if text.is_empty() {
            format!("cleared the channel {what}")
        } else {
            format!("set the channel {what}: {text}")
        };
        let message = Message {
            user: self.app(app)?.bot_user.clone(),
            subtype: Some(format!("{}_{what}", if private { "group" } else { "channel" })),
            text: line,
            ..Message::default()
        };
        self.notice(Notice::of("channel").in_channel(id));
        self.post(id, message, now).map(drop)
    }

    /// `conversations.leave`
    pub(crate) fn conversations_leave(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let id = self.visible(app, &args.need("channel")?)?.id.clone();
        if !self.channel(&id)?.members.contains(&bot) {
            // No error, and no yes either.
            return Ok(json!({"ok": false, "not_in_channel": true}));
        }
        self.depart(&id, &bot, now)?;
        Ok(json!({"ok": true}))
    }

    /// `conversations.kick`
    pub(crate) fn conversations_kick(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let id = self.tended(app, args)?;
        let user = args.need("user")?;
        self.user(&user)?;
        let place = self.channel(&id)?;
        if user == self.app(app)?.bot_user {
            return Err(SlackError::new("cant_kick_self"));
        }
        if place.is_general() {
            return Err(SlackError::new("cant_kick_from_general"));
        }
        if !place.members.contains(&user) {
            return Err(SlackError::new("not_in_channel"));
        }
        self.depart(&id, &user, now)?;
        Ok(json!({"ok": true}))
    }

    /// Takes somebody out of a channel, and tells whoever stays, and an app that goes.
    pub(crate) fn depart(&mut self, id: &str, user: &str, now: Timestamp) -> Result<(), SlackError> {
        let place = self.channel_mut(id)?;
        let code = match place.kind {
            Kind::Im | Kind::Mpim => Some("method_not_supported_for_channel_type"),
            Kind::Public | Kind::Private if place.archived => Some("is_archived"),
            Kind::Public | Kind::Private if place.is_general() => Some("cant_leave_general"),
            Kind::Public | Kind::Private if place.members.len() == 1 => Some("last_member"),
            Kind::Public | Kind::Private => None,
        };
        if let Some(code) = code {
            return Err(SlackError::new(code));
        }
        if !place.members.remove(user) {
            return Err(SlackError::new("not_in_channel"));
        }
        let private = place.kind == Kind::Private;
        let event = json!({
            "type": "member_left_channel", "user": user, "channel": id,
            "channel_type": if private { "G" } else { "C" }, "team": self.team.id, "event_ts": stamp(now),
        });
        self.notice(Notice::of("channel").in_channel(id));
        self.tell(id, &event, now);
        if let Some(app) = self.app_of_user(user).map(|app| app.id.clone()) {
            let word = if private { "group_left" } else { "channel_left" };
            self.tell_one(&app, json!({"type": word, "channel": id, "event_ts": stamp(now)}), now);
        }
        Ok(())
    }

    /// `conversations.mark`: checked, and without an effect that anybody sees.
    pub(crate) fn conversations_mark(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        self.place_to_read(app, &args.need("channel")?)?;
        let ts = args.need("ts")?;
        if ts.parse::<f64>().is_err() {
            return Err(SlackError::new("invalid_timestamp"));
        }
        Ok(json!({"ok": true}))
    }
}

/// Reads a text that may be empty, but not long.
fn short(args: &Args, name: &str) -> Result<String, SlackError> {
    if !args.0.contains_key(name) {
        return Err(SlackError::missing(name));
    }
    let text = args.text(name).unwrap_or_default();
    if text.chars().count() > LONGEST_TOPIC {
        return Err(SlackError::new("too_long"));
    }
    Ok(text)
}
