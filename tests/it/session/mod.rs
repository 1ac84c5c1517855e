//! Whole sessions: a scripted model, a real store, the real gate and a human who answers.

mod conversation;
mod lease;
mod world;
