//! A dialog that was sent off, and the message shortcut that opens one.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::event::{Quote, Reply};
use crate::bot::Thread;
use crate::bot::core::{Core, words};
use crate::bot::show::{
    FormError, Meta, Preview, Refusal, investigate_modal, modify_errors, read_deny, read_investigate,
    read_modify,
};
use crate::slack::arrive::{Shortcut, Submit, View};
use crate::slack::socket::Answer;
use crate::store::StoreError;

impl Core {
    /// Takes a dialog that was sent off.
    pub(super) async fn submitted(self: &Arc<Self>, submit: &Submit) -> Result<Answer, StoreError> {
        match submit.view.callback_id.as_str() {
            "deny" => self.denied(submit).await,
            "modify" => self.modified(submit).await,
            "investigate" => self.wanted(submit).await,
            other => {
                tracing::debug!("a dialog {other:?} is none of ours");
                Ok(Answer::Done)
            }
        }
    }

    /// Takes the message shortcut.
    pub(super) async fn shortcut(self: &Arc<Self>, shortcut: &Shortcut) -> Result<Answer, StoreError> {
        let (Some(channel), Some(ts)) = (&shortcut.channel, &shortcut.message_ts) else {
            return Ok(Answer::Done);
        };
        let root = shortcut.thread_ts.clone().unwrap_or_else(|| ts.clone());
        let spot = Thread { team: String::new(), channel: channel.clone(), ts: root.clone() };
        if let Err(why) = self.participant(&shortcut.user.id).await {
            self.whisper(&spot, &shortcut.user.id, &words(&why));
            return Ok(Answer::Done);
        }
        let said = shortcut.message.as_ref().map(|message| crate::bot::words::plain(&message.everything()));
        let meta = Meta { channel: channel.clone(), message: ts.clone(), thread: root, ..Meta::default() };
        let view = investigate_modal(&meta, &said.unwrap_or_default());
        self.open_view(shortcut.trigger_id.as_deref(), view, &spot, &shortcut.user.id).await;
        Ok(Answer::Done)
    }

    async fn denied(self: &Arc<Self>, submit: &Submit) -> Result<Answer, StoreError> {
        let form = match read_deny(&raw(&submit.view)) {
            Ok(form) => form,
            Err(error) => return Ok(wrong(&error)),
        };
        let (spot, user) = (spot(&form.meta), submit.user.id.as_str());
        let question = match self.question(&form.meta.approval).await? {
            Ok(question) => question,
            Err(refused) => return Ok(self.told(&spot, user, &refused)),
        };
        let person = match self.may_deny(user).await {
            Ok(person) => person,
            Err(refused) => return Ok(self.told(&spot, user, &refused)),
        };
        let answer = Reply::Deny { reason: form.reason };
        let key = format!("{} {}", submit.view.id, submit.view.hash.as_deref().unwrap_or_default());
        match self.count(&question, &person, answer, &key).await? {
            Some(refused) => Ok(self.told(&spot, user, &refused)),
            None => Ok(Answer::Done),
        }
    }

    async fn modified(self: &Arc<Self>, submit: &Submit) -> Result<Answer, StoreError> {
        let form = match read_modify(&raw(&submit.view)) {
            Ok(form) => form,
            Err(error) => return Ok(wrong(&error)),
        };
        let (spot, user) = (spot(&form.meta), submit.user.id.as_str());
        let question = match self.question(&form.meta.approval).await? {
            Ok(question) => question,
            Err(refused) => return Ok(self.told(&spot, user, &refused)),
        };
        let person = match self.may_approve(&question, user).await? {
            Ok(person) => person,
            Err(refused) => return Ok(self.told(&spot, user, &refused)),
        };
        let ruling = self.policy.classify_within(&form.command, question.state.opened.scope.as_ref());
        if let Some(errors) = modify_errors(&Preview::from(&ruling)) {
            return Ok(Answer::With(errors));
        }
        let key = format!("{} {}", submit.view.id, submit.view.hash.as_deref().unwrap_or_default());
        match self.count(&question, &person, Reply::Modify { command: form.command }, &key).await? {
            Some(refused) => Ok(self.told(&spot, user, &refused)),
            None => Ok(Answer::Done),
        }
    }

    async fn wanted(self: &Arc<Self>, submit: &Submit) -> Result<Answer, StoreError> {
        let form = match read_investigate(&raw(&submit.view)) {
            Ok(form) => form,
            Err(error) => return Ok(wrong(&error)),
        };
        let (spot, user) = (spot(&form.meta), submit.user.id.as_str());
        if let Err(why) = self.participant(user).await {
            self.whisper(&spot, user, &words(&why));
            return Ok(Answer::Done);
        }
        let Some(place) = self.settings.place(&spot.channel) else { return Ok(Answer::Done) };
        if let Some(what) = place.scope.as_ref().and_then(|scope| scope.outside_words(&form.symptom)) {
            return Ok(self.told(&spot, user, &Refusal::OutOfScope { what }));
        }
        let quotes: Vec<Quote> = Vec::new();
        self.open(&spot, &format!("view {}", submit.view.id), user, &form.symptom, place, quotes).await?;
        Ok(Answer::Done)
    }

    fn told(&self, spot: &Thread, user: &str, refused: &Refusal) -> Answer {
        self.refuse(spot, user, refused);
        Answer::Done
    }
}

/// Words a view as Slack does, with the fields that our dialogs have.
pub(super) fn raw(view: &View) -> Value {
    let fields = ["command", "reason", "symptom"];
    let filled = fields.iter().filter_map(|name| Some((*name, view.values.text(name, name)?)));
    let values: serde_json::Map<String, Value> =
        filled.map(|(name, text)| (name.to_owned(), json!({ name: {"value": text} }))).collect();
    json!({
        "callback_id": view.callback_id, "private_metadata": view.private_metadata, "state": {"values": values},
    })
}

fn wrong(error: &FormError) -> Answer {
    error.response().map_or(Answer::Done, Answer::With)
}

fn spot(meta: &Meta) -> Thread {
    Thread { team: String::new(), channel: meta.channel.clone(), ts: meta.thread.clone() }
}
