//! What an app says with an acknowledgement, or later through an address that it was given.

use serde_json::{Map, Value};

use crate::block::{Content, Method, accept_message};
use crate::state::channel::Message;
use crate::state::error::SlackError;
use crate::state::model::{Hook, Workspace, stamp, text_of};
use ghost_base::Timestamp;

/// How often an address takes an answer, and for how long.
const USES: u32 = 5;
const LIFE_MILLIS: i64 = 30 * 60 * 1000;

impl Workspace {
    /// Does what an acknowledged submission asks for; returns the errors by block, if it named any.
    pub(crate) fn submitted(
        &mut self,
        view: &str,
        answer: &Value,
        now: Timestamp,
    ) -> Result<Map<String, Value>, SlackError> {
        let (app, user) = match self.modal(view) {
            Ok(view) => (view.app.clone(), view.user.clone()),
            // Closed in the meantime: nothing is left to change.
            Err(_) => return Ok(Map::new()),
        };
        let body = || answer.get("view").cloned().ok_or_else(|| SlackError::new("invalid_response_action"));
        match text_of(answer, "response_action") {
            "" => self.close_view(view, false),
            "clear" => self.close_view(view, true),
            "errors" => {
                let errors =
                    answer.get("errors").and_then(Value::as_object).filter(|errors| !errors.is_empty());
                return errors.cloned().ok_or_else(|| SlackError::new("invalid_response_action"));
            }
            "update" => self.replace_view(view, body()?, now)?,
            "push" => self.push_from_answer(&app, &user, body()?, now)?,
            _ => return Err(SlackError::new("invalid_response_action")),
        }
        Ok(Map::new())
    }

    /// Posts what an acknowledged command says, if it says anything.
    pub(crate) fn commanded(
        &mut self,
        app: &str,
        user: &str,
        channel: &str,
        answer: &Value,
        now: Timestamp,
    ) -> Result<(), SlackError> {
        let has = |name: &str| answer.get(name).is_some_and(|value| !value.is_null());
        if !has("text") && !has("blocks") && !has("attachments") {
            return Ok(());
        }
        let hook = Hook {
            app: app.to_owned(),
            user: user.to_owned(),
            channel: channel.to_owned(),
            ts: None,
            thread_ts: None,
            uses: 0,
            born: now.as_millis(),
        };
        self.say(&hook, answer, now)
    }

    /// Takes an answer through an address.
    pub(crate) fn hooked(&mut self, secret: &str, answer: &Value, now: Timestamp) -> Result<(), SlackError> {
        let hook = self.hooks.get_mut(secret).ok_or_else(|| SlackError::new("invalid_url"))?;
        if now.as_millis() - hook.born > LIFE_MILLIS {
            return Err(SlackError::new("expired_url"));
        }
        if hook.uses >= USES {
            return Err(SlackError::new("used_url"));
        }
        hook.uses += 1;
        let hook = hook.clone();
        self.say(&hook, answer, now)
    }

    fn say(&mut self, hook: &Hook, answer: &Value, now: Timestamp) -> Result<(), SlackError> {
        let flag = |name: &str| answer.get(name).is_some_and(|value| *value == true || *value == "true");
        if let Some(ts) = hook.ts.as_ref().filter(|_| flag("delete_original")) {
            return self.remove(&hook.channel, ts, now);
        }
        let part = |name: &str| answer.get(name).filter(|part| !part.is_null());
        let content = Content {
            text: answer.get("text").and_then(Value::as_str),
            markdown_text: None,
            blocks: part("blocks"),
            attachments: part("attachments"),
        };
        let text = accept_message(content, Method::Post)?.text;
        let (blocks, attachments) = (part("blocks").cloned(), part("attachments").cloned());
        if let Some(ts) = hook.ts.as_ref().filter(|_| flag("replace_original")) {
            let bot = self.app(&hook.app)?.bot_user.clone();
            return self.edit(&hook.channel, ts, now, |message| {
                message.edited = Some((bot, stamp(now)));
                message.text = text;
                message.blocks = blocks;
                message.attachments = attachments;
            });
        }
        let everybody = text_of(answer, "response_type") == "in_channel";
        let thread = answer.get("thread_ts").and_then(Value::as_str).map(str::to_owned);
        let message = Message {
            user: self.app(&hook.app)?.bot_user.clone(),
            app: Some(hook.app.clone()),
            text,
            blocks,
            attachments,
            thread_ts: thread.or_else(|| hook.thread_ts.clone().filter(|_| !everybody)),
            only_for: (!everybody).then(|| hook.user.clone()),
            ..Message::default()
        };
        self.post(&hook.channel, message, now).map(drop)
    }
}
