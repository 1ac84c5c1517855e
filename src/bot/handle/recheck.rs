//! "Fixed, check again": on a report's button, or in words.

use std::sync::Arc;

use crate::bot::Thread;
use crate::bot::core::{Core, words};
use ghost_investigate::event::{HumanMessage, Instruction};
use ghost_investigate::recheck::{Refused, possible};
use ghost_session::InboxMessage;
use ghost_slack::arrive::Press;
use ghost_store::{Item, StoreError};

impl Core {
    /// Takes the click on a report's button.
    pub(super) async fn press_recheck(
        self: &Arc<Self>,
        press: &Press,
        session: &str,
    ) -> Result<(), StoreError> {
        let (spot, user) = (Self::spot(press), press.user.id.as_str());
        if let Err(why) = self.participant(user).await {
            self.whisper(&spot, user, &words(&why.to_string()));
            return Ok(());
        }
        // A button of another thread says nothing here.
        if self.session_of(&spot).await?.as_str() != session {
            self.whisper(&spot, user, &words("This button belongs to another thread."));
            return Ok(());
        }
        self.recheck(&spot, &press.key, user).await
    }

    /// Has the findings of a thread's report checked again, or says why not.
    pub(super) async fn recheck(&self, thread: &Thread, key: &str, user: &str) -> Result<(), StoreError> {
        let session = self.session_of(thread).await?;
        let Some(state) = self.state(&session).await? else {
            if self.store.length(&session).await? == 0 {
                self.whisper(
                    thread,
                    user,
                    &words("I have only just begun here. Once the report is there, it can be checked again."),
                );
                return Ok(());
            }
            let gone = "What this session found was erased, so there is nothing to compare with. Mention me with what is wrong, and I look anew.";
            self.whisper(thread, user, &words(gone));
            return Ok(());
        };
        let waits = |item: &Item| match item {
            Item::Delivered(text) => matches!(serde_json::from_str(text), Ok(InboxMessage::Recheck(_))),
            Item::Closed(_) => false,
        };
        let waiting = self.store.inbox(&session).await?.iter().any(waits);
        let answer = match possible(&state) {
            Ok(()) if !waiting => {
                let text = "fixed, check again".to_owned();
                let said = HumanMessage { who: user.to_owned(), text, instruction: Instruction::Steer };
                self.write(&session, key, &InboxMessage::Recheck(said)).await?;
                "I look again at what was broken, and at nothing else. What I see comes here, before and now."
            }
            Ok(()) | Err(Refused::Running) => "It is being checked again already. What I see comes here.",
            Err(Refused::AtWork) => {
                "I am still at work here. Once the report is there, it can be checked again."
            }
            Err(Refused::NothingFound) => {
                "The report found no fault, so there is nothing that could be fixed. Mention me with what is wrong now, and I go on."
            }
        };
        self.whisper(thread, user, &words(answer));
        Ok(())
    }
}
