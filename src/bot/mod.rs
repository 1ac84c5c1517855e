//! The bot: threads are sessions, cards are approvals, and what people are shown is a view of the ledger.
//!
//! Goes in: what arrives from Slack. Comes out: inbox messages and votes in the store; boards, cards and reports in threads. Never: an
//! answer to Slack before what it answers is durable; a decision by somebody who may not make it; a card that outlives its
//! question with buttons on it.

mod alerts;
mod authority;
mod complaint;
mod core;
mod directory;
mod freeze;
mod handle;
pub mod journal;
mod leftover;
mod manifest;
mod measure;
mod posted_line;
mod present;
mod requests;
mod run;
mod settings;
pub mod show;
mod target;
mod thread;
mod words;

pub use alerts::{AlertEndpoint, AlertSecret, alerts};
pub use authority::{AccessError, Approvers, Groups, People, Person, may_take_part};
pub use core::{Checks, Control, Core, CoreServices};
pub use directory::Directory;
pub use freeze::{Freeze, StoreFreezeCheck};
pub use handle::{AlertSource, AlertTaken, Bot};
pub use leftover::{Leftover, Leftovers, NoLeftovers};
pub use manifest::{COMMAND, EVENTS, OPTIONAL_SCOPES, SCOPES, SHORTCUTS, reason};
use posted_line::PostedLine;
pub use present::{Deciders, Pictures, Presenter, Runbooks, Trail};
pub use requests::{OwnApp, Signing, requests};
pub use run::{Application, EventSource, Sweep};
pub use settings::{ChannelRules, Settings};
pub use thread::{SLACK, Thread};
pub use words::{Intent, meant, without_mention};
