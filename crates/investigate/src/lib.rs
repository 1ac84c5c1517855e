//! The investigation: typed events, their fold, the next effect, and the ports to language models and the playbook.
//!
//! Goes in: events that were recorded, and the present moment. Comes out: the state, the next effect, reports. Never: a
//! finding that no recorded observation supports, a step that runs twice, text of the network taken for an instruction.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![expect(missing_docs, reason = "a doc line says what the name does not; nobody else depends on this crate")]

pub mod changed;
pub mod complaint;
mod consent;
pub mod conversation;
pub mod coverage;
pub mod decision;
mod destination;
pub mod event;
mod fence;
pub mod finding;
pub mod gate;
mod hypothesis;
pub mod judged;
mod limits;
pub mod listed;
pub mod memory;
pub mod model;
mod outcome;
pub mod outside;
pub mod platform_answer;
pub mod playbook;
pub mod prompt;
pub mod recheck;
pub mod replay;
pub mod report;
pub mod runbook;
pub mod service;
pub mod state;
pub mod suspect;
pub mod symptom_text;
pub mod tool;
mod unlooked;
pub mod usage;

pub use consent::{ApprovalRefused, RequesterMay, SelfApproval, may_approve, may_approve_modified};
pub use destination::{
    check_destinations, check_sandbox, is_reclassified, known_for_command, known_for_step,
    may_be_reclassified, reclassified, ruling_of,
};
pub use fence::Fence;
pub use hypothesis::{Hypothesis, HypothesisState};
pub use limits::Limits;
pub use outcome::{Confidence, Outcome};
