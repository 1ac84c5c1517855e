//! A dialog that was sent off, and the message shortcut that opens one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bot::Thread;
use crate::bot::core::{Core, words};
use crate::bot::handle::open::Incident;
use crate::bot::show::{
    FormError, Meta, Preview, Refusal, investigate_modal, modify_errors, read_deny, read_investigate,
    read_modify,
};
use ghost_investigate::event::{Gathered, PassagePlace, Reply};
use ghost_slack::arrive::{Shortcut, Submit};
use ghost_slack::socket::Answer;
use ghost_store::StoreError;

impl Core {
    /// Takes a dialog that was sent off.
    pub(super) async fn submitted(self: &Arc<Self>, submit: &Submit) -> Result<Answer, StoreError> {
        match submit.view.callback_id.as_str() {
            "deny" => self.denied(submit).await,
            "modify" => self.modified(submit).await,
            "investigate" => self.wanted(submit).await,
            other => {
                tracing::debug!("unknown dialog {other:?} ignored");
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
            self.whisper(&spot, &shortcut.user.id, &words(&why.to_string()));
            return Ok(Answer::Done);
        }
        let read = |message| self.read_message(message, PassagePlace::Root, &BTreeMap::new()).text();
        let said = shortcut.message.as_ref().map(read);
        let meta = Meta { channel: channel.clone(), message: ts.clone(), thread: root, ..Meta::default() };
        let view = investigate_modal(&meta, &said.unwrap_or_default());
        self.open_view(shortcut.trigger_id.as_deref(), view, &spot, &shortcut.user.id).await;
        Ok(Answer::Done)
    }

    async fn denied(self: &Arc<Self>, submit: &Submit) -> Result<Answer, StoreError> {
        let form = match read_deny(&submit.view) {
            Ok(form) => form,
            Err(error) => return Ok(wrong(&error)),
        };
        let user = submit.user.id.as_str();
        let refused = match self.question(&form.meta.approval).await? {
            Err(refused) => Some(refused),
            Ok(question) => match self.may_deny(&question, user).await? {
                Err(refused) => Some(refused),
                Ok(person) => {
                    let answer = Reply::Deny { reason: form.reason };
                    self.count(&question, &person, answer, &key(submit)).await?
                }
            },
        };
        Ok(self.answered(&form.meta, user, refused))
    }

    async fn modified(self: &Arc<Self>, submit: &Submit) -> Result<Answer, StoreError> {
        let form = match read_modify(&submit.view) {
            Ok(form) => form,
            Err(error) => return Ok(wrong(&error)),
        };
        let user = submit.user.id.as_str();
        let refused = match self.question(&form.meta.approval).await? {
            Err(refused) => Some(refused),
            Ok(question) => match self.may_approve(&question, user).await? {
                Err(refused) => Some(refused),
                Ok(person) => {
                    let ruling = self.judge(&question.state, &form.command);
                    if let Some(errors) = modify_errors(&Preview::from(&ruling)) {
                        return Ok(Answer::With(errors));
                    }
                    let answer = Reply::Modify { command: form.command };
                    self.count(&question, &person, answer, &key(submit)).await?
                }
            },
        };
        Ok(self.answered(&form.meta, user, refused))
    }

    async fn wanted(self: &Arc<Self>, submit: &Submit) -> Result<Answer, StoreError> {
        let form = match read_investigate(&submit.view) {
            Ok(form) => form,
            Err(error) => return Ok(wrong(&error)),
        };
        let (spot, user) = (spot(&form.meta), submit.user.id.as_str());
        if let Err(why) = self.participant(user).await {
            self.whisper(&spot, user, &words(&why.to_string()));
            return Ok(Answer::Done);
        }
        let Some(rules) = self.settings.rules(&spot.channel) else { return Ok(Answer::Done) };
        if let Some(what) = rules.outside(&form.symptom) {
            return Ok(self.answered(&form.meta, user, Some(Refusal::OutOfScope { what })));
        }
        let quotes = self.quotes(&spot).await;
        let gathered = Gathered::default();
        let (thread, who, symptom) = (&spot, user, form.symptom.as_str());
        let key = format!("view {}", submit.view.id);
        self.open_for(&spot, Incident { thread, key: &key, who, symptom, rules, gathered, quotes }).await?;
        Ok(Answer::Done)
    }

    /// Answers whoever sent a dialog off: privately, where it does not count.
    fn answered(&self, meta: &Meta, user: &str, refused: Option<Refusal>) -> Answer {
        if let Some(refused) = refused {
            self.refuse(&spot(meta), user, &refused);
        }
        Answer::Done
    }
}

/// Names a submission: the same one again counts once.
fn key(submit: &Submit) -> String {
    format!("{} {}", submit.view.id, submit.view.hash.as_deref().unwrap_or_default())
}

fn wrong(error: &FormError) -> Answer {
    error.response().map_or(Answer::Done, Answer::With)
}

fn spot(meta: &Meta) -> Thread {
    Thread { team: String::new(), channel: meta.channel.clone(), ts: meta.thread.clone() }
}
