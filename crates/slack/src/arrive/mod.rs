//! What Slack sends, read so leniently that nothing is lost.
//!
//! Goes in: JSON from a socket or a request. Comes out: an [`Arrival`] for every event, press, form, command and shortcut.
//! Never: an error. A field that is missing, null or of another type is `None` or empty; what has no name here is
//! [`What::Other`] with its whole body, so that it is acknowledged by somebody who decided so.

mod arrival;
mod event;
mod field;
mod form;
mod frame;
mod interaction;
mod message;
mod press;
#[cfg(test)]
mod tests;

pub use arrival::{
    Arrival, Closed, Command, Context, Deleted, Edited, Home, Membership, Origin, Reaction, Shortcut,
    Stopped, Submit, Suggest, What,
};
pub use event::event;
pub(crate) use field::{at, flag, items, said, text};
pub use form::{Field, Person, ResponseUrl, Values, View};
pub use frame::{Envelope, Farewell, Frame};
pub use interaction::{command, interactive};
pub(crate) use message::attached;
pub use message::{Attached, Author, ConversationKind, IncomingMessage};
pub use press::{Action, Press};
