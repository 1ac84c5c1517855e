//! Answers to one person: help, lists, where a session stands, and why not.

mod help;
mod list;
mod offer;
mod question;
mod refusal;
mod session;
mod usage;
mod waiting;

pub use help::{help, policy};
pub use list::{Pending, SessionLine, approvals, sessions};
pub(super) use list::{pending_line, session_line};
pub use offer::{Offer, joined, look_offer, offer};
pub use question::{ask_what, not_read, reworded};
pub use refusal::{Refusal, refusal};
pub use session::{audit, checks, status};
pub use usage::usage;
pub use waiting::{Waiting, noted, stopping, typing_is_no_consent};
