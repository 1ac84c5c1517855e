//! What a person does to an app's messages and views, as the payloads that the app gets.

use serde_json::{Map, Value, json};

use crate::base::Timestamp;
use crate::lab::workspace::state::args::Args;
use crate::lab::workspace::state::block::find;
use crate::lab::workspace::state::channel::{Channel, Kind};
use crate::lab::workspace::state::error::SlackError;
use crate::lab::workspace::state::field::{action, content, filled, initial};
use crate::lab::workspace::state::model::{Hook, Workspace, stamp, text_of};
use crate::lab::workspace::state::user::set;

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
    /// A person presses something in a message.
    pub(crate) fn press(&mut self, args: &Args, now: Timestamp) -> Result<Interaction, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let name = args.need("action_id")?;
        if let Some(view) = args.text("view_id") {
            return self.press_in_view(&user, &view, &name, args, now);
        }
        let channel = self.seen_by(&user, &args.need("channel")?)?;
        let ts = args.need("ts")?;
        let (place, message) = self.at(&channel, &ts)?;
        if message.only_for.as_ref().is_some_and(|only| *only != user) {
            return Err(SlackError::new("message_not_found"));
        }
        let app = message.app.clone().ok_or_else(|| SlackError::new("action_not_found"))?;
        let blocks = message.blocks.as_ref().unwrap_or(&Value::Null);
        let (block, element) =
            find(blocks, args.text("block_id").as_deref(), &name, args.text("value").as_deref())
                .ok_or_else(|| SlackError::new("action_not_found"))?;
        let pressed = action(element, &block, args.0.get("value"), &stamp(now))?;
        let (thread, hidden) = (message.thread_ts.clone(), message.only_for.is_some());
        let named = channel_name(place);
        let look = self.look(message, true);
        let state = state_of(blocks, args)?;
        let url = self.hook(&app, &user, &channel, Some(&ts), thread.as_deref(), "actions", now);
        let mut container =
            json!({"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": hidden});
        if let Some(thread) = thread {
            set(&mut container, "thread_ts", json!(thread));
        }
        let (mut payload, trigger) = self.payload("block_actions", &app, &user, now)?;
        set(&mut payload, "container", container);
        set(&mut payload, "channel", json!({"id": channel, "name": named}));
        // The body of an ephemeral message is not told.
        if !hidden {
            set(&mut payload, "message", look);
        }
        set(&mut payload, "state", json!({"values": state}));
        set(&mut payload, "response_url", json!(url));
        set(&mut payload, "actions", json!([pressed]));
        Ok(Interaction { app, post: Post::Interactive, payload, trigger })
    }

    fn press_in_view(
        &mut self,
        user: &str,
        view: &str,
        name: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Interaction, SlackError> {
        let home = |view: &&crate::lab::workspace::state::view::View| {
            view.id == args.text("view_id").unwrap_or_default()
        };
        let found = self.modals.values().flatten().chain(self.homes.values()).find(home);
        let view = found
            .filter(|found| found.user == user)
            .ok_or_else(|| SlackError::new(&format!("view_not_found: {view}")))?;
        let mut view = view.clone();
        let blocks = view.body.get("blocks").cloned().unwrap_or(Value::Null);
        let (block, element) =
            find(&blocks, args.text("block_id").as_deref(), name, args.text("value").as_deref())
                .ok_or_else(|| SlackError::new("action_not_found"))?;
        let pressed = action(element, &block, args.0.get("value"), &stamp(now))?;
        view.state = Value::Object(state_of(&blocks, args)?);
        let app = view.app.clone();
        let (mut payload, trigger) = self.payload("block_actions", &app, user, now)?;
        set(&mut payload, "container", json!({"type": "view", "view_id": view.id}));
        set(&mut payload, "view", view.form(self));
        set(&mut payload, "actions", json!([pressed]));
        Ok(Interaction { app, post: Post::Interactive, payload, trigger })
    }

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
        let state = state_of(&blocks, args)?;
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

    /// A person closes a modal; the app is told if it asked to be.
    pub(crate) fn close(&mut self, args: &Args, now: Timestamp) -> Result<Option<Interaction>, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let id = args.need("view_id")?;
        let view = self.modal(&id).ok().filter(|view| view.user == user);
        let view = view.ok_or_else(|| SlackError::new("view_not_found"))?.clone();
        let flag = |name: &str| view.body.get(name).and_then(Value::as_bool).unwrap_or(false);
        let whole = flag("clear_on_close") || args.flag("clear").unwrap_or(false);
        self.close_view(&id, whole);
        if !flag("notify_on_close") {
            return Ok(None);
        }
        let (mut payload, trigger) = self.payload("view_closed", &view.app, &user, now)?;
        set(&mut payload, "view", view.form(self));
        set(&mut payload, "is_cleared", json!(whole));
        Ok(Some(Interaction { app: view.app.clone(), post: Post::Interactive, payload, trigger }))
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
    fn payload(
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
    fn hook(
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
fn channel_name(place: &Channel) -> String {
    match place.kind {
        Kind::Public | Kind::Mpim => place.name.clone(),
        Kind::Private => "privategroup".to_owned(),
        Kind::Im => "directmessage".to_owned(),
    }
}

/// What stands in every element that takes something: what was given, else what it began with.
fn state_of(blocks: &Value, args: &Args) -> Result<Map<String, Value>, SlackError> {
    let given = args.json("values", "invalid_arguments")?.unwrap_or(Value::Null);
    let mut state = Map::new();
    for block in blocks.as_array().into_iter().flatten() {
        let id = text_of(block, "block_id");
        let elements = block.get("elements").and_then(Value::as_array).into_iter().flatten();
        let elements = block.get("element").into_iter().chain(block.get("accessory")).chain(elements);
        for element in elements {
            let name = text_of(element, "action_id");
            let silent =
                ["button", "overflow", "image", "feedback_buttons", "icon_button", "workflow_button"];
            if name.is_empty() || silent.contains(&text_of(element, "type")) {
                continue;
            }
            let field = match given.get(id).and_then(|block| block.get(name)) {
                Some(value) => filled(element, value)?,
                None => initial(element),
            };
            let row = state.entry(id.to_owned()).or_insert_with(|| json!({}));
            set(row, name, field);
        }
    }
    Ok(state)
}

/// What the client itself refuses: a required field that is empty, a text that is too short or too long.
fn lacking(blocks: &Value, state: &Map<String, Value>) -> Map<String, Value> {
    let mut wrong = Map::new();
    for block in blocks.as_array().into_iter().flatten().filter(|block| text_of(block, "type") == "input") {
        let id = text_of(block, "block_id");
        let Some(element) = block.get("element") else { continue };
        let field = state.get(id).and_then(|row| row.get(text_of(element, "action_id")));
        let inside = field.and_then(content);
        let optional = block.get("optional").and_then(Value::as_bool).unwrap_or(false);
        let length = inside.and_then(Value::as_str).map(|text| text.chars().count());
        let bound =
            |name: &str| element.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let problem = match (inside, length) {
            (None, _) if !optional => Some("Please complete this required field.".to_owned()),
            (Some(_), Some(length)) if bound("min_length").is_some_and(|least| length < least) => {
                Some(format!("Must be at least {} characters.", bound("min_length").unwrap_or(0)))
            }
            (Some(_), Some(length)) if length > bound("max_length").unwrap_or(3000) => {
                Some(format!("Must be at most {} characters.", bound("max_length").unwrap_or(3000)))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            wrong.insert(id.to_owned(), json!(problem));
        }
    }
    wrong
}
