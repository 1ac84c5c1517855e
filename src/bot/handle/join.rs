//! Two people ask about the same thing in two places: whoever comes second is offered to join the first.

use std::sync::Arc;

use crate::bot::core::{Core, sent, words};
use crate::bot::handle::speech::Said;
use crate::bot::show::{self, Message, Offer};
use crate::bot::target::targets;
use crate::bot::{PostedLine, Thread, may_take_part};
use ghost_investigate::event::Instruction;
use ghost_investigate::state::State;
use ghost_slack::arrive::Press;
use ghost_slack::pace::Priority;
use ghost_slack::web::Response;
use ghost_store::StoreError;

/// So many sessions of late are compared.
const MAX_COMPARED_SESSIONS: usize = 10_000;

/// For so many about the same thing the membership of their channel is asked for.
const ASKED_ABOUT: usize = 20;

impl Core {
    /// Finds a session about the same thing, and offers it to whoever opened this one. It goes on meanwhile: nobody waits
    /// for an answer to a private question.
    pub(super) fn offer_to_join(self: &Arc<Self>, thread: &Thread, seen: &Thread, user: &str, symptom: &str) {
        let named = targets(symptom);
        if named.is_empty() {
            return;
        }
        let (core, thread, user) = (Arc::clone(self), thread.clone(), user.to_owned());
        let seen = seen.clone();
        self.spawn(async move {
            let own = thread.session().to_string();
            let posted = match core.store.posted(MAX_COMPARED_SESSIONS).await {
                Ok(posted) => posted,
                Err(error) => {
                    return tracing::warn!("search for sessions about the same target failed: {error}");
                }
            };
            let same = posted.into_iter().filter_map(|(_, line)| {
                let line = serde_json::from_str::<PostedLine>(&line).ok()?;
                let about = line.summary.symptom.as_deref().map(targets).unwrap_or_default();
                let target = named.intersection(&about).next()?.clone();
                // What an agent elsewhere wants to do has no thread of its own that somebody could join.
                let over =
                    line.summary.state == "concluded" || line.summary.id == own || line.thread.is_none();
                (!over).then_some((line, target))
            });
            for (line, target) in same.take(ASKED_ABOUT) {
                if !core.may_see(&line, &thread.channel, &user).await {
                    continue;
                }
                let place = line.channel.as_deref().zip(line.thread.as_deref());
                let link = place.and_then(|(channel, ts)| core.link(channel, ts));
                let offer = Offer { target, other: line.summary.id.clone(), own: own.clone(), link };
                core.whisper(&seen, &user, &show::offer(&offer));
                return;
            }
        });
    }

    /// Tells whether somebody may hear of a session from a channel: it is theirs, or of that channel, or of a public one.
    async fn may_see(&self, line: &PostedLine, channel: &str, user: &str) -> bool {
        let Some(place) = line.channel.as_deref() else { return false };
        if line.requester == user || place == channel {
            return true;
        }
        let about = self.web.at(Priority::Other).conversation(place).await;
        about.is_ok_and(|about| !about.private && !about.shared)
    }

    /// Takes the answer to an offer: the other session's name, a blank, and the own one's.
    pub(super) async fn press_join(self: &Arc<Self>, press: &Press, value: &str) -> Result<(), StoreError> {
        let user = press.user.id.as_str();
        let person = self.directory.person_now(user).await;
        if let Err(why) = person.and_then(|person| may_take_part(&person)) {
            self.answer_offer(press, words(&why.to_string()));
            return Ok(());
        }
        if press.action.action_id == "own" {
            self.answer_offer(press, words("This session goes on by itself."));
            return Ok(());
        }
        let answer = self.join(press, user, value).await?;
        self.answer_offer(press, answer);
        Ok(())
    }

    async fn join(self: &Arc<Self>, press: &Press, user: &str, value: &str) -> Result<Message, StoreError> {
        let gone = || words("That session is over; this one goes on.");
        let Some((other, own)) = value.split_once(' ') else { return Ok(gone()) };
        let (Ok(other), Ok(own)) = (other.parse(), own.parse()) else { return Ok(gone()) };
        let Some(own) = self.state(&own).await? else {
            return Ok(words("This session has not begun yet. Press once more."));
        };
        let Some(other) = self.state(&other).await?.filter(is_joinable) else {
            return Ok(gone());
        };
        let (Some(here), Some(there)) = (Thread::of_state(&own), Thread::of_state(&other)) else {
            return Ok(gone());
        };
        // What a button says about itself counts for nothing: who may see and stop what is looked up.
        let line = PostedLine {
            summary: ghost_investigate::report::Summary::of(&other),
            channel: Some(there.channel.clone()),
            thread: Some(there.ts.clone()),
            requester: other.opened.requester.clone(),
            memory: ghost_investigate::memory::Memory::default(),
            usage: ghost_investigate::usage::Usage::default(),
        };
        let same = !targets(&own.opened.symptom).is_disjoint(&targets(&other.opened.symptom));
        if own.opened.requester != user || !same || !self.may_see(&line, &here.channel, user).await {
            return Ok(gone());
        }
        let key = |word: &str| format!("{word} {}", press.key);
        let (join, leave) = (key("join"), key("leave"));
        let joins = Said { thread: &there, key: &join, user, addressed: false };
        self.say(&joins, &own.opened.symptom, Instruction::Steer, None).await?;
        let leaves = Said { thread: &here, key: &leave, user, addressed: false };
        self.say(&leaves, "stop", Instruction::Stop, None).await?;
        let link = self.link(&there.channel, &there.ts);
        Ok(show::joined(line.summary.id.as_str(), link.as_deref()))
    }

    /// Puts words in the place of an offer, so that its buttons are gone.
    pub(super) fn answer_offer(self: &Arc<Self>, press: &Press, message: Message) {
        let Some(url) = press.response_url.clone() else { return };
        let blocks = sent(&message).blocks;
        let response = Response { text: message.text, blocks, replace: true, ..Response::default() };
        let web = self.web.at(Priority::Approval);
        self.spawn(async move {
            if let Err(error) = web.respond(&url, &response).await {
                tracing::warn!("offer update failed: {error}");
            }
        });
    }
}

/// Tells whether somebody can go on in a session: it is at work, and people speak with it.
fn is_joinable(state: &State) -> bool {
    state.concluded.is_none() && state.opened.outside.is_none()
}
