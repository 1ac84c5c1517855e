//! The button below a report that brings the post-mortem into the thread, as a file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::bot::Thread;
use crate::bot::core::{Core, words};
use crate::bot::present::{names_in, takes_no_files};
use ghost_base::{Digest, SessionId};
use ghost_investigate::event::{Recorded, read};
use ghost_investigate::report::postmortem::{Postmortem, postmortem};
use ghost_investigate::state::State;
use ghost_slack::arrive::Press;
use ghost_slack::pace::Priority;
use ghost_slack::web::{Address, CallError, Upload};
use ghost_store::{Claimed, StoreError};

/// What stands above the file.
const COMMENT: &str = "The post-mortem of this session, as it stands now:";

/// How long somebody may take to bring a file before somebody else may.
const MAX_UPLOAD_TIME: Duration = Duration::from_secs(60);

/// What stands in the store while somebody brings a file.
const HELD: &str = "uploading";

/// How far back a thread is read.
const FAR: usize = 1_000;

/// What became of a click.
enum Brought {
    Now,
    /// It is there, and nothing happened since.
    Before,
    ByAnother,
}

impl Core {
    /// Takes the click: whoever sees the thread may have the file in it.
    pub(super) async fn press_postmortem(
        self: &Arc<Self>,
        press: &Press,
        session: &str,
    ) -> Result<(), StoreError> {
        let (spot, user) = (Self::spot(press), press.user.id.clone());
        if let Err(why) = self.participant(&user).await {
            self.whisper(&spot, &user, &words(&why.to_string()));
            return Ok(());
        }
        let Ok(session) = session.parse::<SessionId>() else { return Ok(()) };
        let lines = self.store.read(&session, 0).await?;
        let recorded = read(&session, lines.iter().map(String::as_str)).unwrap_or_default();
        let Ok(state) = State::fold(&session, &recorded) else {
            self.whisper(
                &spot,
                &user,
                &words("What this session found was erased, so there is nothing to write."),
            );
            return Ok(());
        };
        // Where the thread took nothing any more, the answer stands in a direct conversation.
        let here = Thread::of_state(&state).is_some_and(|thread| thread.channel == spot.channel);
        let is_theirs = spot.channel.starts_with('D') && state.opened.requester == user;
        if !here && !is_theirs {
            self.whisper(&spot, &user, &words("This button belongs to another thread."));
            return Ok(());
        }
        let core = Arc::clone(self);
        self.spawn(async move {
            let answer = match core.bring(&spot, &state, &recorded).await {
                Ok(Brought::Now) => return,
                Ok(Brought::Before) => {
                    "The post-mortem is in this thread already, and nothing happened since.".to_owned()
                }
                Ok(Brought::ByAnother) => {
                    "Somebody pressed this a moment ago: the post-mortem is being uploaded.".to_owned()
                }
                Err(error) if takes_no_files(&error) => {
                    format!(
                        "The post-mortem could not be uploaded: Slack says {}.",
                        error.code().unwrap_or_default()
                    )
                }
                Err(error) => {
                    tracing::warn!(session.id = %state.session, "post-mortem not uploaded: {error}");
                    "The post-mortem could not be uploaded just now. Press once more.".to_owned()
                }
            };
            core.whisper(&spot, &user, &words(&answer));
        });
        Ok(())
    }

    /// Brings the file, unless it is there or somebody else, on whichever replica, is bringing it. Where the store cannot say
    /// so, nobody is.
    async fn bring(&self, spot: &Thread, state: &State, recorded: &[Recorded]) -> Result<Brought, CallError> {
        let names: BTreeMap<String, String> = names_in(&self.web, state).await.into_iter().collect();
        let Ok(document) = postmortem(&state.session, recorded, &names) else { return Ok(Brought::Before) };
        let name = file_name(&document);
        let claim = format!("{name} of {}", state.session);
        let is_first =
            !matches!(self.store.claim(&claim, None, HELD, MAX_UPLOAD_TIME).await, Ok(Claimed::Held(_)));
        let brought = async {
            if self.has_file(spot, &name).await? {
                return Ok(Brought::Before);
            }
            if !is_first {
                return Ok(Brought::ByAnother);
            }
            let file = Upload {
                name,
                title: "Post-mortem".to_owned(),
                alt: Some(format!("Post-mortem: {}", document.title)),
                bytes: document.markdown().into_bytes(),
            };
            let to = match spot.ts.as_str() {
                "" => Address::channel(&spot.channel),
                ts => Address::thread(&spot.channel, ts),
            };
            self.web.at(Priority::Report).upload(&to, &[file], COMMENT).await?;
            Ok(Brought::Now)
        };
        let brought = brought.await;
        if is_first && brought.is_err() {
            // Whoever presses next tries again.
            drop(self.store.claim(&claim, Some(HELD), "", Duration::from_millis(1)).await);
        }
        brought
    }

    async fn has_file(&self, spot: &Thread, name: &str) -> Result<bool, CallError> {
        if spot.ts.is_empty() {
            return Ok(false);
        }
        let (said, _) = self.web.at(Priority::Report).thread(&spot.channel, &spot.ts, FAR).await?;
        Ok(said.iter().any(|message| message.files.iter().any(|file| file.name == name)))
    }
}

/// Names the file by what it says: a line of the ledger that changes nothing but its head, such as where the report was delivered, makes
/// no second file.
fn file_name(document: &Postmortem) -> String {
    let said = Postmortem { head: String::new(), ..document.clone() };
    let digest = Digest::of(said.markdown()).to_string();
    format!("postmortem-{}.md", digest.get(..12).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_what_it_says() {
        let text = include_str!("../../../tests/fixtures/agent/postmortem-alert.json");
        let document: Postmortem = serde_json::from_str(text).unwrap();
        let name = file_name(&document);
        assert_eq!(name.len(), "postmortem-0123456789ab.md".len(), "{name}");
        // What is recorded once the report is in the thread changes the head alone.
        assert_eq!(file_name(&Postmortem { head: "f".repeat(64), ..document.clone() }), name);
        let summary = Postmortem { summary: "Nothing is wrong.".to_owned(), ..document };
        assert_ne!(file_name(&summary), name);
    }
}
