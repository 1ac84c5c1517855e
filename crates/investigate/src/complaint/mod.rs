//! What people complain about: their words, and with the estate the flows that have to be judged.
//!
//! Goes in: a text as somebody wrote it, and the machines, rules and listeners as far as they were read. Comes out: complaints with
//! concrete flows, what is known to work, and names that nobody has. Never: a cause. What a person believes is no evidence, and a word
//! that is not known in any language changes nothing about the ends and the ports that stand beside it.
//!
//! Words behind a report are an order to look, a question or a remark; [`request()`] says which.
//!
//! Two phases: [`read`] needs the text alone and says whether there is anything to investigate; [`resolve()`] needs the estate, too.

mod chain;
mod clause;
mod correction;
mod ellipsis;
mod flow;
mod fold;
mod history;
mod infer;
mod inventory;
mod mention;
mod message;
mod outline;
mod output;
mod port;
mod request;
mod resolve;
mod scope;
mod side;
mod statement;
mod stranger;
mod token;
mod vocabulary;
mod when;

#[cfg(test)]
mod tests;

pub use correction::corrected;
pub use inventory::{Allow, Backend, Inventory, Listener, Machine, Name, Protocol, Selector};
pub(crate) use message::folded;
pub use message::{Message, Topic, read, said};
pub use outline::{Outline, fingerprint, outline};
pub use output::{Basis, Complaint, ComplaintFlow, Control, Correction, End, Kind, Service, UnknownEnd};
pub(crate) use port::ports_named;
pub use request::{Request, asks_about_bot, names_capture, request};
pub use resolve::resolve;
pub use stranger::strangers;
pub(crate) use vocabulary::Phrases;
pub use when::{Window, first_failure, window};
