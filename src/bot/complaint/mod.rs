//! A complaint out of a thread: what was mentioned, forwarded, pasted and said there becomes the words that are investigated.
//!
//! Goes in: a mention and the messages around it, as they were read. Comes out: a [`ThreadComplaint`] with the complaint, each passage with who
//! wrote it and when, what was left as quotes, and what could not be read. The mention outranks everything, words of people outrank
//! those of programs, newer ones outrank older ones. Never: a wait, a call, an order or a consent: all of it is text.

mod compose;
mod log;
mod message;
#[cfg(test)]
mod tests;

pub(super) use compose::{ThreadComplaint, compose};
pub(super) use log::excerpt;
pub(super) use message::mentioned;
pub(super) use message::{Text, ThreadMessage};
