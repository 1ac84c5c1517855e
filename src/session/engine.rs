//! What a driver needs, and how driving ends.

use std::sync::Arc;
use std::time::Duration;

use crate::session::{Brake, Courier, Sleep, Watcher, Workshop};
use ghost_base::{Clock, Timestamp};
use ghost_investigate::event::LedgerError;
use ghost_investigate::model::{Investigator, Model, Usage};
use ghost_investigate::state::{FoldError, State};
use ghost_investigate::tool::{Evidence, Registry};
use ghost_shell::{Builder, Policy};
use ghost_store::{Store, StoreError};

/// Puts the gate of a session together, all but the approver, whom the session brings.
pub type Shells = dyn Fn(&State) -> Result<Builder, String> + Send + Sync;

/// Says what a turn cost in millionths of a dollar, `None` where that is not known.
pub type Prices = dyn Fn(&Investigator, &Usage) -> Option<u64> + Send + Sync;

/// What deciding and acting take.
#[derive(Clone)]
pub struct Kitchen {
    /// Whoever thinks.
    pub model: Arc<dyn Model>,
    /// What may be called.
    pub tools: Arc<Registry>,
    /// By which commands are judged.
    pub policy: Arc<Policy>,
    /// How gates are opened.
    pub shells: Arc<Shells>,
    /// Where whole texts are found.
    pub evidence: Arc<dyn Evidence>,
    /// What turns cost.
    pub prices: Arc<Prices>,
    /// What the operator adds to the system prompt.
    pub site: Option<String>,
    /// As whom what is approved runs, for whoever is asked.
    pub acts_as: Option<String>,
    /// Who brings reports.
    pub courier: Arc<dyn Courier>,
    /// Who can hold commands back.
    pub brake: Arc<dyn Brake>,
    /// Who does chores.
    pub workshop: Arc<dyn Workshop>,
}

/// Drives sessions as one owner.
#[derive(Clone)]
pub struct Engine {
    /// Where sessions live.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The owner's name: no two processes share one.
    pub owner: String,
    /// How long a session belongs to an owner that is silent.
    pub ttl: Duration,
    /// The rest.
    pub kitchen: Kitchen,
    /// How a moment is waited for.
    pub sleep: Arc<dyn Sleep>,
    /// Who looks on.
    pub watcher: Arc<dyn Watcher>,
}

/// How driving ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// The session is over and its report delivered.
    Over,
    /// A human is asked; the session belongs to nobody until somebody answers.
    Waiting {
        /// The question.
        approval: String,
        /// When it runs out.
        until: Timestamp,
    },
    /// The caller wanted it to pause.
    Paused,
    /// The model could not answer.
    Stuck {
        /// Why.
        why: String,
    },
    /// The report could not be delivered.
    Undelivered {
        /// Why.
        why: String,
    },
    /// Somebody else drives it.
    Taken,
    /// There is no such session.
    Missing,
}

/// Why a session cannot be driven.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store refuses.
    #[error("the store refused")]
    Store(#[from] StoreError),
    /// Its lines are no ledger.
    #[error("the session cannot be read")]
    Ledger(#[from] LedgerError),
    /// Its events are no session.
    #[error("the session cannot be understood")]
    Fold(#[from] FoldError),
    /// An event cannot be written.
    #[error("an event cannot be written")]
    Event(#[from] serde_json::Error),
    /// The gate cannot be opened.
    #[error("the safety shell cannot be opened: {0}")]
    Shell(String),
    /// A text cannot be kept.
    #[error("what was seen cannot be kept: {0}")]
    Evidence(String),
    /// Another owner went on.
    #[error("another owner drives the session")]
    Fenced,
}
