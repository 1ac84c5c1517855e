//! What every handler holds.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OnceCell};
use tokio::task::JoinSet;

use crate::bot::directory::Directory;
pub(super) use crate::bot::present::converted as sent;
use crate::bot::show::{self, Refusal, RenderContext};
use crate::bot::{AccessError, Freeze, Leftovers, Person, Settings, Thread, may_take_part};
use crate::http::Measures;
use ghost_base::{Clock, SessionId};
use ghost_investigate::check_destinations;
use ghost_investigate::event::{Opened, read};
use ghost_investigate::model::Investigator;
use ghost_investigate::state::State;
use ghost_investigate::tool::{Evidence, Registry};
use ghost_session::{InboxMessage, OpenShell, preview};
use ghost_shell::{Policy, Ruling};
use ghost_slack::pace::Priority;
use ghost_slack::web::{Address, CallError, Plan, Web};
use ghost_store::{Delivered, Store, StoreError};

/// Puts on record what somebody did to the bot as a whole: who, what, why.
pub type Control = dyn Fn(&str, &str, &str) + Send + Sync;

/// The bot, as its handlers see it.
pub struct Core {
    parts: CoreServices,
    /// Notified when a freeze begins or ends, so that it is shown at once.
    pub(super) turned: Notify,
    measures: OnceLock<Measures>,
    tasks: Mutex<JoinSet<()>>,
    /// Modals that are judged while somebody types, so that an older verdict does not follow a newer one.
    pub(super) typing: Mutex<HashMap<String, u64>>,
    /// Messages that show that they were seen, by channel and name.
    pub(super) marked: Mutex<HashSet<(String, String)>>,
    reads_files: OnceCell<bool>,
}

/// How long the question may take which scopes the token has.
const SCOPE_WAIT: Duration = Duration::from_millis(700);

impl Deref for Core {
    type Target = CoreServices;

    fn deref(&self) -> &CoreServices {
        &self.parts
    }
}

/// Checks whether everything works as it is configured: a line for each part.
pub type Checks = dyn Fn() -> Pin<Box<dyn Future<Output = Vec<String>> + Send>> + Send + Sync;

/// What a core is made of.
pub struct CoreServices {
    /// How it behaves.
    pub settings: Settings,
    /// Where sessions live.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The Web API.
    pub web: Web,
    pub directory: Directory,
    /// By which commands are judged.
    pub policy: Arc<Policy>,
    /// How the gates of sessions are made.
    pub open_shell: Arc<OpenShell>,
    /// Where whole texts are found.
    pub evidence: Arc<dyn Evidence>,
    /// With which questions behind a report are judged on what was read.
    pub tools: Arc<Registry>,
    /// What decides in new sessions.
    pub investigator: Investigator,
    /// Draws what nobody can guess.
    pub nonce: Arc<dyn Fn() -> String + Send + Sync>,
    /// What an operator should know, for the Home tab.
    pub warnings: Vec<String>,
    /// Checks the configuration, for `/ghost status`.
    pub checks: Arc<Checks>,
    /// What knows which captures are left over.
    pub leftovers: Arc<dyn Leftovers>,
    /// Puts on record who held everything back, and why.
    pub trail: Arc<Control>,
}

impl Core {
    /// Puts a core together.
    #[must_use]
    pub fn new(parts: CoreServices) -> Self {
        Self {
            parts,
            turned: Notify::new(),
            measures: OnceLock::new(),
            tasks: Mutex::default(),
            typing: Mutex::default(),
            marked: Mutex::default(),
            reads_files: OnceCell::new(),
        }
    }

    /// Says where it is counted what handlers refuse. The first one stays.
    pub(super) fn count_with(&self, measures: Measures) {
        drop(self.measures.set(measures));
    }

    /// Counts a refusal, where it is about who may decide.
    pub(super) fn count_refusal(&self, refused: &Refusal) {
        if let (Refusal::NotYours { .. } | Refusal::Outsider, Some(measures)) = (refused, self.measures.get())
        {
            measures.click_refused();
        }
    }

    /// Judges a command as the gate would in a session: by what people said and the cloud listed in it, and by what lies on this
    /// machine. Where no gate can be made, by what the record says.
    pub(super) fn judge(&self, state: &State, command: &str) -> Ruling {
        let command = command.trim_matches([' ', '\t', '\n', '\r']);
        let (open_shell, evidence) = (self.open_shell.as_ref(), self.evidence.as_ref());
        preview(state, command, open_shell, &self.policy, evidence).unwrap_or_else(|why| {
            tracing::warn!("command judged without this machine's files: {why}");
            let ruling = self.policy.classify_within(command, state.opened.scope.as_ref());
            check_destinations(state, &self.policy, evidence, ruling)
        })
    }

    /// Does something that nobody waits for.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    /// Waits for everything that was begun.
    pub async fn finish(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while tasks.join_next().await.is_some() {}
    }

    /// Reads a session; nothing where there is none, or where it cannot be understood.
    pub(super) async fn state(&self, session: &SessionId) -> Result<Option<State>, StoreError> {
        Ok(self.readable(session).await?.unwrap_or_default())
    }

    /// Reads a session, or says why what is recorded of it cannot be read.
    pub(super) async fn readable(
        &self,
        session: &SessionId,
    ) -> Result<Result<Option<State>, String>, StoreError> {
        let lines = self.store.read(session, 0).await?;
        if lines.is_empty() {
            return Ok(Ok(None));
        }
        Ok(match read(session, lines.iter().map(String::as_str)) {
            Ok(recorded) => State::fold(session, &recorded).map(Some).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Returns the session of a thread: the one that Ghost began it for, else the one that its name stands for.
    pub(super) async fn session_of(&self, thread: &Thread) -> Result<SessionId, StoreError> {
        let claimed = self.store.claimed(&thread.claim()).await?;
        Ok(claimed.and_then(|session| session.parse().ok()).unwrap_or_else(|| thread.session()))
    }

    /// Reads the session of a thread.
    pub(super) async fn state_of(&self, thread: &Thread) -> Result<Option<State>, StoreError> {
        self.state(&self.session_of(thread).await?).await
    }

    /// Tells whether a session exists.
    pub(super) async fn is_known(&self, session: &SessionId) -> Result<bool, StoreError> {
        let (length, inbox) = tokio::join!(self.store.length(session), self.store.inbox(session));
        Ok(length? > 0 || !inbox?.is_empty())
    }

    /// Puts a message into a session's inbox, once.
    pub(super) async fn write(
        &self,
        session: &SessionId,
        key: &str,
        message: &InboxMessage,
    ) -> Result<Delivered, StoreError> {
        self.write_opening(session, key, message, None).await
    }

    /// Puts a message into a session's inbox, once, with the incident that it opens if the ledger has no session.
    pub(super) async fn write_opening(
        &self,
        session: &SessionId,
        key: &str,
        message: &InboxMessage,
        opens: Option<Box<Opened>>,
    ) -> Result<Delivered, StoreError> {
        let text = message.opening(self.clock.now(), opens).map_err(|error| StoreError::Corrupt {
            what: format!("inbox message not serializable: {error}"),
        })?;
        self.store.deliver(session, key, &text).await
    }

    /// Says who somebody is, and whether they may speak with the bot at all.
    pub(super) async fn participant(&self, user: &str) -> Result<Person, AccessError> {
        let person = self.directory.person(user).await?;
        may_take_part(&person).map(|()| person)
    }

    /// Returns what surrounds messages to one person.
    pub(super) fn context(&self, freeze: Option<&Freeze>, at: ghost_base::Timestamp) -> RenderContext {
        let frozen = freeze.map(|freeze| show::Frozen {
            by: freeze.who.clone(),
            at: freeze.since.parse().unwrap_or(at),
            reason: freeze.why.clone(),
        });
        RenderContext { frozen, ..RenderContext::default() }
    }

    /// Tells somebody something that only they see, when Slack has time for it.
    pub(super) fn whisper(&self, thread: &Thread, user: &str, message: &show::Message) {
        self.whisper_all(thread, user, std::slice::from_ref(message));
    }

    /// Says something in a thread that concerns everybody who reads it. If the place takes nothing from the bot, it goes to `user`
    /// directly.
    pub(super) fn tell(&self, thread: &Thread, user: &str, message: &show::Message) {
        let web = self.web.at(Priority::Approval);
        let to = Address {
            thread_ts: Some(thread.ts.clone()).filter(|ts| !ts.is_empty()),
            ..Address::channel(&thread.channel)
        };
        let (user, message) = (user.to_owned(), sent(message));
        self.spawn(async move {
            let error = match web.post(&to, &message).await {
                Ok(_) => return,
                Err(error) => error,
            };
            if error.plan() == Some(Plan::Direct) && !user.is_empty() {
                match directly(&web, &user, &to.channel, &message).await {
                    Ok(()) => return,
                    Err(why) => tracing::warn!("answer not sent directly either: {why}"),
                }
            }
            tracing::warn!("answer not posted: {error}");
        });
    }

    /// Tells whether the app may fetch files; it is asked once. If Slack does not say, it is tried.
    pub(super) async fn may_read_files(&self) -> bool {
        let ask = async {
            let granted = tokio::time::timeout(SCOPE_WAIT, self.web.granted()).await;
            let scopes = granted.ok().and_then(Result::ok).and_then(|granted| granted.scopes);
            scopes.is_none_or(|scopes| scopes.contains("files:read"))
        };
        *self.reads_files.get_or_init(|| ask).await
    }

    /// Tells somebody several messages that only they see, in order. Slack shows a private message of a thread only if the thread
    /// has answers, and a direct conversation has nobody else: there it is an ordinary message.
    pub(super) fn whisper_all(&self, thread: &Thread, user: &str, messages: &[show::Message]) {
        let web = self.web.at(Priority::Approval);
        let to = Address {
            thread_ts: Some(thread.ts.clone()).filter(|ts| !ts.is_empty()),
            ..Address::channel(&thread.channel)
        };
        let (user, messages) = (user.to_owned(), messages.iter().map(sent).collect::<Vec<_>>());
        self.spawn(async move {
            for message in &messages {
                let sent = match to.channel.starts_with('D') {
                    true => web.post(&to, message).await.map(drop),
                    false => web.ephemeral(&to, &user, message).await.map(drop),
                };
                let Err(error) = sent else { continue };
                if error.plan() == Some(Plan::Direct) {
                    match directly(&web, &user, &to.channel, message).await {
                        Ok(()) => continue,
                        Err(why) => tracing::warn!("private answer not sent directly either: {why}"),
                    }
                }
                tracing::warn!("private answer failed: {error}");
            }
        });
    }
}

/// Sends a message to a person, because its place takes nothing from the bot.
async fn directly(
    web: &Web,
    user: &str,
    place: &str,
    message: &ghost_slack::web::Message,
) -> Result<(), CallError> {
    let channel = web.open_dm(user).await?;
    let place = ghost_slack::text::channel(place);
    let about = ghost_slack::web::Message::text(format!("I cannot write in {place}, so this comes here."));
    web.post(&Address::channel(&channel), &about).await?;
    web.post(&Address::channel(&channel), message).await.map(drop)
}

/// Makes a message of plain words.
pub(super) fn words(text: &str) -> show::Message {
    show::Message { text: ghost_slack::text::escape(text), blocks: Vec::new() }
}
