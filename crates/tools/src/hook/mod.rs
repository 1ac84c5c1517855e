//! `ghost hook`: what coding agents ask before they act, answered in their own form.
//!
//! Goes in: one tool call as the client writes it, on standard input. Comes out: the client's word for yes, or exit code 2 and a line of
//! reason, which is the one answer that stops every client. Never: a silent exit, a text that is no answer, a panic, or a call that is
//! allowed and not on record: what a client does not understand it takes for consent.

mod answer;
mod approver;
mod call;
mod command;
mod decide;
mod doctor;
mod entry;
mod install;
mod line;
mod patch;
mod place;
mod run;
mod slack;
mod table;
mod target;
#[cfg(test)]
mod tests;
mod toml_text;
mod tool;

pub use approver::NobodyAsked;
pub use command::{Arguments, run};
pub use place::Project;
pub use run::{answers, refuse_to_start};
