//! Redrawing the board, the cards and the report wherever they do not show what the ledger says, after a restart for instance.

use std::time::Duration;

use async_trait::async_trait;

use crate::bot::Thread;
use crate::bot::present::Presenter;
use crate::bot::present::gone::gone;
use crate::bot::present::publish::takes_no_files;
use crate::bot::present::render::{
    METADATA, RenderedMessage, alert_news_of, alert_of, board_of, card_of, place, posted,
};
use crate::bot::show::{command_file, first_words};
use ghost_investigate::event::Delivered;
use ghost_investigate::state::State;
use ghost_session::{DeliveryError, ReportDelivery};
use ghost_slack::arrive::IncomingMessage;
use ghost_slack::pace::Priority;
use ghost_slack::web::{Address, CallError, Posted, Upload};
use ghost_store::Claimed;

/// For so long a thread belongs to the session of its alert; longer than sessions are kept.
const THREAD_KEPT: Duration = Duration::from_secs(400 * 24 * 3_600);

/// How far a thread is searched for what an owner that died may have said in it.
const FAR: usize = 1_000;

#[async_trait]
impl ReportDelivery for Presenter {
    async fn deliver(&self, state: &State, report: &str) -> Result<String, DeliveryError> {
        match Thread::of_state(state) {
            Some(thread) => self.publish(state, &thread).await.map_err(DeliveryError::service),
            // The messenger knows it by its cards.
            None if state.opened.outside.is_some() => Err(DeliveryError::Nowhere),
            None if state.opened.alert.is_some() => self.publish_late(state).await,
            None => self.elsewhere.deliver(state, report).await,
        }
    }

    async fn reconcile(&self, state: &State) -> Result<Vec<Delivered>, DeliveryError> {
        let Some(thread) = Thread::of_state(state).or_else(|| Thread::wanted(state)) else {
            return self.elsewhere.reconcile(state).await;
        };
        let reconciled = self.agree(state, &thread).await.map_err(DeliveryError::service)?;
        if state.open_approval().is_some() || state.is_reported() {
            // Whoever had it before may not have said that nobody works there now.
            self.show_status(state, &thread);
        }
        if state.is_reported() {
            self.end(state);
        }
        Ok(reconciled)
    }
}

impl Presenter {
    /// Brings the report of an alert whose thread could not be opened until now; where its channel takes nothing, it stays in the
    /// ledger.
    async fn publish_late(&self, state: &State) -> Result<String, DeliveryError> {
        let (Some(thread), Some(root)) = (Thread::wanted(state), alert_of(state)) else {
            return Err(DeliveryError::Nowhere);
        };
        let there = match self.bring(state, &thread, &root).await {
            Ok(there) => there.ok_or(DeliveryError::Nowhere)?,
            Err(error) => match gone(&error) {
                Some(why) => return Ok(format!("nowhere ({why})")),
                None => return Err(DeliveryError::service(error)),
            },
        };
        if !self.keep_thread(state, &there).await {
            return Err(DeliveryError::Nowhere);
        }
        let thread = Thread { ts: there.ts, ..thread };
        self.publish(state, &thread).await.map_err(DeliveryError::service)
    }

    async fn agree(&self, state: &State, thread: &Thread) -> Result<Vec<Delivered>, CallError> {
        // The moment of the last event, so that the same ledger is always drawn the same.
        let (frozen, at) = (self.known_freeze(), state.last_at);
        let context = self.context_in(state, frozen.as_ref());
        let board = board_of(state, &context, at);
        let standing = state.place_of(Delivered::BOARD).and_then(|known| posted(&known.place));
        let mut cards: Vec<RenderedMessage> = state
            .approvals
            .iter()
            .filter(|(name, approval)| {
                approval.ending.is_none() || state.place_of(&Delivered::card_of(name)).is_some()
            })
            .filter_map(|(name, _)| card_of(state, name, &context, at))
            .collect();
        // Somebody waits for a new card, hardly anybody for an old one, nobody for the board.
        cards.sort_by_key(|card| state.place_of(&card.what).is_some());
        let (first, last) = match &standing {
            None => (Some(&board), None),
            Some(_) if state.is_reported() => (None, Some(&board)),
            Some(_) => (None, None),
        };
        let mut reconciled = Vec::new();
        let mut thread = thread.clone();
        let (root, news) = (alert_of(state), alert_news_of(state));
        // What the sender said later is shown once.
        let news = news.iter().filter(|news| state.place_of(&news.what).is_none());
        for rendered in root.iter().chain(first).chain(news).chain(&cards).chain(last) {
            match self.bring(state, &thread, rendered).await {
                Ok(None) => {}
                Ok(Some(there)) => {
                    let is_root = thread.ts.is_empty();
                    if is_root && root.is_some() && !self.keep_thread(state, &there).await {
                        // Next time it is found again.
                        return Ok(reconciled);
                    }
                    reconciled.push(Delivered {
                        what: rendered.what.clone(),
                        place: place(&there),
                        digest: rendered.digest,
                    });
                    // The thread of a request from outside begins with its board, that of an alert with what it says.
                    if is_root {
                        thread.ts = there.ts;
                    }
                }
                // What cannot be shown there keeps no session from going on.
                Err(error) if gone(&error).is_some() => {
                    tracing::warn!(session.id = %state.session, "board or card of session {} not posted: {error}", state.session);
                    return Ok(reconciled);
                }
                // Whoever is refused a plan draws its board without one.
                Err(error) if rendered.what == Delivered::BOARD && self.plan_was_refused(&error) => {
                    return Box::pin(self.agree(state, &thread)).await;
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(there) = standing.filter(|_| !state.is_reported()) {
            // The session changes again, and its board with it: nobody is kept for that.
            self.show_later(state, there, board, frozen);
        }
        Ok(reconciled)
    }

    /// Has the store know which session the thread belongs to, so that whoever speaks in it speaks with that session.
    async fn keep_thread(&self, state: &State, root: &Posted) -> bool {
        let thread =
            Thread { team: String::new(), channel: root.channel.clone(), ts: root.ts.clone() }.claim();
        let session = state.session.as_str();
        match self.store.claim(&thread, None, session, THREAD_KEPT).await {
            Ok(Claimed::Set) => true,
            Ok(Claimed::Held(held)) => held.as_deref() == Some(session),
            Err(error) => {
                tracing::warn!(session.id = %state.session, "thread of session {session} not kept: {error}");
                false
            }
        }
    }

    /// Makes one message agree; returns where it stands if that is news.
    async fn bring(
        &self,
        state: &State,
        thread: &Thread,
        rendered: &RenderedMessage,
    ) -> Result<Option<Posted>, CallError> {
        let known = state.place_of(&rendered.what);
        let standing = known.and_then(|known| Some((posted(&known.place)?, known.digest)));
        let there = match standing {
            Some((there, digest)) => {
                if digest == rendered.digest && self.tracker.shows(&there, digest).unwrap_or(true) {
                    return Ok(None);
                }
                there
            }
            None => match self.find(state, thread, &rendered.what).await? {
                (Some(there), _) => there,
                (None, said) => return self.put(state, thread, rendered, &said).await.map(Some),
            },
        };
        match self.change(&there, rendered).await {
            // Somebody deleted it. Where it still asks for something it is put up again.
            Err(error) if error.code() == Some("message_not_found") => match asks(state, &rendered.what) {
                true => self.put(state, thread, rendered, &self.said(thread).await?).await.map(Some),
                false => Ok(Some(there)),
            },
            done => done.map(|()| Some(there)),
        }
    }

    async fn change(&self, there: &Posted, rendered: &RenderedMessage) -> Result<(), CallError> {
        let change = self.tracker.want(there.clone(), rendered.clone());
        self.tracker.show(&self.web.at(Priority::Approval), change).await.map(drop)
    }

    async fn put(
        &self,
        state: &State,
        thread: &Thread,
        rendered: &RenderedMessage,
        said: &[IncomingMessage],
    ) -> Result<Posted, CallError> {
        let to = match thread.ts.as_str() {
            "" => Address::channel(&thread.channel),
            ts => Address::thread(&thread.channel, ts),
        };
        self.attach(state, &to, &rendered.what, said).await?;
        // A card has somebody who waits for it.
        let priority = if rendered.what == Delivered::BOARD { Priority::Other } else { Priority::Approval };
        let web = self.web.at(priority);
        if let Some(streamed) = rendered.streamed.as_ref().filter(|_| to.thread_ts.is_some())
            && self.tracker.may_stream()
            && let Some(there) = web.start_stream(&to, streamed).await?
        {
            self.tracker.note_streamed(&there, streamed.clone());
            return Ok(there);
        }
        let there = web.post(&to, &rendered.message).await?;
        self.tracker.note(&there, Some(rendered.digest));
        Ok(there)
    }

    /// Searches the thread for a message that a dead owner may have posted without recording it; returns what was read, too.
    async fn find(
        &self,
        state: &State,
        thread: &Thread,
        what: &str,
    ) -> Result<(Option<Posted>, Vec<IncomingMessage>), CallError> {
        if self.take_fresh(state, what) {
            return Ok((None, Vec::new()));
        }
        let said = self.said(thread).await?;
        let found = said.iter().find(|words| self.is_ours(words, state.session.as_str(), what));
        let there = found.map(|words| Posted { channel: thread.channel.clone(), ts: words.ts.clone() });
        Ok((there, said))
    }

    pub(super) async fn said(&self, thread: &Thread) -> Result<Vec<IncomingMessage>, CallError> {
        let web = self.web.at(Priority::Approval);
        if thread.ts.is_empty() {
            return Ok(web.history(&thread.channel, None, None, None).await?.messages);
        }
        Ok(web.thread(&thread.channel, &thread.ts, FAR).await?.0)
    }

    pub(super) fn end(&self, state: &State) {
        self.forget_fresh(state);
        let places = state.delivered.iter().filter_map(|delivered| posted(&delivered.place));
        places.for_each(|there| self.tracker.forget(&there));
    }

    /// Tells whether a message is a certain one of ours.
    pub(super) fn is_ours(&self, words: &IncomingMessage, session: &str, what: &str) -> bool {
        let field = |name: &str| words.metadata.get(name).and_then(|value| value.as_str());
        let is_named = words.metadata_type.as_deref() == Some(METADATA)
            && field("session") == Some(session)
            && field("what") == Some(what);
        // A board that is written while it is read has no metadata before it is changed.
        let is_streamed = || {
            what == Delivered::BOARD
                && words.metadata_type.is_none()
                && words.text.trim() == first_words(session)
        };
        words.user.as_deref() == Some(self.user.as_str()) && (is_named || is_streamed())
    }

    /// Posts what a card is too short for, in front of the card that names it, once.
    async fn attach(
        &self,
        state: &State,
        to: &Address,
        what: &str,
        said: &[IncomingMessage],
    ) -> Result<(), CallError> {
        let whole = what.strip_prefix("card ").and_then(|approval| command_file(state, approval));
        let Some(file) = whole else { return Ok(()) };
        let ours = said.iter().filter(|words| words.user.as_deref() == Some(self.user.as_str()));
        if ours.flat_map(|words| &words.files).any(|there| there.name == file.name) {
            return Ok(());
        }
        let upload = Upload { name: file.name, title: file.title, alt: file.alt, bytes: file.bytes };
        match self
            .web
            .at(Priority::Approval)
            .upload(to, &[upload], "The whole command of the card below:")
            .await
        {
            // The card has a button that shows the whole command, too.
            Err(error) if takes_no_files(&error) => {
                tracing::warn!("attachment of a long command failed: {error}");
                Ok(())
            }
            done => done.map(drop),
        }
    }
}

/// Tells whether a message still asks somebody for something.
fn asks(state: &State, what: &str) -> bool {
    match what.strip_prefix("card ").map(|approval| state.approvals.get(approval)) {
        // Below a report it may be asked whether what is left in the cloud may go.
        Some(Some(asked)) => {
            let step = state.step(asked.requested.step);
            let is_below = step.is_some_and(|step| state.is_behind_result(step));
            asked.ending.is_none() && (is_below || !state.is_over())
        }
        Some(None) => false,
        None => !state.is_over(),
    }
}
