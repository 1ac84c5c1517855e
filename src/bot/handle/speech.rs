//! What people say: a mention, words in a thread, a direct message, the stop button.

use std::sync::Arc;

use crate::bot::core::{Core, words};
use crate::bot::handle::open::Incident;
use crate::bot::show::{self, Refusal, refusal};
use crate::bot::{Intent, Thread, may_take_part, meant, without_mention};
use crate::session::InboxMessage;
use ghost_investigate::event::{HumanMessage, Instruction};
use ghost_slack::arrive::{ConversationKind, IncomingMessage, Origin, Stopped};
use ghost_slack::pace::Priority;
use ghost_slack::socket::Answer;
use ghost_slack::web::SessionState;
use ghost_store::StoreError;

/// So often Slack brings what was not acknowledged.
const RETRIES: u64 = 3;

/// Whoever says more has a report, no symptom.
const MAX_SYMPTOM_BYTES: usize = 20_000;

impl Core {
    /// Takes a mention.
    pub(super) async fn mentioned(
        self: &Arc<Self>,
        origin: &Origin,
        said: &IncomingMessage,
    ) -> Result<Answer, StoreError> {
        let text = without_mention(&said.text, self.bot_user());
        self.spoken(origin, said, &text, true).await
    }

    /// Takes any message. A mention comes a second time as such.
    pub(super) async fn on_message(
        self: &Arc<Self>,
        origin: &Origin,
        said: &IncomingMessage,
    ) -> Result<Answer, StoreError> {
        let direct = said.kind == ConversationKind::Im;
        if !said.is_speech() || (!direct && self.names_us(&said.text)) {
            return Ok(Answer::Done);
        }
        let text = without_mention(&said.text, self.bot_user());
        self.spoken(origin, said, &text, direct).await
    }

    /// Takes the stop button of a session.
    pub(super) async fn stopped(
        self: &Arc<Self>,
        origin: &Origin,
        stopped: &Stopped,
    ) -> Result<Answer, StoreError> {
        let thread = thread_of(origin, &stopped.channel, &stopped.thread_ts);
        if self.participant(&stopped.user).await.is_err() || !self.is_known(&thread.session()).await? {
            return Ok(Answer::Done);
        }
        self.say(&thread, &origin.key, &stopped.user, "stop", Instruction::Stop, false).await?;
        // Slack wants to hear that the button did something, also where nothing worked any more.
        let web = self.web.at(Priority::Board);
        self.spawn(async move {
            if let Err(error) = web.session_status(&thread.channel, &thread.ts, SessionState::Active).await {
                tracing::warn!("stop button update failed: {error}");
            }
        });
        Ok(Answer::Done)
    }

    fn bot_user(&self) -> &str {
        &self.directory.identity().user
    }

    fn names_us(&self, text: &str) -> bool {
        let user = self.bot_user();
        !user.is_empty() && (text.contains(&format!("<@{user}>")) || text.contains(&format!("<@{user}|")))
    }

    async fn spoken(
        self: &Arc<Self>,
        origin: &Origin,
        said: &IncomingMessage,
        text: &str,
        addressed: bool,
    ) -> Result<Answer, StoreError> {
        let thread = thread_of(origin, &said.channel, said.root());
        let session = thread.session();
        let Some(rules) = self.settings.rules(&said.channel) else { return Ok(Answer::Done) };
        if let Some(bot) = &said.bot {
            if self.settings.is_alert(bot.bot.as_deref(), bot.app.as_deref()) && !said.is_answer() {
                let name = bot.name.clone().or(bot.bot.clone()).unwrap_or_default();
                let symptom = crate::bot::words::plain(&said.everything());
                if let Some(what) = rules.outside(&symptom) {
                    tracing::info!("alert outside of the scope ignored: {what}");
                    return Ok(Answer::Done);
                }
                let (key, quotes) = (&origin.key, Vec::new());
                let incident =
                    Incident { thread: &thread, key, who: &name, symptom: &symptom, rules, quotes };
                self.open(incident, true).await?;
            }
            return Ok(Answer::Done);
        }
        let user = said.user.clone().unwrap_or_default();
        if user == self.bot_user() {
            return Ok(Answer::Done);
        }
        let known = self.is_known(&session).await?;
        // What people say to each other is not ours to hear.
        if !addressed && !known {
            return Ok(Answer::Done);
        }
        match self.directory.person(&user).await {
            // Slack brings it again, and may know by then who they are.
            Err(why) if origin.retry < RETRIES => {
                tracing::warn!("author lookup failed, slack will retry: {why}");
                return Ok(Answer::Refuse);
            }
            found => {
                if let Err(why) = found.and_then(|person| may_take_part(&person)) {
                    if addressed {
                        self.whisper(&thread, &user, &words(&why.to_string()));
                    }
                    return Ok(Answer::Done);
                }
            }
        }
        match meant(text) {
            Intent::Help => self.whisper(&thread, &user, &show::help()),
            Intent::Nothing | Intent::Status if known => self.tell_status(&thread, &user).await?,
            Intent::Nothing => self.whisper(&thread, &user, &show::help()),
            Intent::Audit if known => self.tell_audit(&thread, &user).await?,
            Intent::Stop if known => {
                self.say(&thread, &origin.key, &user, text, Instruction::Stop, addressed).await?
            }
            Intent::Report if known => {
                self.say(&thread, &origin.key, &user, text, Instruction::Report, addressed).await?
            }
            Intent::Recheck if known => self.recheck(&thread, &origin.key, &user).await?,
            Intent::Stop | Intent::Report | Intent::Status | Intent::Audit | Intent::Recheck => {
                self.whisper(
                    &thread,
                    &user,
                    &words("There is no session in this thread. Mention me with what is wrong."),
                );
            }
            Intent::Words(text) if known => {
                // Steering is a question, too. The commands that follow are judged by the session's own scope in any case.
                if let Some(what) = rules.outside(&text) {
                    let refused = refusal(&Refusal::OutOfScope { what }, &show::RenderContext::default());
                    self.whisper(&thread, &user, &refused);
                    return Ok(Answer::Done);
                }
                self.say(&thread, &origin.key, &user, &text, Instruction::Steer, addressed).await?
            }
            Intent::Words(text) => {
                if let Some(what) = rules.outside(&text) {
                    let refused = refusal(&Refusal::OutOfScope { what }, &show::RenderContext::default());
                    self.whisper(&thread, &user, &refused);
                    return Ok(Answer::Done);
                }
                if text.len() > MAX_SYMPTOM_BYTES {
                    self.whisper(
                        &thread,
                        &user,
                        &words("That is too long. Say what is wrong in a few sentences."),
                    );
                    return Ok(Answer::Done);
                }
                let quotes =
                    if said.is_answer() { self.quotes(&thread, Some(&said.ts)).await } else { Vec::new() };
                let (key, who, symptom) = (&origin.key, &user, &text);
                self.open_for(Incident { thread: &thread, key, who, symptom, rules, quotes }).await?;
            }
        }
        Ok(Answer::Done)
    }

    /// Puts words into a session.
    pub(super) async fn say(
        &self,
        thread: &Thread,
        key: &str,
        who: &str,
        text: &str,
        instruction: Instruction,
        addressed: bool,
    ) -> Result<(), StoreError> {
        let said = HumanMessage { who: who.to_owned(), text: text.to_owned(), instruction };
        let message = if addressed { InboxMessage::Again(said) } else { InboxMessage::Said(said) };
        self.write(&thread.session(), key, &message).await.map(drop)
    }

    async fn tell_status(&self, thread: &Thread, user: &str) -> Result<(), StoreError> {
        let message = match self.state(&thread.session()).await? {
            Some(state) => show::status(&state, &show::RenderContext::default(), self.clock.now()),
            None => words("The session has not begun yet."),
        };
        self.whisper(thread, user, &message);
        Ok(())
    }

    pub(super) async fn tell_audit(&self, thread: &Thread, user: &str) -> Result<(), StoreError> {
        let message = match self.state(&thread.session()).await? {
            Some(state) => show::audit(&state),
            None => words("The session has not begun yet."),
        };
        self.whisper(thread, user, &message);
        Ok(())
    }
}

/// Returns the thread that something belongs to.
pub(super) fn thread_of(origin: &Origin, channel: &str, root: &str) -> Thread {
    Thread { team: origin.team.clone().unwrap_or_default(), channel: channel.to_owned(), ts: root.to_owned() }
}
