//! Whole sessions: a scripted model, a real store, the real gate and a human who answers.

mod asked;
mod child;
mod command;
mod conversation;
mod crash;
mod erase;
mod export;
mod fallback;
mod follow_up;
mod forgetful;
mod found;
mod injection;
mod lease;
mod many;
pub(crate) mod mortal;
mod outage;
mod owners;
mod plot;
mod proof;
mod replay;
mod same;
mod shown;
mod thinking;
mod worker;
pub(crate) mod world;
