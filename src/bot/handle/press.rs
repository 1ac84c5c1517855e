//! A click on a button of ours.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::bot::core::{Core, words};
use crate::bot::handle::decide::Question;
use crate::bot::handle::speech::Said;
use crate::bot::journal::{Entry, JournalAction, note};
use crate::bot::present::{card_of, context, lost_card, posted};
use crate::bot::show::{
    self, Meta, Preview, Refusal, asked_text, deny_modal, modify_modal, notice_modal, typed_command,
    whole_modal,
};
use crate::bot::{Freeze, Thread};
use ghost_investigate::event::{Delivered, Instruction, Reply};
use ghost_investigate::state::State;
use ghost_slack::arrive::Press;
use ghost_slack::pace::Priority;
use ghost_slack::socket::Answer;
use ghost_slack::web::Posted;
use ghost_store::{ApprovalId, StoreError};

impl Core {
    /// Takes a click.
    pub(super) async fn pressed(self: &Arc<Self>, press: &Press) -> Result<Answer, StoreError> {
        let value = press.action.value.clone().unwrap_or_default();
        match press.action.action_id.as_str() {
            "approve" => {
                let refused = self.approve(press, &value).await?;
                self.tell_refusal(press, &value, refused);
            }
            "deny" | "modify" | "whole" => {
                let refused = self.open_dialog(press, &value).await?;
                self.tell_refusal(press, &value, refused);
            }
            "command" => self.judge_while_typing(press),
            "stop" => self.press_wish(press, &value, Instruction::Stop).await?,
            "report" => self.press_wish(press, &value, Instruction::Report).await?,
            "recheck" => self.press_recheck(press, &value).await?,
            "look" => self.press_look_into(press, &value).await?,
            about if about.starts_with("about_") => self.press_about(press, &value).await?,
            "postmortem" => self.press_postmortem(press, &value).await?,
            "audit" | "steps" | "evidence" => self.press_look(press, &value).await?,
            "join" | "own" => self.press_join(press, &value).await?,
            "freeze" | "thaw" => self.press_freeze(press).await?,
            "clean_up" => self.press_clean_up(press, &value).await?,
            "feedback" => self.press_feedback(press, &value).await?,
            other => tracing::debug!("unknown button {other:?} ignored"),
        }
        Ok(Answer::Done)
    }

    /// Tells the person who pressed privately why it does not count. A card whose question is closed loses its buttons.
    fn tell_refusal(self: &Arc<Self>, press: &Press, approval: &str, refused: Option<Refusal>) {
        let Some(refused) = refused else { return };
        self.refuse(&Self::spot(press), &press.user.id, &refused);
        if matches!(refused, Refusal::Gone | Refusal::Decided { .. } | Refusal::Expired { .. }) {
            let (core, press, approval) = (Arc::clone(self), press.clone(), approval.to_owned());
            self.spawn(async move {
                if let Err(error) = core.close_card(&press, &approval).await {
                    tracing::warn!("card of a closed question not updated: {error}");
                }
            });
        }
    }

    /// Redraws the card that was pressed as store and ledger have it, or says that its question is lost. It may be another message than
    /// the one that the ledger names: an owner that died may have posted it too.
    async fn close_card(self: &Arc<Self>, press: &Press, approval: &str) -> Result<(), String> {
        let stored = |error: StoreError| error.to_string();
        let Ok(id) = approval.parse::<ApprovalId>() else { return Ok(()) };
        let is_stored = self.store.find(&id, self.clock.now()).await.map_err(stored)?.is_some();
        if is_stored {
            self.show_vote(&id);
        }
        // Only a card of ours has such a row of buttons.
        let (Some(channel), Some(ts)) = (press.channel.clone(), press.message_ts.clone()) else {
            return Ok(());
        };
        if press.action.block_id != "card" {
            return Ok(());
        }
        let pressed = Posted { channel, ts };
        let session = self.session_of(&Self::spot(press)).await.map_err(stored)?;
        let Ok(state) = self.readable(&session).await.map_err(stored)? else { return Ok(()) };
        let known = state.as_ref().and_then(|state| Some((state, state.approvals.get(approval)?)));
        let message = match known {
            None if is_stored => return Ok(()),
            None => lost_card(&session, approval),
            // The owner of its session opens it again.
            Some((_, asked)) if asked.ending.is_none() => return Ok(()),
            Some((state, _)) => {
                let place = state.place_of(&Delivered::card_of(approval));
                let is_pressed = place.and_then(|card| posted(&card.place)).as_ref() == Some(&pressed);
                let closed = card_of(state, approval, &context(state, None), state.last_at);
                match closed.filter(|_| !(is_stored && is_pressed)) {
                    Some(closed) => closed.message,
                    None => return Ok(()),
                }
            }
        };
        let updated = self.web.at(Priority::Approval).update(&pressed, &message).await;
        updated.map(drop).map_err(|error| error.to_string())
    }

    /// Returns where a click happened, for what is whispered.
    pub(super) fn spot(press: &Press) -> Thread {
        Thread {
            team: press.team.clone().unwrap_or_default(),
            channel: press.channel.clone().unwrap_or_default(),
            ts: press.thread_ts.clone().or_else(|| press.message_ts.clone()).unwrap_or_default(),
        }
    }

    async fn approve(self: &Arc<Self>, press: &Press, name: &str) -> Result<Option<Refusal>, StoreError> {
        let question = match self.question(name).await? {
            Ok(question) => question,
            Err(refused) => return Ok(Some(refused)),
        };
        if !is_on_its_card(press, &question) {
            return self.forged(press, &question).await;
        }
        match self.may_approve(&question, &press.user.id).await? {
            Ok(person) => self.count(&question, &person, Reply::Approve, &press.key).await,
            Err(refused) => Ok(Some(refused)),
        }
    }

    /// Refuses a click that names a question on whose card it did not happen.
    async fn forged(&self, press: &Press, question: &Question) -> Result<Option<Refusal>, StoreError> {
        self.record_refusal(question, &press.user.id, "the click did not come from its card").await?;
        Ok(Some(Refusal::Gone))
    }

    /// Opens the dialog of a button. Who may not use it gets an answer before anything opens.
    async fn open_dialog(self: &Arc<Self>, press: &Press, name: &str) -> Result<Option<Refusal>, StoreError> {
        let (spot, user) = (Self::spot(press), press.user.id.as_str());
        let question = match self.question(name).await? {
            Ok(question) => question,
            Err(refused) => return Ok(Some(refused)),
        };
        if !is_on_its_card(press, &question) {
            return self.forged(press, &question).await;
        }
        let allowed = match press.action.action_id.as_str() {
            "modify" => self.may_approve(&question, user).await?,
            _ => self.may_deny(&question, user).await?,
        };
        if let Err(refused) = allowed {
            return Ok(Some(refused));
        }
        if let Some(view) = self.dialog(press, &question) {
            self.open_view(press.trigger_id.as_deref(), view, &spot, user).await;
        }
        Ok(None)
    }

    fn dialog(&self, press: &Press, question: &Question) -> Option<Value> {
        let command = question.command()?;
        let meta = Meta {
            session: question.state.session.to_string(),
            approval: question.approval.record.id.to_string(),
            channel: press.channel.clone().unwrap_or_default(),
            message: press.message_ts.clone().unwrap_or_default(),
            thread: question.thread.ts.clone(),
        };
        Some(match press.action.action_id.as_str() {
            "deny" => deny_modal(&meta),
            "modify" => {
                let preview = Preview::from(&self.judge(&question.state, command));
                modify_modal(&meta, command, Some(&preview))
            }
            _ => {
                let (command, reasoning) = asked_text(&question.state, question.approval.record.id.as_str())?;
                whole_modal(&command, &reasoning)
            }
        })
    }

    pub(super) async fn open_view(
        self: &Arc<Self>,
        trigger: Option<&str>,
        view: Value,
        spot: &Thread,
        user: &str,
    ) {
        let opened = match trigger {
            Some(trigger) => {
                let arguments = json!({"trigger_id": trigger, "view": view});
                let opened = self.web.at(Priority::Approval).call("views.open", &arguments).await;
                opened.map(drop).map_err(|error| error.to_string())
            }
            None => Err("slack sent no trigger for a dialog".to_owned()),
        };
        if let Err(why) = opened {
            tracing::warn!("dialog did not open: {why}");
            self.whisper(spot, user, &words("The dialog did not open in time. Press once more."));
        }
    }

    /// Judges what somebody types into the dialog, and shows the verdict; what is typed meanwhile wins.
    fn judge_while_typing(self: &Arc<Self>, press: &Press) {
        let Some(view) = press.view.clone() else { return };
        let Ok(typed) = typed_command(&view) else { return };
        let number = {
            let mut typing = self.typing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if typing.len() > 1_000 {
                typing.clear();
            }
            let number = typing.entry(view.id.clone()).or_default();
            *number += 1;
            *number
        };
        let core = Arc::clone(self);
        self.spawn(async move {
            let Ok(session) = typed.meta.session.parse() else { return };
            let Ok(Some(state)) = core.state(&session).await else { return };
            let ruling = core.judge(&state, &typed.command);
            let newest =
                core.typing.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(&view.id).copied();
            if newest != Some(number) {
                return;
            }
            let shape = modify_modal(&typed.meta, &typed.command, Some(&Preview::from(&ruling)));
            let arguments = json!({"view_id": view.id, "view": shape});
            if let Err(error) = core.web.at(Priority::Approval).call("views.update", &arguments).await {
                tracing::debug!("verdict update failed: {error}");
            }
        });
    }

    async fn press_wish(
        self: &Arc<Self>,
        press: &Press,
        session: &str,
        instruction: Instruction,
    ) -> Result<(), StoreError> {
        let (spot, user) = (Self::spot(press), press.user.id.as_str());
        if let Err(why) = self.participant(user).await {
            self.whisper(&spot, user, &words(&why.to_string()));
            return Ok(());
        }
        let Ok(session) = session.parse() else { return Ok(()) };
        let Some(state) = self.state(&session).await? else {
            let lost = "The store no longer knows this session, so there is nothing to stop. Mention me with what is wrong, and I look anew.";
            self.whisper(&spot, user, &words(lost));
            return Ok(());
        };
        let Some(thread) = Thread::of_state(&state).filter(|thread| thread.channel == spot.channel) else {
            return Ok(());
        };
        let text = if instruction == Instruction::Report { "report" } else { "stop" };
        let said = Said { thread: &thread, key: &press.key, user, addressed: true };
        self.end_by(&said, text, instruction).await
    }

    /// Shows one person something of a session: its audit, the steps of its remedy, its evidence.
    async fn press_look(self: &Arc<Self>, press: &Press, session: &str) -> Result<(), StoreError> {
        let (spot, user) = (Self::spot(press), press.user.id.as_str());
        if let Err(why) = self.participant(user).await {
            self.whisper(&spot, user, &words(&why.to_string()));
            return Ok(());
        }
        let Ok(session) = session.parse() else { return Ok(()) };
        let state = self.state(&session).await?;
        let thread = state.as_ref().and_then(Thread::of_state);
        // Where the thread took nothing any more, the answer stands in a direct conversation.
        let is_theirs = |state: &State| spot.channel.starts_with('D') && state.opened.requester == user;
        let here = thread.is_some_and(|thread| thread.channel == spot.channel);
        if let Some(state) = state.filter(|state| here || is_theirs(state)) {
            let shown = match press.action.action_id.as_str() {
                "steps" => show::steps(&state),
                "evidence" => show::evidence(&state),
                _ => vec![show::audit(&state)],
            };
            self.whisper_all(&spot, user, &shown);
        }
        Ok(())
    }

    async fn press_freeze(self: &Arc<Self>, press: &Press) -> Result<(), StoreError> {
        let user = press.user.id.as_str();
        let frozen = press.action.action_id == "freeze";
        match self.may_freeze(user).await {
            Ok(()) => self.set_freeze(user, "", "home", frozen).await?,
            Err(why) => {
                self.record_no_freeze(user, "home", frozen, &why.to_string()).await?;
                let view = notice_modal(&format!("Not yours to hold back or let go: {why}"));
                self.open_view(press.trigger_id.as_deref(), view, &Self::spot(press), user).await;
            }
        }
        self.refresh_home(user);
        Ok(())
    }

    /// Says whether somebody may hold everything back.
    pub(super) async fn may_freeze(&self, user: &str) -> Result<(), crate::bot::AccessError> {
        let people = &self.settings.freezers;
        let (person, groups) = tokio::join!(
            self.directory.person_now(user),
            self.directory.groups(&people.groups, Priority::Approval)
        );
        let person = person?;
        crate::bot::may_take_part(&person)?;
        people.has(&person.id, &groups)
    }

    /// Puts it on record that somebody wanted to hold everything back or let it go, and may not.
    pub(super) async fn record_no_freeze(
        &self,
        user: &str,
        place: &str,
        freeze: bool,
        why: &str,
    ) -> Result<(), StoreError> {
        let why = format!("{}: {why}", if freeze { "freeze" } else { "thaw" });
        let entry = Entry { what: JournalAction::Refused, who: user, place, why: &why, session: "" };
        note(&self.store, self.clock.as_ref(), entry).await
    }

    /// Puts on record what somebody says of a report of their channel.
    async fn press_feedback(self: &Arc<Self>, press: &Press, value: &str) -> Result<(), StoreError> {
        let (spot, user) = (Self::spot(press), press.user.id.as_str());
        if let Err(why) = self.participant(user).await {
            self.whisper(&spot, user, &words(&why.to_string()));
            return Ok(());
        }
        let Some((word, session)) = value.split_once(':') else { return Ok(()) };
        let what = match word {
            "yes" => JournalAction::Helped,
            "no" => JournalAction::NotHelped,
            _ => return Ok(()),
        };
        let Ok(session) = session.parse() else { return Ok(()) };
        let state = self.state(&session).await?;
        let thread = state.as_ref().and_then(Thread::of_state);
        if thread.is_some_and(|thread| thread.channel == spot.channel) {
            let (place, session) = (spot.channel.as_str(), session.as_str());
            let entry = Entry { what, who: user, place, why: "", session };
            note(&self.store, self.clock.as_ref(), entry).await?;
            self.whisper(&spot, user, &words("Noted, thank you."));
        }
        Ok(())
    }

    /// Freezes commands, or ends the freeze; both are recorded. The freeze does not wait for the record, and
    /// nothing is let go that is not on record.
    pub(super) async fn set_freeze(
        &self,
        user: &str,
        why: &str,
        place: &str,
        freeze: bool,
    ) -> Result<(), StoreError> {
        let what = if freeze { JournalAction::Freeze } else { JournalAction::Thaw };
        let entry = Entry { what, who: user, place, why, session: "" };
        if freeze {
            Freeze::new(user, why, self.clock.now()).set(self.store.as_ref()).await?;
            self.turned.notify_one();
        }
        note(&self.store, self.clock.as_ref(), entry).await?;
        if !freeze {
            Freeze::lift(self.store.as_ref()).await?;
            self.turned.notify_one();
        }
        (self.trail)(user, if freeze { "freeze" } else { "thaw" }, why);
        Ok(())
    }
}

/// Tells whether a click happened on the card of its question. Whoever names a question elsewhere asks somebody to decide about
/// what is not shown there.
fn is_on_its_card(press: &Press, question: &Question) -> bool {
    let known = question.state.place_of(&Delivered::card_of(question.approval.record.id.as_str()));
    let (channel, ts) = (press.channel.as_deref(), press.message_ts.as_deref());
    match known.and_then(|card| posted(&card.place)) {
        Some(card) => channel == Some(card.channel.as_str()) && ts == Some(card.ts.as_str()),
        // A quick click may be here before the ledger knows where the card stands.
        None => {
            channel == Some(question.thread.channel.as_str())
                && press.thread_ts.as_deref() == Some(question.thread.ts.as_str())
        }
    }
}
