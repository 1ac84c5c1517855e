//! Whole sessions: a scripted model, a real store, the real gate and a human who answers.

#[cfg(feature = "cli")]
mod command;
mod conversation;
mod erase;
mod export;
mod replay;
mod world;
