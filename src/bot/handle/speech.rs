//! What people say: a mention, words in a thread, a direct message, the stop button.

use std::sync::Arc;

use crate::bot::core::{Core, words};
use crate::bot::handle::open::Incident;
use crate::bot::present::posted;
use crate::bot::show::{self, Refusal, Waiting, phrase, refusal};
use crate::bot::{ChannelRules, Intent, Thread, may_take_part, meant, without_mention};
use ghost_investigate::complaint::{self, Request, Topic, request};
use ghost_investigate::event::{Alert, Delivered, HumanMessage, Instruction, Opened};
use ghost_investigate::playbook::answer_to_topic;
use ghost_investigate::report::{REMARK, Recorded, UNANSWERED, follow_up};
use ghost_investigate::state::State;
use ghost_session::InboxMessage;
use ghost_slack::arrive::{ConversationKind, IncomingMessage, Origin, Stopped};
use ghost_slack::pace::Priority;
use ghost_slack::socket::Answer;
use ghost_slack::web::{Posted, SessionState};
use ghost_store::{Delivered as StoreDelivered, StoreError};

/// So often Slack brings what was not acknowledged.
const RETRIES: u64 = 3;

/// The reaction that says that a message was seen.
const SEEN: &str = "eyes";

/// Of so many messages it is remembered that they were marked as seen; marking one twice does no harm.
const MAX_MARKED: usize = 10_000;

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
        let session = self.session_of(&thread).await?;
        if self.participant(&stopped.user).await.is_err() || !self.is_known(&session).await? {
            return Ok(Answer::Done);
        }
        let said = Said { thread: &thread, key: &origin.key, user: &stopped.user, addressed: false };
        self.end_by(&said, "stop", Instruction::Stop).await?;
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
                let who = format!("{}{name}", Alert::NOBODY);
                let incident = Incident { thread: &thread, key, who: &who, symptom: &symptom, rules, quotes };
                self.posted_alert(incident).await?;
            }
            return Ok(Answer::Done);
        }
        let user = said.user.clone().unwrap_or_default();
        if user == self.bot_user() {
            return Ok(Answer::Done);
        }
        // Below its own message nothing else can have begun.
        let session = if said.is_answer() { self.session_of(&thread).await? } else { thread.session() };
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
        if addressed {
            self.mark_seen(&said.channel, &said.ts);
        }
        let words_said = Said { thread: &thread, key: &origin.key, user: &user, addressed };
        match (meant(text), known) {
            (Intent::Help, _) => self.whisper(&thread, &user, &show::help()),
            (Intent::Nothing | Intent::Status, true) => self.tell_status(&thread, &user).await?,
            (Intent::Nothing, false) => self.whisper(&thread, &user, &show::help()),
            (Intent::Audit, true) => self.tell_audit(&thread, &user).await?,
            (Intent::Stop, true) => self.end_by(&words_said, text, Instruction::Stop).await?,
            (Intent::Report, true) => self.end_by(&words_said, text, Instruction::Report).await?,
            (Intent::Recheck, true) => self.recheck(&thread, &origin.key, &user).await?,
            (Intent::Decision, true) => self.typed_decision(&words_said).await?,
            (Intent::Assent(text), true) => match self.waits_in(&thread).await? {
                Some(_) => self.typed_decision(&words_said).await?,
                None => self.steer(&words_said, rules, &text, None).await?,
            },
            (Intent::Resume, true) => self.steer(&words_said, rules, "go on", None).await?,
            (Intent::Words(text), true) => {
                // The store may forget the session that it knows now.
                let (key, who, symptom) = (&origin.key, &user, &text);
                let incident = Incident { thread: &thread, key, who, symptom, rules, quotes: Vec::new() };
                let opens = addressed.then(|| Box::new(self.opened(incident, false, self.settings.limits)));
                self.steer(&words_said, rules, &text, opens).await?;
            }
            (
                Intent::Stop
                | Intent::Report
                | Intent::Status
                | Intent::Audit
                | Intent::Recheck
                | Intent::Resume
                | Intent::Decision
                | Intent::Assent(_),
                false,
            ) => self.whisper(&thread, &user, &words(phrase::NO_SESSION)),
            (Intent::Words(text), false) => {
                if let Some(what) = rules.outside(&text) {
                    let refused = refusal(&Refusal::OutOfScope { what }, &show::RenderContext::default());
                    self.whisper(&thread, &user, &refused);
                    return Ok(Answer::Done);
                }
                if text.len() > MAX_SYMPTOM_BYTES {
                    self.whisper(&thread, &user, &words(phrase::TOO_LONG));
                    return Ok(Answer::Done);
                }
                if let Some(answer) = small_talk(&text).or_else(|| self.off_topic(&text)) {
                    self.whisper(&thread, &user, &words(&answer));
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

    /// Answers words that name no network trouble, where the playbook investigates: a model may understand more than it.
    fn off_topic(&self, text: &str) -> Option<String> {
        let topic = complaint::read(text).topic;
        (self.investigator.provider == "playbook" && matches!(topic, Topic::Other | Topic::Knowledge))
            .then(|| answer_to_topic(topic))
    }

    /// Shows at once that a message was seen, whatever waits in line.
    fn mark_seen(&self, channel: &str, ts: &str) {
        let is_new = {
            let mut marked = self.marked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if marked.len() >= MAX_MARKED {
                marked.clear();
            }
            marked.insert((channel.to_owned(), ts.to_owned()))
        };
        if !is_new {
            return;
        }
        let web = self.web.at(Priority::Approval);
        let there = Posted { channel: channel.to_owned(), ts: ts.to_owned() };
        self.spawn(async move {
            if let Err(error) = web.react(&there, SEEN).await {
                tracing::debug!("reaction failed: {error}");
            }
        });
    }

    /// Takes words for a session: a question about its report is answered, everything else steers it.
    /// `opens` is the incident that they are if there is no session any more.
    async fn steer(
        &self,
        said: &Said<'_>,
        rules: &ChannelRules,
        text: &str,
        opens: Option<Box<Opened>>,
    ) -> Result<(), StoreError> {
        // Steering is a question, too. The commands that follow are judged by the session's own scope in any case.
        if let Some(what) = rules.outside(text) {
            let refused = refusal(&Refusal::OutOfScope { what }, &show::RenderContext::default());
            self.whisper(said.thread, said.user, &refused);
            return Ok(());
        }
        let state = self.state_of(said.thread).await?;
        let over = state.as_ref().is_some_and(|state| state.concluded.is_some());
        if let Some(state) = state.as_ref().filter(|_| over && said.addressed)
            && let Some(answer) = self.answer_behind(state, text)
        {
            self.whisper(said.thread, said.user, &answer);
            return Ok(());
        }
        // While it works, or waits for a decision, a question changes nothing about what it does.
        if let Some(state) = state.as_ref().filter(|_| !over && said.addressed)
            && let Some(answer) = self.recorded_answer(state, text)
        {
            self.whisper(said.thread, said.user, &answer);
            return Ok(());
        }
        let news = self.say(said, text, Instruction::Steer, opens).await?;
        // What Slack brings again was answered the first time.
        if news != StoreDelivered::New {
            return Ok(());
        }
        let waiting = state.as_ref().filter(|_| !over).and_then(|state| self.waits_for(state));
        let answer = match (waiting, over) {
            (Some(waiting), _) => show::noted(&waiting),
            (None, true) if said.addressed => words(phrase::GOES_ON),
            (None, false) if said.addressed => words(phrase::NOTED),
            // What people say to each other while it works is read, and needs no answer.
            (None, _) => return Ok(()),
        };
        self.whisper(said.thread, said.user, &answer);
        Ok(())
    }

    /// Answers words behind a report; nothing where they are an order to look. A question orders none, whatever it names.
    fn answer_behind(&self, state: &State, text: &str) -> Option<show::Message> {
        let wanted = request(text);
        if wanted == Request::Look {
            return None;
        }
        if let Some(answer) =
            self.recorded_answer(state, text).or_else(|| small_talk(text).as_deref().map(words))
        {
            return Some(answer);
        }
        match wanted {
            Request::Question => Some(show::look_offer(state.session.as_str(), UNANSWERED, text)),
            // A model may understand more of a remark than is seen here.
            Request::Remark if self.investigator.provider == "playbook" => {
                Some(show::look_offer(state.session.as_str(), REMARK, text))
            }
            Request::Remark | Request::Look => None,
        }
    }

    /// Answers a question from what is recorded; nothing where that says nothing about it.
    fn recorded_answer(&self, state: &State, text: &str) -> Option<show::Message> {
        let recorded =
            Recorded { state, tools: &self.tools, evidence: self.evidence.as_ref(), approvers: None };
        let answer = follow_up(&recorded, text)?;
        Some(match answer.look.filter(|_| state.concluded.is_some()) {
            Some(look) => show::look_offer(state.session.as_str(), &answer.text, &look),
            None => words(&answer.text),
        })
    }

    /// Says why a typed decision is none, and where the card is.
    async fn typed_decision(&self, said: &Said<'_>) -> Result<(), StoreError> {
        let answer = match self.waits_in(said.thread).await? {
            Some(waiting) => show::typing_is_no_consent(&waiting),
            None => words(phrase::NOTHING_WAITS),
        };
        self.whisper(said.thread, said.user, &answer);
        Ok(())
    }

    async fn waits_in(&self, thread: &Thread) -> Result<Option<Waiting>, StoreError> {
        let state = self.state_of(thread).await?;
        Ok(state.as_ref().and_then(|state| self.waits_for(state)))
    }

    /// Ends a session, and says what was running and what it leaves.
    pub(super) async fn end_by(
        &self,
        said: &Said<'_>,
        text: &str,
        instruction: Instruction,
    ) -> Result<(), StoreError> {
        let state = self.state_of(said.thread).await?;
        let news = self.say(said, text, instruction, None).await?;
        if news != StoreDelivered::New {
            return Ok(());
        }
        let answer = match state.as_ref() {
            Some(state) if state.concluded.is_some() => words(phrase::OVER_ALREADY),
            Some(state) => show::stopping(state, self.waits_for(state).as_ref()),
            None => words(phrase::STOPPING),
        };
        self.whisper(said.thread, said.user, &answer);
        Ok(())
    }

    /// Returns what a session waits for, where it waits for a person.
    fn waits_for(&self, state: &State) -> Option<Waiting> {
        let approval = state.open_approval()?;
        let name = approval.requested.approval.as_str();
        let card = state.place_of(&Delivered::card_of(name)).and_then(|card| posted(&card.place));
        let link = card.and_then(|card| self.link(&card.channel, &card.ts));
        Waiting::of(state, name, link)
    }

    /// Puts words into a session.
    pub(super) async fn say(
        &self,
        said: &Said<'_>,
        text: &str,
        instruction: Instruction,
        opens: Option<Box<Opened>>,
    ) -> Result<StoreDelivered, StoreError> {
        let words = HumanMessage { who: said.user.to_owned(), text: text.to_owned(), instruction };
        let message = if said.addressed { InboxMessage::Again(words) } else { InboxMessage::Said(words) };
        self.write_opening(&self.session_of(said.thread).await?, said.key, &message, opens).await
    }

    async fn tell_status(&self, thread: &Thread, user: &str) -> Result<(), StoreError> {
        let message = match self.state_of(thread).await? {
            Some(state) => show::status(&state, &show::RenderContext::default(), self.clock.now()),
            None => words("The session has not begun yet."),
        };
        self.whisper(thread, user, &message);
        Ok(())
    }

    pub(super) async fn tell_audit(&self, thread: &Thread, user: &str) -> Result<(), StoreError> {
        let message = match self.state_of(thread).await? {
            Some(state) => show::audit(&state),
            None => words("The session has not begun yet."),
        };
        self.whisper(thread, user, &message);
        Ok(())
    }
}

/// Words that somebody said, and where.
pub(super) struct Said<'a> {
    pub(super) thread: &'a Thread,
    /// Names the event.
    pub(super) key: &'a str,
    pub(super) user: &'a str,
    /// Whether they were meant for the bot.
    pub(super) addressed: bool,
}

/// Answers words that are no incident and need no look at anything.
fn small_talk(text: &str) -> Option<String> {
    let topic = complaint::read(text).topic;
    let is_talk = match topic {
        Topic::Greeting | Topic::Thanks | Topic::Empty => true,
        Topic::AboutBot => complaint::asks_about_bot(text),
        Topic::Incident | Topic::Unclear | Topic::Knowledge | Topic::Author | Topic::Other => false,
    };
    is_talk.then(|| answer_to_topic(topic))
}

/// Returns the thread that something belongs to.
pub(super) fn thread_of(origin: &Origin, channel: &str, root: &str) -> Thread {
    Thread { team: origin.team.clone().unwrap_or_default(), channel: channel.to_owned(), ts: root.to_owned() }
}
