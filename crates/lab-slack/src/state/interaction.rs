//! What a person does to an app's messages and views, as the payloads that the app gets.

use ghost_base::Timestamp;
use serde_json::{Map, Value, json};

use crate::block::validate_options;
use crate::state::args::Args;
use crate::state::block::find;
use crate::state::channel::{Channel, Kind};
use crate::state::error::SlackError;
use crate::state::field::{lacking, state_of};
use crate::state::model::{Hook, Workspace, stamp, text_of};
use crate::state::user::set;
use crate::state::view::View;

/// In which form something reaches the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Post {
    /// `interactive`: a payload in a field of a form.
    Interactive,
    /// `slash_commands`: a form.
    Command,
}

/// Something that an app has to acknowledge within three seconds.
#[derive(Debug, Clone)]
pub(crate) struct Interaction {
    pub(crate) app: String,
    pub(crate) post: Post,
    pub(crate) payload: Value,
    /// What lets the app open a view.
    pub(crate) trigger: String,
}

impl Workspace {
    /// A person submits a modal; `Err` holds what the client itself refuses, by block.
    pub(crate) fn submit(
        &mut self,
        args: &Args,
        now: Timestamp,
    ) -> Result<Result<Interaction, Map<String, Value>>, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let id = args.need("view_id")?;
        let view = self.modal(&id).ok().filter(|view| view.user == user);
        let mut view = view.ok_or_else(|| SlackError::new("view_not_found"))?.clone();
        let top = self.modals.get(&user).and_then(|stack| stack.last());
        if top.is_some_and(|top| top.id != id) {
            return Err(SlackError::new("view_not_on_top"));
        }
        let blocks = view.body.get("blocks").cloned().unwrap_or(Value::Null);
        let mut state = state_of(&blocks, args)?;
        self.name_files(&mut state);
        let wrong = lacking(&blocks, &state);
        if !wrong.is_empty() {
            return Ok(Err(wrong));
        }
        view.state = Value::Object(state);
        if let Some(open) = self.modals.values_mut().flatten().find(|open| open.id == id) {
            open.state = view.state.clone();
        }
        let app = view.app.clone();
        let (mut payload, trigger) = self.payload("view_submission", &app, &user, now)?;
        set(&mut payload, "view", view.form(self));
        set(&mut payload, "response_urls", json!([]));
        Ok(Ok(Interaction { app, post: Post::Interactive, payload, trigger }))
    }

    /// A person closes a modal; the app is notified if it asked to be.
    ///
    /// Of a whole stack that is cleared, the app receives the lowest view alone.
    pub(crate) fn close(&mut self, args: &Args, now: Timestamp) -> Result<Option<Interaction>, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let id = args.need("view_id")?;
        let view = self.modal(&id).ok().filter(|view| view.user == user);
        let view = view.ok_or_else(|| SlackError::new("view_not_found"))?;
        let flag = |view: &View, name: &str| view.body.get(name).and_then(Value::as_bool).unwrap_or(false);
        let whole = flag(view, "clear_on_close") || args.flag("clear").unwrap_or(false);
        let closed = if whole { self.modal(&view.root).unwrap_or(view) } else { view }.clone();
        self.close_view(&id, whole);
        if !flag(&closed, "notify_on_close") {
            return Ok(None);
        }
        let (mut payload, trigger) = self.payload("view_closed", &closed.app, &user, now)?;
        set(&mut payload, "view", closed.form(self));
        set(&mut payload, "is_cleared", json!(whole));
        Ok(Some(Interaction { app: closed.app.clone(), post: Post::Interactive, payload, trigger }))
    }

    /// A person types a command.
    pub(crate) fn command(&mut self, args: &Args, now: Timestamp) -> Result<Interaction, SlackError> {
        let user = self.user_named(&args.need("user")?)?.clone();
        let channel = self.seen_by(&user.id, &args.need("channel")?)?;
        let text = args.text("text").unwrap_or_default();
        let typed = text.split_whitespace().next().unwrap_or_default();
        let mut listening = self.apps.iter().filter(|app| app.listens);
        // A command that is nobody's own goes to the app that was there first.
        let meant = listening.clone().find(|app| app.command == typed).or_else(|| listening.next());
        let meant = meant.ok_or_else(|| SlackError::new("app_not_found"))?;
        let (app, token, fallback) =
            (meant.id.clone(), meant.verification_token.clone(), meant.command.clone());
        let (command, rest) = match text.strip_prefix('/') {
            Some(_) => text.split_once(char::is_whitespace).unwrap_or((&text, "")),
            None => (fallback.as_str(), text.as_str()),
        };
        let named = channel_name(self.channel(&channel)?);
        let url = self.hook(&app, &user.id, &channel, None, None, "commands", now);
        let trigger = self.trigger(&app, &user.id, now);
        let mut payload = json!({
            "token": token, "team_id": self.team.id, "team_domain": self.team.domain, "channel_id": channel,
            "channel_name": named, "user_id": user.id, "user_name": user.name, "command": command,
            "text": rest.trim(), "api_app_id": app, "is_enterprise_install": if self.grid { "true" } else { "false" },
            "response_url": url, "trigger_id": trigger,
        });
        if self.grid {
            set(&mut payload, "enterprise_id", json!(self.team.enterprise));
            set(&mut payload, "enterprise_name", json!(self.team.name));
        }
        Ok(Interaction { app, post: Post::Command, payload, trigger })
    }

    /// A person uses a shortcut: on a message where one is named, else a global one.
    pub(crate) fn shortcut(&mut self, args: &Args, now: Timestamp) -> Result<Interaction, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let callback = args.need("callback_id")?;
        let listens =
            self.apps.iter().find(|app| app.listens).ok_or_else(|| SlackError::new("app_not_found"))?;
        let app = listens.id.clone();
        let Some(ts) = args.text("ts") else {
            let (mut payload, trigger) = self.payload("shortcut", &app, &user, now)?;
            set(&mut payload, "callback_id", json!(callback));
            set(&mut payload, "action_ts", json!(stamp(now)));
            return Ok(Interaction { app, post: Post::Interactive, payload, trigger });
        };
        let channel = self.seen_by(&user, &args.need("channel")?)?;
        let (place, message) = self.at(&channel, &ts)?;
        let (named, look) = (channel_name(place), self.look(message, true));
        let url = self.hook(&app, &user, &channel, Some(&ts), None, "app", now);
        let (mut payload, trigger) = self.payload("message_action", &app, &user, now)?;
        set(&mut payload, "callback_id", json!(callback));
        set(&mut payload, "action_ts", json!(stamp(now)));
        set(&mut payload, "message_ts", json!(ts));
        set(&mut payload, "message", look);
        set(&mut payload, "channel", json!({"id": channel, "name": named}));
        set(&mut payload, "response_url", json!(url));
        Ok(Interaction { app, post: Post::Interactive, payload, trigger })
    }

    /// What every interactive payload has.
    pub(crate) fn payload(
        &mut self,
        kind: &str,
        app: &str,
        user: &str,
        now: Timestamp,
    ) -> Result<(Value, String), SlackError> {
        let trigger = self.trigger(app, user, now);
        let user = self.user(user)?;
        let enterprise = self.grid.then(|| json!({"id": self.team.enterprise, "name": self.team.name}));
        let team =
            if self.grid { None } else { Some(json!({"id": self.team.id, "domain": self.team.domain})) };
        let mut who = json!({"id": user.id, "username": user.name, "name": user.name, "team_id": user.team});
        if self.grid {
            set(&mut who, "enterprise_user", json!({"id": user.id, "enterprise_id": self.team.enterprise}));
        }
        let payload = json!({
            "type": kind, "user": who, "api_app_id": app, "token": self.app(app)?.verification_token,
            "trigger_id": trigger, "team": team, "enterprise": enterprise, "is_enterprise_install": self.grid,
        });
        Ok((payload, trigger))
    }

    /// Makes an address through which the app may answer later.
    #[expect(clippy::too_many_arguments, reason = "what an address stands for is exactly this")]
    pub(crate) fn hook(
        &mut self,
        app: &str,
        user: &str,
        channel: &str,
        ts: Option<&str>,
        thread: Option<&str>,
        kind: &str,
        now: Timestamp,
    ) -> String {
        let secret = self.unguessable();
        let hook = Hook {
            app: app.to_owned(),
            user: user.to_owned(),
            channel: channel.to_owned(),
            ts: ts.map(str::to_owned),
            thread_ts: thread.map(str::to_owned),
            uses: 0,
            born: now.as_millis(),
        };
        if self.hooks.len() >= self.caps.handles {
            let oldest =
                self.hooks.iter().min_by_key(|(_, hook)| hook.born).map(|(secret, _)| secret.clone());
            oldest.and_then(|secret| self.hooks.remove(&secret));
        }
        self.hooks.insert(secret.clone(), hook);
        format!("{}/hooks/{kind}/{}/{secret}", self.base, self.team.id)
    }

    /// Finds a conversation by id or name that a person may look into.
    pub(crate) fn seen_by(&self, user: &str, name: &str) -> Result<String, SlackError> {
        let bare = name.trim_start_matches('#');
        let place = self
            .channels
            .get(bare)
            .or_else(|| self.channels.values().find(|place| place.kind != Kind::Im && place.name == bare));
        let place = place.filter(|place| self.may_enter(user, place));
        place.map(|place| place.id.clone()).ok_or_else(|| SlackError::new("channel_not_found"))
    }
}

/// The name of a conversation in payloads: people's direct ones have none of their own.
pub(crate) fn channel_name(place: &Channel) -> String {
    match place.kind {
        Kind::Public | Kind::Mpim => place.name.clone(),
        Kind::Private => "privategroup".to_owned(),
        Kind::Im => "directmessage".to_owned(),
    }
}

/// How much has to be typed where the menu does not say.
const DEFAULT_MIN_QUERY_LEN: u64 = 3;

impl Workspace {
    /// A person types into a menu; nothing to ask where it is too little.
    pub(crate) fn suggest(&mut self, args: &Args, now: Timestamp) -> Result<Option<Interaction>, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let name = args.need("action_id")?;
        let typed = args.text("value").unwrap_or_default();
        let spot = self.spot(&user, args)?;
        let found = spot
            .blocks
            .iter()
            .find_map(|blocks| find(blocks, args.text("block_id").as_deref(), &name, None))
            .filter(|(_, element)| text_of(element, "type").ends_with("external_select"));
        let (block, element) = found.ok_or_else(|| SlackError::new("action_not_found"))?;
        let least = element.get("min_query_length").and_then(Value::as_u64).unwrap_or(DEFAULT_MIN_QUERY_LEN);
        if u64::try_from(typed.chars().count()).unwrap_or(u64::MAX) < least {
            return Ok(None);
        }
        let (mut payload, trigger) = self.payload("block_suggestion", &spot.app, &user, now)?;
        // It is answered at once or not at all: it opens nothing.
        if let Some(map) = payload.as_object_mut() {
            map.remove("trigger_id");
        }
        set(&mut payload, "action_id", json!(name));
        set(&mut payload, "block_id", json!(block));
        set(&mut payload, "value", json!(typed));
        for (name, value) in spot.place {
            set(&mut payload, name, value);
        }
        Ok(Some(Interaction { app: spot.app, post: Post::Interactive, payload, trigger }))
    }
}

/// Reads the options that the app offers, in the form that a person gets.
pub(crate) fn offered(answer: &Value) -> Result<Value, SlackError> {
    validate_options(answer).map_err(|problems| {
        SlackError::new("invalid_options").messages(problems.iter().map(ToString::to_string))
    })?;
    let name = if answer.get("option_groups").is_some() { "option_groups" } else { "options" };
    let mut said = json!({"ok": true});
    set(&mut said, name, answer.get(name).cloned().unwrap_or_else(|| json!([])));
    Ok(said)
}
