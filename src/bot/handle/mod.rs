//! What arrives from Slack, made durable and answered.
//!
//! Goes in: an arrival. Comes out: inbox messages and votes in the store, and the immediate answer to Slack. Never: an acknowledgement
//! before what it acknowledges is stored; an answer in public to somebody who may not speak here.

mod alert;
mod command;
mod decide;
mod edit;
mod expect;
mod form;
mod gather;
mod home;
mod join;
mod left;
mod look;
mod open;
mod posted;
mod postmortem;
mod press;
mod recheck;
mod route;
mod speech;
mod usage;
mod vote;

pub use alert::{AlertSource, AlertTaken};
pub use route::Bot;
