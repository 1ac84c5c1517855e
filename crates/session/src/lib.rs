//! Where ledger, lease, gate and agent meet: one owner drives one session, one effect after the other.
//!
//! Goes in: messages (an incident, words of people), votes, a store, a model, a shell. Comes out: a ledger that says what
//! happened, and a report. Never: an effect before its event is stored; a command that may change something run twice, or
//! without a consent that was stored and is used up; a session driven by two owners.
//!
//! [`alert`] reads alerts of other programs into one form; [`outside`] is consent for agents that no session drives.
//!
//! Everything that decides is in `ghost-investigate` and pure. Here is the order in which things become durable.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod alert;
mod approver;
mod arrive;
mod drive;
mod engine;
mod erase;
mod evidence;
mod execute;
pub mod export;
mod hand_over;
mod message;
pub mod outside;
mod owned;
mod port;
mod question;
pub mod retention;
mod rollback;
mod think;
mod together;
mod vote;
mod witness;
mod worker;

pub use drive::DriveControl;
pub use engine::{
    DriveOutcome, Engine, EngineBuilder, EngineError, OpenOutside, OpenShell, ShellError, TurnCost,
};
pub use erase::{EraseError, Erased, delete};
pub use evidence::EvidenceFolder;
pub use execute::preview;
pub use hand_over::opened_outside;
pub use message::InboxMessage;
pub use port::{
    ClockSleep, DeliveryError, FileTaskError, FileTasks, FreezeCheck, NeverFrozen, NoDelivery, NoFileTasks,
    NoObserver, Observer, ReportDelivery, Sleep,
};
pub use rollback::StoreHistory;
pub use together::MAX_AT_ONCE;
pub use vote::{SubmittedVote, VoteResult, submit_vote};
pub use worker::Worker;
