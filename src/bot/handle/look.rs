//! "Look into it": somebody wants the look that a question behind a report did not begin.
//!
//! Goes in: a press of the button below an answer. Comes out: the question as an order to the session. Never: work for somebody who may
//! take no part, or in another thread.

use std::sync::Arc;

use crate::bot::Thread;
use crate::bot::core::{Core, words};
use crate::bot::handle::open::Incident;
use crate::bot::handle::speech::Said;
use crate::bot::show::phrase;
use ghost_investigate::event::{Gathered, Instruction};
use ghost_slack::arrive::Press;
use ghost_store::StoreError;

impl Core {
    /// Takes the press below the question what to look at: the name of a machine. It is asked about in the words of a complaint.
    pub(super) async fn press_about(self: &Arc<Self>, press: &Press, name: &str) -> Result<(), StoreError> {
        let (spot, user) = (Self::spot(press), press.user.id.as_str());
        if let Err(why) = self.participant(user).await {
            self.whisper(&spot, user, &words(&why.to_string()));
            return Ok(());
        }
        let Some(rules) = self.settings.rules(&spot.channel) else { return Ok(()) };
        let symptom = format!("connections to and from {name} fail");
        if rules.outside(&symptom).is_some() {
            return Ok(());
        }
        // A second press of the same question is the same order.
        let key = format!("about {}", press.message_ts.as_deref().unwrap_or(&press.key));
        let (thread, who, symptom) = (&spot, user, symptom.as_str());
        let (gathered, quotes) = (Gathered::default(), Vec::new());
        self.open_for(&spot, Incident { thread, key: &key, who, symptom, rules, gathered, quotes }).await?;
        self.answer_offer(press, words(&format!("On it. I look at {name}.")));
        Ok(())
    }

    /// Takes the press: the session's name, a blank, and the question.
    pub(super) async fn press_look_into(
        self: &Arc<Self>,
        press: &Press,
        value: &str,
    ) -> Result<(), StoreError> {
        let (spot, user) = (Self::spot(press), press.user.id.as_str());
        if let Err(why) = self.participant(user).await {
            self.answer_offer(press, words(&why.to_string()));
            return Ok(());
        }
        let Some((session, question)) = value.split_once(' ') else { return Ok(()) };
        let Ok(session) = session.parse() else { return Ok(()) };
        // A private message may not say in which thread it stands; the session does.
        let state = self.state(&session).await?;
        let thread = state.as_ref().and_then(Thread::of_state);
        let Some(thread) = thread.filter(|thread| thread.channel == spot.channel) else {
            self.answer_offer(press, words("This button belongs to another thread."));
            return Ok(());
        };
        // A second press of the same button is the same order.
        let key = format!("look {}", press.message_ts.as_deref().unwrap_or(&press.key));
        let said = Said { thread: &thread, key: &key, user, addressed: true };
        self.say(&said, question, Instruction::Steer, None).await?;
        self.answer_offer(press, words(phrase::GOES_ON));
        Ok(())
    }
}
