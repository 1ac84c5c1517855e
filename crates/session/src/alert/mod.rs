//! Alerts of other programs, as each of their senders writes them, read into one form.
//!
//! Goes in: the body of a request, its headers, the secret of its source, the time. Comes out: what the alert says, by which key its
//! sender groups it, and which machines and flows it names. Never: a body that is read before it was proven whose it is; text of the
//! sender that is anything but data; a wait, a store, a messenger.

mod error;
mod flow;
mod maintenance;
mod notification;
mod posted;
mod proof;
mod read;
mod symptom;
#[cfg(test)]
mod tests;
mod text;

pub use error::{AlertError, ProofError};
pub use flow::Flow;
pub use maintenance::{Window, WindowError};
pub use notification::{Notification, Reading, Sender};
pub use posted::{Posted, PostedStatus, not_of_network, posted};
pub use proof::{MIN_SECRET_CHARS, Proof, prove};
pub use read::read;
pub use symptom::symptom;
