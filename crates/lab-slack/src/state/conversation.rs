//! `conversations.*`: where people talk, who is there, and what was said.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::args::page;
use crate::state::channel::{Channel, Kind, Message};
use crate::state::error::SlackError;
use crate::state::event::Notice;
use crate::state::model::{Workspace, seconds, stamp};
use crate::state::user::{Membership, set};
use ghost_base::Timestamp;

impl Workspace {
    /// Finds a conversation by its id.
    pub(crate) fn channel(&self, id: &str) -> Result<&Channel, SlackError> {
        self.channels.get(id).ok_or_else(|| SlackError::new("channel_not_found"))
    }

    /// Finds a conversation by its id, to change it.
    pub(crate) fn channel_mut(&mut self, id: &str) -> Result<&mut Channel, SlackError> {
        self.channels.get_mut(id).ok_or_else(|| SlackError::new("channel_not_found"))
    }

    /// Finds a conversation that an app may know of.
    pub(crate) fn visible(&self, app: &str, id: &str) -> Result<&Channel, SlackError> {
        let bot = &self.app(app)?.bot_user;
        let place = self.channel(id)?;
        if place.kind != Kind::Public && !place.members.contains(bot) {
            return Err(SlackError::new("channel_not_found"));
        }
        Ok(place)
    }

    /// Finds a conversation that an app may read, and returns its id.
    pub(crate) fn place_to_read(&self, app: &str, id: &str) -> Result<String, SlackError> {
        let place = self.visible(app, id)?;
        if !place.members.contains(&self.app(app)?.bot_user) {
            return Err(SlackError::new("not_in_channel"));
        }
        Ok(place.id.clone())
    }

    /// The conversation in Slack's form, as `reader` sees it.
    pub(crate) fn shape(&self, place: &Channel, reader: &str) -> Value {
        place.form(&self.team.id, &self.partner.id, reader)
    }

    /// `conversations.list`
    pub(crate) fn conversations_list(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let mut types = args.names("types");
        if types.is_empty() {
            types.push("public_channel".to_owned());
        }
        let known = [Kind::Public, Kind::Private, Kind::Im, Kind::Mpim].map(Kind::listed);
        if types.iter().any(|word| !known.contains(&word.as_str())) {
            return Err(SlackError::new("invalid_types"));
        }
        let hide = args.flag("exclude_archived").unwrap_or(false);
        let all: Vec<Value> = self
            .channels
            .values()
            .filter(|place| types.iter().any(|word| word == place.kind.listed()))
            .filter(|place| place.kind == Kind::Public || place.members.contains(&bot))
            .filter(|place| !(hide && place.archived))
            .map(|place| self.shape(place, &bot))
            .collect();
        let (channels, next) = page(&all, args, 1000, 100)?;
        Ok(json!({"ok": true, "channels": channels, "response_metadata": {"next_cursor": next}}))
    }

    /// `conversations.info`
    pub(crate) fn conversations_info(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let place = self.visible(app, &args.need("channel")?)?;
        Ok(json!({"ok": true, "channel": self.shape(place, &self.app(app)?.bot_user)}))
    }

    /// `conversations.members`
    pub(crate) fn conversations_members(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let place = self.visible(app, &args.need("channel")?)?;
        let all: Vec<Value> = place.members.iter().map(|id| json!(id)).collect();
        let (members, next) = page(&all, args, 1000, 100)?;
        Ok(json!({"ok": true, "members": members, "response_metadata": {"next_cursor": next}}))
    }

    /// `conversations.history`
    pub(crate) fn conversations_history(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let id = self.place_to_read(app, &args.need("channel")?)?;
        let with_metadata = args.flag("include_all_metadata").unwrap_or(false);
        let inside = window(args);
        let all: Vec<Value> = self
            .channel(&id)?
            .top()
            .rev()
            .filter(|message| inside(message))
            .map(|message| self.look(message, with_metadata))
            .collect();
        listed(&all, args)
    }

    /// `conversations.replies`
    pub(crate) fn conversations_replies(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let id = self.place_to_read(app, &args.need("channel")?)?;
        let ts = args.need("ts")?;
        let place = self.channel(&id)?;
        let found = place.messages.get(&ts).filter(|message| message.only_for.is_none());
        let root = found.ok_or_else(|| SlackError::new("thread_not_found"))?;
        let root = root.thread_ts.as_ref().unwrap_or(&root.ts);
        let with_metadata = args.flag("include_all_metadata").unwrap_or(false);
        let inside = window(args);
        let all: Vec<Value> = place
            .thread(root)
            .filter(|message| message.only_for.is_none())
            // The root comes whatever the window says.
            .filter(|message| message.ts == *root || inside(message))
            .map(|message| {
                let mut look = self.look(message, with_metadata);
                if let Some(above) = place.messages.get(root).filter(|_| message.is_reply()) {
                    set(&mut look, "parent_user_id", json!(above.user));
                }
                look
            })
            .collect();
        listed(&all, args)
    }

    /// `conversations.open`
    pub(crate) fn conversations_open(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let id = match args.text("channel") {
            Some(id) => self.visible(app, &id)?.id.clone(),
            None => {
                let mut users = args.names("users");
                if users.is_empty() {
                    return Err(SlackError::new("users_list_not_supplied"));
                }
                if users.len() > 8 {
                    return Err(SlackError::new("too_many_users"));
                }
                users.iter().try_for_each(|user| self.user(user).map(drop))?;
                users.push(bot.clone());
                self.direct(&users, now)
            }
        };
        let place = self.channel(&id)?;
        let channel =
            if args.flag("return_im").unwrap_or(false) { self.shape(place, &bot) } else { json!({"id": id}) };
        Ok(json!({"ok": true, "no_op": true, "already_open": true, "channel": channel}))
    }

    /// `conversations.invite`
    pub(crate) fn conversations_invite(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let id = self.place_to_read(app, &args.need("channel")?)?;
        let users = args.names("users");
        if users.is_empty() {
            return Err(SlackError::new("no_user"));
        }
        for user in &users {
            if *user == bot {
                return Err(SlackError::new("cant_invite_self"));
            }
            self.user(user)?;
            if self.channel(&id)?.members.contains(user) {
                return Err(SlackError::new("already_in_channel"));
            }
        }
        for user in &users {
            self.admit(&id, user, Some(&bot), now)?;
        }
        Ok(json!({"ok": true, "channel": self.shape(self.channel(&id)?, &bot)}))
    }

    /// Takes somebody into a conversation; tells whether that was new.
    pub(crate) fn admit(
        &mut self,
        id: &str,
        user: &str,
        inviter: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, SlackError> {
        let place = self.channel_mut(id)?;
        if !place.members.insert(user.to_owned()) {
            return Ok(false);
        }
        let kind = if place.kind == Kind::Private { "G" } else { "C" };
        let mut event = json!({
            "type": "member_joined_channel", "user": user, "channel": id, "channel_type": kind,
            "team": self.team.id, "event_ts": stamp(now),
        });
        if let Some(inviter) = inviter {
            set(&mut event, "inviter", json!(inviter));
        }
        self.notice(Notice::of("channel").in_channel(id));
        self.notify_members(id, &event, now);
        Ok(true)
    }

    /// Finds or makes the direct conversation of several people.
    pub(crate) fn direct(&mut self, users: &[String], now: Timestamp) -> String {
        let members: BTreeSet<String> = users.iter().cloned().collect();
        let same = |place: &&Channel| matches!(place.kind, Kind::Im | Kind::Mpim) && place.members == members;
        if let Some(place) = self.channels.values().find(same) {
            return place.id.clone();
        }
        let kind = if members.len() > 2 { Kind::Mpim } else { Kind::Im };
        let id = self.id(if kind == Kind::Im { "D" } else { "G" });
        let names: Vec<&str> =
            members.iter().filter_map(|id| self.users.get(id)).map(|user| user.name.as_str()).collect();
        let name = if kind == Kind::Im { String::new() } else { format!("mpdm-{}-1", names.join("--")) };
        let creator = users.first().cloned().unwrap_or_default();
        let place = Channel { members, ..Channel::new(&id, &name, kind, &creator, seconds(now)) };
        self.channels.insert(id.clone(), place);
        self.notice(Notice::of("channel").in_channel(&id));
        id
    }

    /// Tells whether a person may enter a public channel by themselves.
    pub(crate) fn may_enter(&self, user: &str, place: &Channel) -> bool {
        let full = self
            .users
            .get(user)
            .is_some_and(|user| matches!(user.standing, Membership::Admin | Membership::Member));
        place.members.contains(user) || (place.kind == Kind::Public && full)
    }
}

/// Returns whether a message lies between `oldest` and `latest`.
fn window(args: &Args) -> impl Fn(&Message) -> bool + use<> {
    let (oldest, latest) = (args.text("oldest").map(padded), args.text("latest").map(padded));
    let inclusive = args.flag("inclusive").unwrap_or(false);
    move |message| {
        let after =
            oldest.as_ref().is_none_or(|edge| message.ts > *edge || (inclusive && message.ts == *edge));
        let before =
            latest.as_ref().is_none_or(|edge| message.ts < *edge || (inclusive && message.ts == *edge));
        after && before
    }
}

/// Brings an edge into the form of names, so that both compare as text.
fn padded(edge: String) -> String {
    let (whole, part) = edge.split_once('.').unwrap_or((&edge, ""));
    format!("{whole:0>10}.{part:0<6}")
}

fn listed(all: &[Value], args: &Args) -> Result<Value, SlackError> {
    let (messages, next) = page(all, args, 999, 100)?;
    let more = !next.is_empty();
    let mut answer = json!({"ok": true, "messages": messages, "has_more": more});
    if more {
        set(&mut answer, "response_metadata", json!({"next_cursor": next}));
    }
    Ok(answer)
}
