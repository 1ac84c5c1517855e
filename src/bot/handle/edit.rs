//! What becomes of a complaint whose message is edited or deleted: one complaint is one message, however often Slack tells of it.
//!
//! Slack fires a mention again when its message is edited, with another event id, and tells of the edit besides. What a message said
//! when it was taken is kept under its channel and name; an edit that changes nothing of that changes nothing here.

use std::sync::Arc;
use std::time::Duration;

use crate::bot::Thread;
use crate::bot::core::{Core, words};
use crate::bot::handle::speech::{Said, thread_of};
use crate::bot::show;
use ghost_base::Digest;
use ghost_investigate::complaint::{corrected, fingerprint};
use ghost_investigate::event::{Gathered, HumanMessage, Instruction, Reworded};
use ghost_investigate::state::State;
use ghost_session::InboxMessage;
use ghost_slack::arrive::{Deleted, Edited, IncomingMessage, Origin};
use ghost_slack::socket::Answer;
use ghost_store::{Claimed, Delivered, Item, StoreError};

/// What a message said is kept as long as people edit it.
const SAID_KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);

/// What became of a message when it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It opened the session of its thread.
    Opened,
    /// It was words for a session.
    Steered,
    /// It was answered, and nothing else.
    Answered,
}

impl Role {
    const ALL: [Self; 3] = [Self::Opened, Self::Steered, Self::Answered];

    fn word(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Steered => "steered",
            Self::Answered => "answered",
        }
    }
}

/// What is kept of a message: what became of it, and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    role: Role,
    print: String,
}

impl Kept {
    fn of(role: Role, text: &str) -> Self {
        Self { role, print: Digest::of(fingerprint(text)).to_string() }
    }

    fn read(text: &str) -> Option<Self> {
        let (word, print) = text.split_once(' ')?;
        let role = Role::ALL.into_iter().find(|role| role.word() == word)?;
        Some(Self { role, print: print.to_owned() })
    }

    fn written(&self) -> String {
        format!("{} {}", self.role.word(), self.print)
    }
}

fn name(channel: &str, ts: &str) -> String {
    format!("said {channel}/{ts}")
}

impl Core {
    /// Keeps what a message said, and what became of it.
    pub(super) async fn keep_said(&self, said: &IncomingMessage, role: Role) -> Result<(), StoreError> {
        let (name, kept) = (name(&said.channel, &said.ts), Kept::of(role, &self.words_of(said)));
        let before = self.store.claimed(&name).await?;
        let known = before.as_deref().and_then(Kept::read);
        // What opened a session stays what opened it.
        if known.is_some_and(|known| known.role == Role::Opened || known == kept) {
            return Ok(());
        }
        self.store.claim(&name, before.as_deref(), &kept.written(), SAID_KEPT).await.map(drop)
    }

    /// Tells whether a message was taken before.
    pub(super) async fn was_said(&self, said: &IncomingMessage) -> Result<bool, StoreError> {
        Ok(self.store.claimed(&name(&said.channel, &said.ts)).await?.is_some())
    }

    /// Takes an edit that Slack tells of by itself.
    pub(super) async fn on_edit(
        self: &Arc<Self>,
        origin: &Origin,
        edited: &Edited,
    ) -> Result<Answer, StoreError> {
        let now = &edited.now;
        if now.bot.is_some() {
            return self.posted(origin, now).await;
        }
        // Slack tells of links that it unfolds in the same form: then nobody edited anything.
        if now.edited.is_none() || !self.was_said(now).await? {
            return Ok(Answer::Done);
        }
        self.reworded(origin, now).await
    }

    /// Takes a message that was taken before and says something else now.
    pub(super) async fn reworded(
        self: &Arc<Self>,
        origin: &Origin,
        said: &IncomingMessage,
    ) -> Result<Answer, StoreError> {
        let claim = name(&said.channel, &said.ts);
        let before = self.store.claimed(&claim).await?;
        let text = self.words_of(said);
        let Some(kept) = before.as_deref().and_then(Kept::read) else { return Ok(Answer::Done) };
        let fresh = Kept::of(kept.role, &text);
        if fresh == kept {
            return Ok(Answer::Done);
        }
        let user = said.user.clone().unwrap_or_default();
        if self.participant(&user).await.is_err() {
            return Ok(Answer::Done);
        }
        // A message that was only answered may be a complaint now.
        if kept.role == Role::Answered {
            return self.spoken(origin, said, &text, true).await;
        }
        let thread = thread_of(origin, &said.channel, said.root());
        let Some(rules) = self.settings.rules(&said.channel) else { return Ok(Answer::Done) };
        let key = format!("{claim} {}", fresh.print);
        if kept.role == Role::Opened {
            let (complaint, _) = self.complaint(&thread, said).await;
            if rules.outside(&complaint.symptom).is_none() && complaint.is_complaint() {
                let reworded =
                    Reworded { who: user.clone(), symptom: complaint.symptom, gathered: complaint.gathered };
                self.reword(&thread, &key, reworded).await?;
            }
        } else if rules.outside(&text).is_none() {
            let words = Said { thread: &thread, key: &key, user: &user, addressed: false };
            let state = self.state_of(&thread).await?;
            if !self.corrects(&words, state.as_ref(), &text).await? {
                self.say(&words, &text, Instruction::Steer, None).await?;
            }
        }
        let claimed = self.store.claim(&claim, before.as_deref(), &fresh.written(), SAID_KEPT).await?;
        if let Claimed::Held(_) = claimed {
            tracing::debug!("an edit was taken twice");
        }
        Ok(Answer::Done)
    }

    /// Replaces the question of a session, and says so in its thread.
    async fn reword(&self, thread: &Thread, key: &str, reworded: Reworded) -> Result<(), StoreError> {
        let session = self.session_of(thread).await?;
        let (symptom, who) = (reworded.symptom.clone(), reworded.who.clone());
        if self.write(&session, key, &InboxMessage::Reword(reworded)).await? == Delivered::New {
            self.tell(thread, &who, &show::reworded(&symptom));
        }
        Ok(())
    }

    /// Takes words such as "sorry, I meant port 8080", which replace the question; tells whether they are such.
    pub(super) async fn corrects(
        &self,
        said: &Said<'_>,
        state: Option<&State>,
        text: &str,
    ) -> Result<bool, StoreError> {
        let (before, mut gathered) = match state {
            Some(state) if state.opened.outside.is_some() => return Ok(false),
            Some(state) => (state.opened.symptom.clone(), Gathered::clone(&state.opened.gathered)),
            // Nobody has taken the session up yet: its complaint waits in the inbox.
            None => match self.waiting_complaint(said.thread).await? {
                Some(waiting) => waiting,
                None => return Ok(false),
            },
        };
        let Some(symptom) = corrected(&before, text) else { return Ok(false) };
        for passage in &mut gathered.passages {
            if let Some(better) = corrected(&passage.text, text) {
                passage.text = better;
            }
        }
        let reworded = Reworded { who: said.user.to_owned(), symptom, gathered };
        self.reword(said.thread, said.key, reworded).await?;
        Ok(true)
    }

    /// Returns the complaint of a session that nobody has taken up yet.
    async fn waiting_complaint(&self, thread: &Thread) -> Result<Option<(String, Gathered)>, StoreError> {
        let session = self.session_of(thread).await?;
        let items = self.store.inbox(&session).await?;
        Ok(items.iter().rev().find_map(|item| match item {
            Item::Delivered(text) => match serde_json::from_str::<InboxMessage>(text) {
                Ok(InboxMessage::Open(opened)) => {
                    let opened = *opened;
                    Some((opened.symptom, *opened.gathered))
                }
                Ok(InboxMessage::Reword(reworded)) => Some((reworded.symptom, reworded.gathered)),
                Ok(
                    InboxMessage::Said(_)
                    | InboxMessage::Again(_)
                    | InboxMessage::Ask(_)
                    | InboxMessage::Take(_)
                    | InboxMessage::Attend(_)
                    | InboxMessage::Recheck(_)
                    | InboxMessage::Alert(_),
                )
                | Err(_) => None,
            },
            Item::Closed(_) => None,
        }))
    }

    /// Takes the deletion of a message. One that opened a session ends it.
    pub(super) async fn deleted(
        self: &Arc<Self>,
        origin: &Origin,
        deleted: &Deleted,
    ) -> Result<Answer, StoreError> {
        let kept = self.store.claimed(&name(&deleted.channel, &deleted.ts)).await?;
        if kept.as_deref().and_then(Kept::read).is_none_or(|kept| kept.role != Role::Opened) {
            return Ok(Answer::Done);
        }
        let before = deleted.before.as_ref();
        let root = deleted.thread_ts.clone().or_else(|| before.and_then(|before| before.thread_ts.clone()));
        let thread = thread_of(origin, &deleted.channel, root.as_deref().unwrap_or(&deleted.ts));
        let session = self.session_of(&thread).await?;
        if !self.is_known(&session).await? {
            return Ok(Answer::Done);
        }
        let state = self.state(&session).await?;
        if state.as_ref().is_some_and(|state| state.concluded.is_some()) {
            return Ok(Answer::Done);
        }
        let author = before.and_then(|before| before.user.clone());
        let who = author.or_else(|| state.map(|state| state.opened.requester)).unwrap_or_default();
        let key = format!("deleted {}/{}", deleted.channel, deleted.ts);
        let stop = HumanMessage {
            who: who.clone(),
            text: "the complaint was deleted".to_owned(),
            instruction: Instruction::Stop,
        };
        if self.write(&session, &key, &InboxMessage::Said(stop)).await? == Delivered::New {
            self.tell(&thread, &who, &words(show::phrase::DELETED));
        }
        Ok(Answer::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_message_is_read_again() {
        for role in Role::ALL {
            let kept = Kept::of(role, "web-1 cannot reach db-1 on port 5432");
            assert_eq!(Kept::read(&kept.written()), Some(kept));
        }
        for odd in ["", "opened", "lost 1", " 1"] {
            assert_eq!(Kept::read(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_cosmetic_edit_is_the_same_and_another_port_is_not() {
        let of = |text| Kept::of(Role::Opened, text);
        assert_eq!(of("web-1 cant reach db-1 on port 5432"), of("web-1 can't reach db-1 on port 5432!"));
        assert_ne!(of("web-1 cannot reach db-1 on port 8081"), of("web-1 cannot reach db-1 on port 8080"));
    }
}
