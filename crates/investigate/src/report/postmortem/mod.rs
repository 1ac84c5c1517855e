//! What a team needs after an incident: the timeline, the causes, what people decided, what is left to do.
//!
//! Goes in: the events of a session, and names of people. Comes out: a document, and its text as Markdown or as a note. Never: a line
//! without the events or observations that show it; a word that a fix was carried out which nobody recorded; a secret that a
//! person wrote.

mod build;
mod decisions;
mod document;
mod markdown;
mod note;
mod timeline;

pub use build::postmortem;
pub use document::{
    ActionItem, ActivityLog, Decided, EvidenceLine, Postmortem, PostmortemAlert, PostmortemCause, Proof,
    ShownLine, TimelineLine, Times, VerifiedFault, Vote,
};
pub use markdown::TooLong;
