//! `views.*`: modals in a stack, and the Home tab.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::block::accept_view;
use crate::state::args::Args;
use crate::state::block::fill;
use crate::state::error::SlackError;
use crate::state::event::Notice;
use crate::state::model::{Workspace, text_of};
use crate::state::user::set;
use ghost_base::{Digest, Timestamp};

/// How long a trigger opens something.
const TRIGGER_MILLIS: i64 = 3_000;
/// How many modals may lie on each other.
const MAX_STACK_DEPTH: usize = 3;

/// A view as it is open, or published.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) id: String,
    pub(crate) app: String,
    pub(crate) user: String,
    /// What the app sent, with names filled in.
    pub(crate) body: Value,
    pub(crate) hash: String,
    pub(crate) root: String,
    pub(crate) previous: Option<String>,
    /// The values of the last payload.
    pub(crate) state: Value,
}

/// What an interaction gives to the app, so that it may open one view.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Trigger {
    pub(crate) app: String,
    pub(crate) user: String,
    pub(crate) born: i64,
    pub(crate) used: bool,
    /// The view that it opened.
    pub(crate) opened: Option<String>,
}

impl View {
    /// The view in Slack's form.
    pub(crate) fn form(&self, workspace: &Workspace) -> Value {
        let app = workspace.app(&self.app).ok();
        let body = |name: &str| self.body.get(name).cloned();
        let text = |name: &str| text_of(&self.body, name);
        let mut form = json!({
            "id": self.id, "team_id": workspace.team.id, "type": text("type"), "blocks": body("blocks"),
            "private_metadata": text("private_metadata"), "callback_id": text("callback_id"),
            "state": {"values": self.state}, "hash": self.hash, "title": body("title"), "close": body("close"),
            "submit": body("submit"), "clear_on_close": body("clear_on_close").unwrap_or(Value::Bool(false)),
            "notify_on_close": body("notify_on_close").unwrap_or(Value::Bool(false)),
            "previous_view_id": self.previous, "root_view_id": self.root, "external_id": text("external_id"),
            "app_id": self.app, "app_installed_team_id": workspace.team.id, "bot_id": app.map(|app| &app.bot_id),
        });
        if body("submit_disabled").is_some() {
            set(&mut form, "submit_disabled", json!(body("submit_disabled")));
        }
        form
    }
}

impl Workspace {
    /// Makes a trigger for what a person just did.
    pub(crate) fn trigger(&mut self, app: &str, user: &str, now: Timestamp) -> String {
        let tail = self.unguessable();
        let id = format!("{}.{}.{tail}", self.counter, now.as_millis());
        let trigger = Trigger {
            app: app.to_owned(),
            user: user.to_owned(),
            born: now.as_millis(),
            used: false,
            opened: None,
        };
        if self.triggers.len() >= self.caps.handles {
            let oldest = self.triggers.iter().min_by_key(|(_, one)| one.born).map(|(id, _)| id.clone());
            oldest.and_then(|id| self.triggers.remove(&id));
        }
        self.triggers.insert(id.clone(), trigger);
        id
    }

    /// Uses a trigger up; returns whose it was.
    fn exchange(&mut self, app: &str, args: &Args, now: Timestamp) -> Result<(String, String), SlackError> {
        // Both names lead to the same thing.
        let named = args.text("trigger_id").or_else(|| args.text("interactivity_pointer"));
        let id = named.ok_or_else(|| SlackError::missing("trigger_id"))?;
        let trigger = self.triggers.get_mut(&id).filter(|trigger| trigger.app == app);
        let trigger = trigger.ok_or_else(|| SlackError::arguments(["invalid `trigger_id`".to_owned()]))?;
        if trigger.used {
            return Err(SlackError::new("exchanged_trigger_id"));
        }
        if now.as_millis() - trigger.born > TRIGGER_MILLIS {
            return Err(SlackError::new("expired_trigger_id"));
        }
        trigger.used = true;
        Ok((id, trigger.user.clone()))
    }

    fn new_view(
        &mut self,
        app: &str,
        user: &str,
        mut body: Value,
        now: Timestamp,
    ) -> Result<View, SlackError> {
        let external = text_of(&body, "external_id").to_owned();
        if !external.is_empty() && self.views().any(|view| text_of(&view.body, "external_id") == external) {
            return Err(SlackError::new("duplicate_external_id"));
        }
        if let Some(blocks) = body.get_mut("blocks") {
            fill(blocks, self);
        }
        let id = self.id("V");
        let hash = self.hash(&body, now);
        Ok(View {
            root: id.clone(),
            id,
            app: app.to_owned(),
            user: user.to_owned(),
            body,
            hash,
            previous: None,
            state: json!({}),
        })
    }

    fn hash(&mut self, body: &Value, now: Timestamp) -> String {
        self.counter += 1;
        let digest = Digest::of_fields([body.to_string().as_str(), &self.counter.to_string()]).to_string();
        format!("{}.{}", now.as_millis().div_euclid(1000), digest.get(..8).unwrap_or_default())
    }

    fn views(&self) -> impl Iterator<Item = &View> {
        self.modals.values().flatten().chain(self.homes.values())
    }

    /// Finds an open modal.
    pub(crate) fn modal(&self, id: &str) -> Result<&View, SlackError> {
        self.modals.values().flatten().find(|view| view.id == id).ok_or_else(|| SlackError::new("not_found"))
    }

    /// `views.open`
    pub(crate) fn views_open(&mut self, app: &str, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let body = modal_of(args)?;
        let (trigger, user) = self.exchange(app, args, now)?;
        let view = self.new_view(app, &user, body, now)?;
        self.show(&trigger, view, true)
    }

    /// `views.push`
    pub(crate) fn views_push(&mut self, app: &str, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        let body = modal_of(args)?;
        let (trigger, user) = self.exchange(app, args, now)?;
        let view = self.new_view(app, &user, body, now)?;
        self.show(&trigger, view, false)
    }

    fn show(&mut self, trigger: &str, view: View, alone: bool) -> Result<Value, SlackError> {
        let (id, user) = (view.id.clone(), view.user.clone());
        if alone {
            self.modals.remove(&user);
        }
        self.stack(view)?;
        if let Some(trigger) = self.triggers.get_mut(trigger) {
            trigger.opened = Some(id.clone());
        }
        Ok(json!({"ok": true, "view": self.modal(&id)?.form(self)}))
    }

    /// Lays a modal on top of what its reader has open.
    pub(crate) fn stack(&mut self, mut view: View) -> Result<(), SlackError> {
        let stack = self.modals.entry(view.user.clone()).or_default();
        if stack.len() >= MAX_STACK_DEPTH {
            return Err(SlackError::new("push_limit_reached"));
        }
        if let Some(top) = stack.last() {
            view.previous = Some(top.id.clone());
            view.root = top.root.clone();
        }
        let user = view.user.clone();
        stack.push(view);
        self.notice(Notice::of("view").only_for(Some(&user)));
        Ok(())
    }

    /// Lays a modal that came with an acknowledgement on top.
    pub(crate) fn push_from_answer(
        &mut self,
        app: &str,
        user: &str,
        body: Value,
        now: Timestamp,
    ) -> Result<(), SlackError> {
        accept_view(&body)?;
        let view = self.new_view(app, user, body, now)?;
        self.stack(view)
    }

    /// `views.update`
    pub(crate) fn views_update(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let body = modal_of(args)?;
        let named = |view: &&View| match (args.text("view_id"), args.text("external_id")) {
            (Some(id), _) => view.id == id,
            (None, Some(external)) => text_of(&view.body, "external_id") == external,
            (None, None) => false,
        };
        if args.text("view_id").is_none() && args.text("external_id").is_none() {
            return Err(SlackError::missing("view_id"));
        }
        let found = self.modals.values().flatten().find(named).filter(|view| view.app == app);
        let found = found.ok_or_else(|| SlackError::new("not_found"))?;
        if args.text("hash").is_some_and(|hash| hash != found.hash) {
            return Err(SlackError::new("hash_conflict"));
        }
        let id = found.id.clone();
        self.replace_view(&id, body, now)?;
        Ok(json!({"ok": true, "view": self.modal(&id)?.form(self)}))
    }

    /// Puts another body into an open modal.
    pub(crate) fn replace_view(
        &mut self,
        id: &str,
        mut body: Value,
        now: Timestamp,
    ) -> Result<(), SlackError> {
        accept_view(&body)?;
        if let Some(blocks) = body.get_mut("blocks") {
            fill(blocks, self);
        }
        let hash = self.hash(&body, now);
        let view = self.modals.values_mut().flatten().find(|view| view.id == id);
        let view = view.ok_or_else(|| SlackError::new("not_found"))?;
        (view.body, view.hash) = (body, hash);
        let user = view.user.clone();
        self.notice(Notice::of("view").only_for(Some(&user)));
        Ok(())
    }

    /// Closes a modal and what lies on it, or the whole stack.
    pub(crate) fn close_view(&mut self, id: &str, whole: bool) {
        let Some((user, stack)) =
            self.modals.iter_mut().find(|(_, stack)| stack.iter().any(|view| view.id == id))
        else {
            return;
        };
        let user = user.clone();
        let at = stack.iter().position(|view| view.id == id).unwrap_or(0);
        stack.truncate(if whole { 0 } else { at });
        if stack.is_empty() {
            self.modals.remove(&user);
        }
        self.notice(Notice::of("view").only_for(Some(&user)));
    }

    /// `views.publish`
    pub(crate) fn views_publish(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let user = args.need("user_id")?;
        self.user(&user)?;
        let body = view_of(args)?;
        if text_of(&body, "type") != "home" {
            return Err(SlackError::arguments([
                "[ERROR] must be a home view [json-pointer:/view/type]".to_owned()
            ]));
        }
        let key = format!("{app} {user}");
        if let (Some(hash), Some(old)) = (args.text("hash"), self.homes.get(&key))
            && hash != old.hash
        {
            return Err(SlackError::new("hash_conflict"));
        }
        let old = self.homes.remove(&key);
        let mut view = self.new_view(app, &user, body, now)?;
        if let Some(old) = old {
            (view.id, view.root) = (old.id, old.root);
        }
        let form = view.form(self);
        self.homes.insert(key, view);
        self.notice(Notice::of("home").only_for(Some(&user)));
        Ok(json!({"ok": true, "view": form}))
    }
}

fn view_of(args: &Args) -> Result<Value, SlackError> {
    let view = args.json("view", "invalid_arguments")?.ok_or_else(|| SlackError::missing("view"))?;
    accept_view(&view)?;
    Ok(view)
}

fn modal_of(args: &Args) -> Result<Value, SlackError> {
    let view = view_of(args)?;
    if text_of(&view, "type") == "modal" {
        return Ok(view);
    }
    Err(SlackError::arguments(["[ERROR] must be a modal view [json-pointer:/view/type]".to_owned()]))
}
