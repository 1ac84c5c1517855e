//! What people say: a mention, words in a thread, a direct message, the stop button.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bot::complaint::ThreadComplaint;
use crate::bot::core::{Core, words};
use crate::bot::handle::edit::Role;
use crate::bot::handle::open::Incident;
use crate::bot::present::posted;
use crate::bot::show::{self, Refusal, Waiting, phrase, refusal};
use crate::bot::{ChannelRules, Intent, Thread, may_take_part, meant};
use ghost_investigate::complaint::{self, Request, Topic, outline, request};
use ghost_investigate::event::{Delivered, Gathered, HumanMessage, Instruction, Opened, PassagePlace};
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
    /// Takes a mention. Slack fires it again, under another name, when its message is edited.
    pub(super) async fn mentioned(
        self: &Arc<Self>,
        origin: &Origin,
        said: &IncomingMessage,
    ) -> Result<Answer, StoreError> {
        if said.edited.is_some() && self.was_said(said).await? {
            return self.reworded(origin, said).await;
        }
        let text = self.words_of(said);
        self.spoken(origin, said, &text, true).await
    }

    /// Takes any message. A mention comes a second time as such.
    pub(super) async fn on_message(
        self: &Arc<Self>,
        origin: &Origin,
        said: &IncomingMessage,
    ) -> Result<Answer, StoreError> {
        let direct = said.kind == ConversationKind::Im;
        if !said.is_speech() || (!direct && self.names_us(&said.everything())) {
            return Ok(Answer::Done);
        }
        if said.bot.is_some() {
            return self.posted(origin, said).await;
        }
        let text = self.words_of(said);
        self.spoken(origin, said, &text, direct).await
    }

    /// Takes what a program posted or changed: an alert, or nothing.
    pub(super) async fn posted(
        self: &Arc<Self>,
        origin: &Origin,
        said: &IncomingMessage,
    ) -> Result<Answer, StoreError> {
        let Some(rules) = self.settings.rules(&said.channel) else { return Ok(Answer::Done) };
        if said.is_answer() || said.user.as_deref() == Some(self.bot_user()) {
            return Ok(Answer::Done);
        }
        let post = self.read_post(said);
        if let Some(what) = rules.outside(&post.text) {
            tracing::info!("alert outside of the scope ignored: {what}");
            return Ok(Answer::Done);
        }
        let thread = thread_of(origin, &said.channel, said.root());
        self.posted_alert(&thread, rules, said, &post).await?;
        Ok(Answer::Done)
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

    pub(super) async fn spoken(
        self: &Arc<Self>,
        origin: &Origin,
        said: &IncomingMessage,
        text: &str,
        addressed: bool,
    ) -> Result<Answer, StoreError> {
        let thread = thread_of(origin, &said.channel, said.root());
        let Some(rules) = self.settings.rules(&said.channel) else { return Ok(Answer::Done) };
        let user = said.user.clone().unwrap_or_default();
        if user == self.bot_user() {
            return Ok(Answer::Done);
        }
        // Below its own message nothing else can have begun.
        let session = if said.is_answer() { self.session_of(&thread).await? } else { thread.session() };
        let known = self.is_known(&session).await?;
        // Behind a report in its own thread a question or an order is meant for the bot, if the team wants that.
        let addressed = addressed
            || known
                && self.settings.follow_ups
                && !text.trim_start().starts_with('@')
                && request(text) != Request::Remark;
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
                        self.whisper(&seen_at(&thread, said), &user, &words(&why.to_string()));
                    }
                    return Ok(Answer::Done);
                }
            }
        }
        if addressed {
            self.mark_seen(&said.channel, &said.ts);
        }
        let key = if said.edited.is_some() {
            format!("edit {} {}", said.ts, origin.key)
        } else {
            format!("said {}", said.ts)
        };
        // Only a person's own words are an order: what they forward, paste or attach is data.
        let mut intent = meant(text);
        if known && matches!(intent, Intent::Nothing | Intent::Words(_)) {
            let whole = self.whole_words(said, text);
            intent = if whole.trim().is_empty() { Intent::Nothing } else { Intent::Words(whole) };
        }
        let words_said = Said { thread: &thread, key: &key, user: &user, addressed };
        let role = match (intent, known) {
            (Intent::Help, _) => {
                self.whisper(&seen_at(&thread, said), &user, &show::help());
                Role::Answered
            }
            (Intent::Nothing | Intent::Status, true) => {
                self.tell_status(&thread, &user).await?;
                Role::Answered
            }
            (Intent::Audit, true) => {
                self.tell_audit(&thread, &user).await?;
                Role::Answered
            }
            (Intent::Stop, true) => {
                self.end_by(&words_said, text, Instruction::Stop).await?;
                Role::Answered
            }
            (Intent::Report, true) => {
                self.end_by(&words_said, text, Instruction::Report).await?;
                Role::Answered
            }
            (Intent::Recheck, true) => {
                self.recheck(&thread, &key, &user).await?;
                Role::Answered
            }
            (Intent::Decision, true) => {
                self.typed_decision(&words_said).await?;
                Role::Answered
            }
            (Intent::Assent(text), true) => match self.waits_in(&thread).await? {
                Some(_) => {
                    self.typed_decision(&words_said).await?;
                    Role::Answered
                }
                None => self.steer(&words_said, rules, &text, None).await?,
            },
            (Intent::Resume, true) => self.steer(&words_said, rules, "go on", None).await?,
            (Intent::Words(text), true) => {
                // The store may forget the session that it knows now.
                let (who, symptom) = (&user, &text);
                let (gathered, quotes) = (Gathered::default(), Vec::new());
                let incident = Incident { thread: &thread, key: &key, who, symptom, rules, gathered, quotes };
                let opens = addressed.then(|| Box::new(self.opened(incident, false, self.settings.limits)));
                let role = self.steer(&words_said, rules, &text, opens).await?;
                self.say_of_programs(&thread, &key, said).await?;
                role
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
            ) => {
                self.whisper(&seen_at(&thread, said), &user, &words(phrase::NO_SESSION));
                Role::Answered
            }
            (Intent::Nothing | Intent::Words(_), false) => {
                self.begin_from(&words_said, said, rules, text).await?
            }
        };
        self.keep_said(said, role).await?;
        Ok(Answer::Done)
    }

    /// Begins an investigation of what a mention and its thread say, or says why there is none.
    async fn begin_from(
        self: &Arc<Self>,
        by: &Said<'_>,
        said: &IncomingMessage,
        rules: &ChannelRules,
        text: &str,
    ) -> Result<Role, StoreError> {
        let spot = seen_at(by.thread, said);
        let is_alone = !said.is_answer()
            && said.attachments.is_empty()
            && said.files.is_empty()
            && !said.everything().contains("/archives/");
        if text.is_empty() && is_alone && self.settings.channel_context == 0 {
            self.whisper(&spot, by.user, &show::help());
            return Ok(Role::Answered);
        }
        if text.len() > MAX_SYMPTOM_BYTES {
            self.whisper(&spot, by.user, &words(phrase::TOO_LONG));
            return Ok(Role::Answered);
        }
        // "Can you help?" below a complaint asks about the complaint.
        let is_about_thread = text.is_empty()
            || !is_alone
                && outline(text).is_bare
                && !matches!(complaint::read(text).topic, Topic::Greeting | Topic::Thanks);
        if let Some(answer) = small_talk(text).filter(|_| !is_about_thread) {
            self.whisper(&spot, by.user, &words(&answer));
            return Ok(Role::Answered);
        }
        let (complaint, root) = self.complaint(by.thread, said).await;
        if let Some(what) = rules.outside(&complaint.symptom) {
            let refused = refusal(&Refusal::OutOfScope { what }, &show::RenderContext::default());
            self.whisper(&spot, by.user, &refused);
            return Ok(Role::Answered);
        }
        let is_bare = complaint.outline.is_bare;
        if !is_bare && let Some(answer) = self.off_topic(&complaint.symptom) {
            self.whisper(&spot, by.user, &words(&answer));
            return Ok(Role::Answered);
        }
        // A model may understand more than is seen here, unless there is nothing to understand.
        if is_bare || !complaint.is_complaint() && self.investigator.provider == "playbook" {
            let known = known_names(&complaint, rules);
            self.tell(by.thread, by.user, &show::ask_what(&known, &complaint.gathered.unread));
            return Ok(Role::Answered);
        }
        let ThreadComplaint { symptom, gathered, quotes, .. } = complaint;
        let (thread, key, who, symptom) = (by.thread, by.key, by.user, &symptom);
        self.follow_alert_above(thread, root.as_ref()).await?;
        self.open_for(&spot, Incident { thread, key, who, symptom, rules, gathered, quotes }).await?;
        Ok(Role::Opened)
    }

    /// Returns all words of people in a message for a session that runs: what was forwarded, pasted or shown of a file belongs to it.
    fn whole_words(&self, said: &IncomingMessage, text: &str) -> String {
        if said.attachments.is_empty() && said.files.is_empty() {
            return text.to_owned();
        }
        let more = self.read_message(said, PassagePlace::Mention, &BTreeMap::new());
        let of_people = more.texts.iter().filter(|part| !part.is_preview && !part.passage.by_program);
        of_people.map(|part| part.passage.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Puts what a person forwarded of programs into a session, in the name of the program.
    async fn say_of_programs(
        &self,
        thread: &Thread,
        key: &str,
        said: &IncomingMessage,
    ) -> Result<(), StoreError> {
        if said.attachments.is_empty() {
            return Ok(());
        }
        let more = self.read_message(said, PassagePlace::Mention, &BTreeMap::new());
        let of_programs = more.texts.iter().filter(|part| !part.is_preview && part.passage.by_program);
        for (at, part) in of_programs.enumerate() {
            let (who, text) = (part.passage.who.clone(), part.passage.text.clone());
            let words = HumanMessage { who, text, instruction: Instruction::Steer };
            let session = self.session_of(thread).await?;
            self.write(&session, &format!("{key} program {at}"), &InboxMessage::Said(words)).await?;
        }
        Ok(())
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
    ) -> Result<Role, StoreError> {
        // Steering is a question, too. The commands that follow are judged by the session's own scope in any case.
        if let Some(what) = rules.outside(text) {
            let refused = refusal(&Refusal::OutOfScope { what }, &show::RenderContext::default());
            self.whisper(said.thread, said.user, &refused);
            return Ok(Role::Answered);
        }
        let state = self.state_of(said.thread).await?;
        if self.corrects(said, state.as_ref(), text).await? {
            return Ok(Role::Answered);
        }
        let over = state.as_ref().is_some_and(|state| state.concluded.is_some());
        if let Some(state) = state.as_ref().filter(|_| over && said.addressed)
            && let Some(answer) = self.answer_behind(state, text)
        {
            self.tell(said.thread, said.user, &answer);
            return Ok(Role::Answered);
        }
        // While it works, or waits for a decision, a question changes nothing about what it does.
        if let Some(state) = state.as_ref().filter(|_| !over && said.addressed)
            && let Some(answer) = self.recorded_answer(state, text)
        {
            self.tell(said.thread, said.user, &answer);
            return Ok(Role::Answered);
        }
        let news = self.say(said, text, Instruction::Steer, opens).await?;
        // What Slack brings again was answered the first time.
        if news != StoreDelivered::New {
            return Ok(Role::Steered);
        }
        let waiting = state.as_ref().filter(|_| !over).and_then(|state| self.waits_for(state));
        match (waiting, over) {
            (Some(waiting), _) => self.whisper(said.thread, said.user, &show::noted(&waiting)),
            // That work goes on concerns everybody who reads the thread.
            (None, true) if said.addressed => self.tell(said.thread, said.user, &words(phrase::GOES_ON)),
            (None, false) if said.addressed => self.whisper(said.thread, said.user, &words(phrase::NOTED)),
            // What people say to each other while it works is read, and needs no answer.
            (None, _) => {}
        }
        Ok(Role::Steered)
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
        self.tell(said.thread, said.user, &answer);
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

/// Returns where a private answer is seen: in the thread that a message stands in, and in the channel if it stands in none. Slack
/// shows a private message below a message without answers to nobody.
pub(super) fn seen_at(thread: &Thread, said: &IncomingMessage) -> Thread {
    let is_direct = said.channel.starts_with('D');
    let ts = if said.thread_ts.is_some() || is_direct { thread.ts.clone() } else { String::new() };
    Thread { ts, ..thread.clone() }
}

/// Returns names that a thread or the configuration knows, for the buttons of a question.
fn known_names(complaint: &ThreadComplaint, rules: &ChannelRules) -> Vec<String> {
    let mut known: Vec<String> = complaint.outline.ends.clone();
    for quote in complaint.quotes.iter().rev() {
        known.extend(outline(&quote.text).ends);
    }
    known.extend(rules.hosts.iter().map(|host| host.name.clone()));
    known.extend(rules.clusters.iter().map(|cluster| cluster.name.clone()));
    let mut once: Vec<String> = Vec::new();
    for name in known {
        if !once.contains(&name) && rules.outside(&name).is_none() {
            once.push(name);
        }
    }
    once
}

/// Returns the thread that something belongs to.
pub(super) fn thread_of(origin: &Origin, channel: &str, root: &str) -> Thread {
    Thread { team: origin.team.clone().unwrap_or_default(), channel: channel.to_owned(), ts: root.to_owned() }
}
