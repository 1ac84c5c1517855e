//! What drives sessions: its parts, how it is put together, and how driving ends.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    ClockSleep, EvidenceFolder, FileTasks, FreezeCheck, NeverFrozen, NoDelivery, NoFileTasks, NoObserver,
    Observer, ReportDelivery, Sleep, StoreHistory, opened_outside,
};
use ghost_base::{Clock, SystemClock, Timestamp};
use ghost_investigate::event::{LedgerError, Opened, Outside};
use ghost_investigate::model::{Investigator, Model, Usage};
use ghost_investigate::state::{FoldError, State};
use ghost_investigate::tool::{Evidence, EvidenceError, Registry};
use ghost_shell::{Builder, CancelSignal, Policy, Shell};
use ghost_store::{Store, StoreError};

/// How long a session belongs to a silent owner: nobody works on what a replica that died had begun for so long.
const LEASE_TTL: Duration = Duration::from_secs(10);

/// Opens the safety shell of a session, all but the approver, whom the session adds.
pub type OpenShell = dyn Fn(&State) -> Result<Builder, ShellError> + Send + Sync;

/// Why the safety shell of a session could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ShellError(String);

impl From<String> for ShellError {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// Returns what a turn cost in millionths of a dollar, `None` where that is not known.
pub type TurnCost = dyn Fn(&Investigator, &Usage) -> Option<u64> + Send + Sync;

/// Opens the session of a request from outside: where its thread is, and what holds there.
pub type OpenOutside = dyn Fn(Outside) -> Opened + Send + Sync;

/// Drives sessions as one owner. Made with [`Engine::builder`].
#[derive(Clone)]
pub struct Engine {
    /// Where sessions are stored.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How a moment is waited for.
    pub sleep: Arc<dyn Sleep>,
    /// The owner's name: no two processes share one.
    pub owner: String,
    /// How long a session belongs to a silent owner.
    pub lease_ttl: Duration,
    /// Who answers turns.
    pub model: Arc<dyn Model>,
    /// What the model may call.
    pub tools: Arc<Registry>,
    /// What commands are judged by.
    pub policy: Arc<Policy>,
    /// How safety shells are opened.
    pub open_shell: Arc<OpenShell>,
    /// How sessions of requests from outside are opened.
    pub open_outside: Arc<OpenOutside>,
    /// Where whole outputs are kept.
    pub evidence: Arc<dyn Evidence>,
    pub turn_cost: Arc<TurnCost>,
    /// What the operator adds to the system prompt.
    pub site_prompt: Option<String>,
    /// The identity that approved commands run as, for whoever is asked.
    pub acts_as: Option<String>,
    /// Who delivers reports.
    pub delivery: Arc<dyn ReportDelivery>,
    /// Who can hold commands back.
    pub freeze: Arc<dyn FreezeCheck>,
    /// Who does work on files.
    pub file_tasks: Arc<dyn FileTasks>,
    /// Who is notified.
    pub observer: Arc<dyn Observer>,
    /// What this process knows of the store's past.
    pub history: StoreHistory,
    /// From when on nobody waits any more for a store that is away.
    pub give_up: CancelSignal,
}

impl Engine {
    /// Begins an engine over a store, with a model and a policy. Whole outputs, audit files and work folders lie below `data`.
    ///
    /// Unless said otherwise the clock is the system's, shells are opened with the scope of their session, every tool is
    /// offered without knowledge of a site, no price is known, nothing is frozen, and reports have nowhere to go.
    pub fn builder(
        store: Arc<dyn Store>,
        model: Arc<dyn Model>,
        policy: Arc<Policy>,
        data: &Path,
    ) -> EngineBuilder {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let evidence = Arc::new(EvidenceFolder::new(data.join("evidence")));
        let data = data.to_owned();
        EngineBuilder(Self {
            store,
            sleep: Arc::new(ClockSleep::new(Arc::clone(&clock))),
            clock,
            owner: String::new(),
            lease_ttl: LEASE_TTL,
            model,
            tools: Arc::new(Registry::default()),
            policy,
            open_shell: Arc::new(move |state| {
                Ok(Shell::builder(state.session.clone(), &data).scope(state.opened.scope.clone()))
            }),
            open_outside: Arc::new(|outside| opened_outside(outside, None, String::new())),
            evidence,
            turn_cost: Arc::new(|_, _| None),
            site_prompt: None,
            acts_as: None,
            delivery: Arc::new(NoDelivery),
            freeze: Arc::new(NeverFrozen),
            file_tasks: Arc::new(NoFileTasks),
            observer: Arc::new(NoObserver),
            history: StoreHistory::default(),
            give_up: CancelSignal::never(),
        })
    }
}

/// Puts an [`Engine`] together. The bot, the terminal and the evaluation differ in what they set.
#[must_use]
pub struct EngineBuilder(Engine);

impl EngineBuilder {
    /// Sets the clock, and waits by it.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.0.sleep = Arc::new(ClockSleep::new(Arc::clone(&clock)));
        self.0.clock = clock;
        self
    }

    /// Sets how a moment is waited for; a clock that is set later undoes it.
    pub fn sleep(mut self, sleep: Arc<dyn Sleep>) -> Self {
        self.0.sleep = sleep;
        self
    }

    /// Sets how long a session belongs to a silent owner.
    pub fn lease_ttl(mut self, ttl: Duration) -> Self {
        self.0.lease_ttl = ttl;
        self
    }

    /// Sets what the model may call.
    pub fn tools(mut self, tools: Registry) -> Self {
        self.0.tools = Arc::new(tools);
        self
    }

    /// Sets how safety shells are opened.
    pub fn open_shell(
        mut self,
        open: impl Fn(&State) -> Result<Builder, ShellError> + Send + Sync + 'static,
    ) -> Self {
        self.0.open_shell = Arc::new(open);
        self
    }

    /// Sets how sessions of requests from outside are opened; unless said, they have nobody to ask.
    pub fn open_outside(mut self, open: impl Fn(Outside) -> Opened + Send + Sync + 'static) -> Self {
        self.0.open_outside = Arc::new(open);
        self
    }

    /// Sets what turns cost.
    pub fn turn_cost(
        mut self,
        cost: impl Fn(&Investigator, &Usage) -> Option<u64> + Send + Sync + 'static,
    ) -> Self {
        self.0.turn_cost = Arc::new(cost);
        self
    }

    /// Sets what the operator adds to the system prompt.
    pub fn site_prompt(mut self, text: Option<String>) -> Self {
        self.0.site_prompt = text;
        self
    }

    /// Sets the identity that approved commands run as.
    pub fn acts_as(mut self, identity: Option<String>) -> Self {
        self.0.acts_as = identity;
        self
    }

    /// Sets who delivers reports.
    pub fn delivery(mut self, delivery: Arc<dyn ReportDelivery>) -> Self {
        self.0.delivery = delivery;
        self
    }

    /// Sets who can hold commands back.
    pub fn freeze(mut self, freeze: Arc<dyn FreezeCheck>) -> Self {
        self.0.freeze = freeze;
        self
    }

    /// Sets who does work on files.
    pub fn file_tasks(mut self, tasks: Arc<dyn FileTasks>) -> Self {
        self.0.file_tasks = tasks;
        self
    }

    /// Sets who is notified.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.0.observer = observer;
        self
    }

    /// Returns the engine of an owner whose name no other process has.
    pub fn build(mut self, owner: impl Into<String>) -> Engine {
        self.0.owner = owner.into();
        self.0
    }
}

/// How driving ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriveOutcome {
    /// The session is over and its report delivered.
    Over,
    /// A human is asked; the session belongs to nobody until somebody answers.
    Waiting {
        /// The question.
        approval: String,
        /// When it runs out.
        until: Timestamp,
    },
    /// A consent waits for the agent elsewhere that asked for it, and ends by itself.
    Offered {
        /// When it ends.
        until: Timestamp,
    },
    /// The caller wanted it to pause.
    Paused,
    /// The model could not answer.
    Stuck { why: String },
    /// The report could not be delivered.
    Undelivered { why: String },
    /// Somebody else drives it.
    Taken,
    /// There is no such session.
    Missing,
}

/// Why a session cannot be driven.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store refuses.
    #[error("store operation failed")]
    Store(#[from] StoreError),
    /// Its lines are no ledger.
    #[error("session ledger not readable")]
    Ledger(#[from] LedgerError),
    /// Its events are no session.
    #[error("session events are inconsistent")]
    Fold(#[from] FoldError),
    /// An event cannot be written.
    #[error("event not serializable")]
    Event(#[from] serde_json::Error),
    /// The gate cannot be opened.
    #[error("safety shell did not open")]
    Shell(#[from] ShellError),
    /// A text cannot be kept.
    #[error("evidence not stored")]
    Evidence(#[from] EvidenceError),
    /// Another owner went on.
    #[error("another owner drives the session")]
    Fenced,
}
