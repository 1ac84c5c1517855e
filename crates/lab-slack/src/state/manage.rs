//! `conversations.create` and `archive`, and leaving.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::channel::{Channel, Kind};
use crate::state::error::SlackError;
use crate::state::event::Notice;
use crate::state::model::{Workspace, seconds, stamp};
use ghost_base::Timestamp;

/// How long a name may be.
const MAX_NAME_LEN: usize = 80;

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
            self.notify_about(&id, &event, now);
        }
        Ok(json!({"ok": true, "channel": self.shape(self.channel(&id)?, &bot)}))
    }

    /// Reads the name of a channel that nobody has yet.
    fn free_name(&self, args: &Args) -> Result<String, SlackError> {
        let name = args.text("name").ok_or_else(|| SlackError::new("invalid_name_required"))?;
        let word = |char: char| char.is_alphanumeric() && !char.is_uppercase();
        let code = if name.chars().count() > MAX_NAME_LEN {
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

    /// `conversations.archive`
    pub(crate) fn conversations_archive(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let id = self.place_to_read(app, &args.need("channel")?)?;
        let place = self.channel_mut(&id)?;
        let code = match place.kind {
            Kind::Im | Kind::Mpim => Some("method_not_supported_for_channel_type"),
            Kind::Public | Kind::Private if place.archived => Some("already_archived"),
            Kind::Public | Kind::Private if place.is_general() => Some("cant_archive_general"),
            Kind::Public | Kind::Private => None,
        };
        if let Some(code) = code {
            return Err(SlackError::new(code));
        }
        place.archived = true;
        let kind = if place.kind == Kind::Private { "group_archive" } else { "channel_archive" };
        let event = json!({"type": kind, "channel": id, "user": bot, "event_ts": stamp(now)});
        self.notice(Notice::of("channel").in_channel(&id));
        self.notify_about(&id, &event, now);
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
        self.notify_members(id, &event, now);
        if let Some(app) = self.app_of_user(user).map(|app| app.id.clone()) {
            let word = if private { "group_left" } else { "channel_left" };
            self.notify_app(&app, json!({"type": word, "channel": id, "event_ts": stamp(now)}), now);
        }
        Ok(())
    }
}
