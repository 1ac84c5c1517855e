//! What a person does and sees: writing, editing, reacting, sharing, looking.

use serde_json::{Value, json};

use crate::state::app::App;
use crate::state::args::Args;
use crate::state::channel::{Channel, Kind, Message};
use crate::state::error::SlackError;
use crate::state::model::{Workspace, stamp};
use crate::state::rich::rich;
use crate::state::user::{User, set};
use crate::state::view::View;
use crate::state::wording::written;
use ghost_base::Timestamp;

/// How long a person's text may be.
const MAX_TEXT_LEN: usize = 40_000;

/// Tells whether a page shows a message to a person: one for them alone only if Slack would show it, and only until the page is
/// loaded again.
fn is_shown(message: &Message, user: &str, since: Option<&str>) -> bool {
    let Some(only) = &message.only_for else { return true };
    only == user && !message.unseen && since.is_none_or(|since| message.ts.as_str() >= since)
}

impl Workspace {
    /// Everything that a page needs to begin; with a person, only what that person may see.
    pub(crate) fn state(&self, args: &Args) -> Result<Value, SlackError> {
        let reader =
            args.text("user").map(|name| self.user_named(&name)).transpose()?.map(|user| user.id.clone());
        let shown = |place: &&Channel| reader.as_ref().is_none_or(|user| self.may_enter(user, place));
        let channels: Vec<Value> = self
            .channels
            .values()
            .filter(shown)
            .map(|place| {
                let mut form =
                    place.form(&self.team.id, &self.partner.id, reader.as_deref().unwrap_or_default());
                set(&mut form, "members", json!(place.members));
                form
            })
            .collect();
        // Ghost's own app is the first.
        Ok(json!({
            "team": {"id": self.team.id, "name": self.team.name, "domain": self.team.domain},
            "users": self.users.values().map(User::form).collect::<Vec<_>>(),
            "usergroups": self.groups.iter().map(|group| group.form(&self.team.id, true)).collect::<Vec<_>>(),
            "channels": channels, "apps": self.apps.iter().map(|app| app.form()).collect::<Vec<_>>(),
        }))
    }

    /// Writes a message as a person, or as an app that only posts.
    pub(crate) fn write(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.clone();
        let channel = self.enter(&user.id, &args.need("channel")?, now)?;
        let text = self.typed(args)?;
        let thread_ts = args.text("thread_ts");
        let broadcast = thread_ts.is_some() && args.flag("reply_broadcast").unwrap_or(false);
        let message = Message {
            app: self.app_of_user(&user.id).map(|app| app.id.clone()),
            subtype: broadcast.then(|| "thread_broadcast".to_owned()),
            blocks: Some(rich(&text)),
            user: user.id,
            text,
            thread_ts,
            broadcast,
            ..Message::default()
        };
        let ts = self.post(&channel, message, now)?;
        Ok(json!({"ok": true, "ts": ts, "channel": channel}))
    }

    /// Reads what a person typed, as Slack keeps it.
    fn typed(&self, args: &Args) -> Result<String, SlackError> {
        let text = args.text("text").ok_or_else(|| SlackError::new("no_text"))?;
        if text.chars().count() > MAX_TEXT_LEN {
            return Err(SlackError::new("msg_too_long"));
        }
        Ok(written(self, &text))
    }

    /// Finds the conversation that a person names, by id, by name, or by whom it is with, and goes there.
    fn enter(&mut self, user: &str, name: &str, now: Timestamp) -> Result<String, SlackError> {
        let channel = match self.seen_by(user, name) {
            Ok(channel) => channel,
            Err(refused) => match self.user_named(name).map(|other| other.id.clone()) {
                Ok(other) if !name.starts_with('#') => self.direct(&[user.to_owned(), other], now),
                _ => return Err(refused),
            },
        };
        if self.channel(&channel)?.archived {
            return Err(SlackError::new("is_archived"));
        }
        self.admit(&channel, user, None, now)?;
        Ok(channel)
    }

    /// Opens the direct conversation of a person with another, or with an app.
    pub(crate) fn open_direct(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let other = self.user_named(&args.need("with")?)?.id.clone();
        Ok(json!({"ok": true, "channel": self.direct(&[user, other], now)}))
    }

    fn own(&self, args: &Args) -> Result<(String, String), SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let channel = self.seen_by(&user, &args.need("channel")?)?;
        let ts = args.need("ts")?;
        let (_, message) = self.at(&channel, &ts)?;
        let ephemeral = message.only_for.as_ref() == Some(&user);
        if message.user != user && !ephemeral {
            return Err(SlackError::new("cant_update_message"));
        }
        Ok((channel, ts))
    }

    /// Edits a person's own message.
    pub(crate) fn rewrite(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let (channel, ts) = self.own(args)?;
        let user = self.user_named(&args.need("user")?)?.id.clone();
        if self.at(&channel, &ts)?.1.user != user {
            return Err(SlackError::new("cant_update_message"));
        }
        let text = self.typed(args)?;
        self.edit(&channel, &ts, now, |message| {
            message.edited = Some((user, stamp(now)));
            message.blocks = Some(rich(&text));
            message.text = text;
        })?;
        Ok(json!({"ok": true, "ts": ts}))
    }

    /// Posts a message as another client or an integration sent it, in Slack's own form; with `ts`, in the place of an earlier one.
    pub(crate) fn write_raw(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let channel = self.channel(&args.need("channel")?)?.id.clone();
        let raw = args.json("message", "invalid_message")?.ok_or_else(|| SlackError::missing("message"))?;
        let field = |name: &str| raw.get(name).and_then(Value::as_str).map(str::to_owned);
        let (user, text) = (field("user").unwrap_or_default(), field("text").unwrap_or_default());
        let (thread_ts, subtype) = (field("thread_ts"), field("subtype"));
        if let Some(ts) = args.text("ts") {
            self.edit(&channel, &ts, now, |message| {
                message.text = text;
                if raw.get("edited").is_some() {
                    message.edited = Some((user, stamp(now)));
                }
                message.raw = Some(raw);
            })?;
            return Ok(json!({"ok": true, "ts": ts, "channel": channel}));
        }
        let message = Message { text, thread_ts, subtype, user, raw: Some(raw), ..Message::default() };
        let ts = self.post(&channel, message, now)?;
        Ok(json!({"ok": true, "ts": ts, "channel": channel}))
    }

    /// Deletes a person's own message, or dismisses one that only they see.
    pub(crate) fn unwrite(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let (channel, ts) = self.own(args)?;
        self.remove(&channel, &ts, now)?;
        Ok(json!({"ok": true}))
    }

    /// Puts an emoji below a message, or takes it away.
    pub(crate) fn person_reacts(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let channel = self.seen_by(&user, &args.need("channel")?)?;
        let add = !args.flag("remove").unwrap_or(false);
        self.react(&channel, &args.need("ts")?, &user, &args.need("name")?, add, now)?;
        Ok(json!({"ok": true}))
    }

    /// Leaves a channel.
    pub(crate) fn person_leaves(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let channel = self.seen_by(&user, &args.need("channel")?)?;
        self.depart(&channel, &user, now)?;
        Ok(json!({"ok": true}))
    }

    /// Presses the stop button of an agent's session.
    pub(crate) fn person_stops(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let channel = self.seen_by(&user, &args.need("channel")?)?;
        self.stop_session(&user, &channel, &args.need("thread_ts")?, now)?;
        Ok(json!({"ok": true}))
    }

    /// Shares a file whose bytes are there; without a channel it is the person's own, as in a form.
    pub(crate) fn person_shares(
        &mut self,
        args: &Args,
        size: u64,
        now: Timestamp,
    ) -> Result<(Value, String), SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let place = args.text("channel").map(|name| self.enter(&user, &name, now)).transpose()?;
        let name = args.need("name")?;
        if !self.fits(size) {
            return Err(SlackError::new("storage_limit_reached"));
        }
        let id = self.begin_file(&name, size, &user, None, now);
        if let Some(file) = self.files.get_mut(&id) {
            (file.uploaded, file.complete) = (true, true);
        }
        let Some(channel) = place else { return Ok((json!({"ok": true, "file": id}), id)) };
        let text = written(self, &args.text("text").unwrap_or_default());
        let message = Message {
            user,
            text,
            subtype: Some("file_share".to_owned()),
            thread_ts: args.text("thread_ts"),
            files: vec![id.clone()],
            ..Message::default()
        };
        let ts = self.share(&channel, message, now)?;
        Ok((json!({"ok": true, "ts": ts, "file": id}), id))
    }

    /// A conversation as a person sees it, the latest messages, the oldest first.
    pub(crate) fn seen_channel(&self, args: &Args) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let channel = self.seen_by(&user, &args.need("channel")?)?;
        let limit =
            args.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(200).min(1000);
        let before = args.text("before");
        let since = args.text("since");
        let place = self.channel(&channel)?;
        let mut messages: Vec<Value> = place
            .messages
            .values()
            .rev()
            .filter(|message| before.as_ref().is_none_or(|edge| message.ts < *edge))
            .filter(|message| is_shown(message, &user, since.as_deref()))
            .filter(|message| !message.is_reply() || message.broadcast)
            .take(limit)
            .map(|message| self.look(message, true))
            .collect();
        messages.reverse();
        let prompts = self.sessions.get(&format!("{channel} "));
        Ok(
            json!({"ok": true, "channel": channel, "messages": messages, "session": prompts.map(|one| one.form())}),
        )
    }

    /// A thread as a person sees it, with what only they see.
    pub(crate) fn seen_thread(&self, args: &Args) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let channel = self.seen_by(&user, &args.need("channel")?)?;
        let (place, message) = self.at(&channel, &args.need("ts")?)?;
        let root = message.thread_ts.clone().unwrap_or_else(|| message.ts.clone());
        let since = args.text("since");
        let messages: Vec<Value> = place
            .thread(&root)
            .filter(|message| is_shown(message, &user, since.as_deref()))
            .map(|message| self.look(message, true))
            .collect();
        let session = self.sessions.get(&format!("{channel} {root}"));
        Ok(json!({"ok": true, "messages": messages, "session": session.map(|one| one.form())}))
    }

    /// The modal that lies on top for a person, or null.
    pub(crate) fn seen_view(&self, args: &Args) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let top = self.modals.get(&user).and_then(|stack| stack.last());
        Ok(top.map_or(Value::Null, |view| view.form(self)))
    }

    /// A person opens the app's page, on one of its tabs; returns what is published on it.
    pub(crate) fn open_home(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let named = args.text("app");
        let meant = |app: &&App| app.listens && named.as_ref().is_none_or(|id| *id == app.id);
        let app = self.apps.iter().find(meant).ok_or_else(|| SlackError::new("app_not_found"))?;
        let (app, bot) = (app.id.clone(), app.bot_user.clone());
        let tab = args.text("tab").unwrap_or_else(|| "home".to_owned());
        let channel = self.direct(&[user.clone(), bot], now);
        let mut event = json!({
            "type": "app_home_opened", "user": user, "channel": channel, "tab": tab, "event_ts": stamp(now),
        });
        let view = self.homes.get(&format!("{app} {user}")).map(|view| view.form(self));
        if let Some(view) = view.as_ref().filter(|_| tab == "home") {
            set(&mut event, "view", view.clone());
        }
        self.notify_app(&app, event, now);
        Ok(json!({"ok": true, "channel": channel, "view": view}))
    }

    /// What is published on the app's page for a person, without telling the app.
    pub(crate) fn seen_home(&self, args: &Args) -> Result<Value, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let named = args.text("app");
        let meant = |view: &&View| view.user == user && named.as_ref().is_none_or(|id| *id == view.app);
        let home = self.homes.values().find(meant);
        Ok(home.map_or(Value::Null, |view| view.form(self)))
    }

    /// A file that somebody may fetch; a person only what was shared where they are.
    pub(crate) fn file_for(
        &self,
        id: &str,
        user: Option<&str>,
    ) -> Result<(&'static str, String), SlackError> {
        let missing = || SlackError::new("file_not_found");
        let file = self.files.get(id).filter(|file| file.uploaded).ok_or_else(missing)?;
        if let Some(user) = user {
            let user = self.user_named(user)?.id.clone();
            let mut places = file.shares.iter().filter_map(|(channel, _, _)| self.channels.get(channel));
            if file.user != user
                && !places.any(|place| place.kind == Kind::Public || place.members.contains(&user))
            {
                return Err(missing());
            }
        }
        Ok((file.mimetype(), file.name.clone()))
    }
}
