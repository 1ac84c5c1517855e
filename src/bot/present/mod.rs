//! Showing people where a session stands: its board, its cards, its report.
//!
//! Goes in: the state of a session after each event. Comes out: messages in its thread, and in the ledger where they stand.
//! Never: a message twice after a crash; an older look over a newer one; a report or a card that is dropped.
//!
//! Slack is updated twice. While a session runs, its owner sends every change as soon as Slack takes it, and what is overtaken
//! is dropped. Before it gives the session back it *reconciles*: what is shown is compared with the ledger and made to agree,
//! whoever sent what before. Only the board of a session that goes on is not waited for: it changes again, and Slack lets
//! a workspace change fifty messages a minute.

mod follow;
mod freeze;
mod gone;
mod presenter;
mod publish;
mod recall;
mod reconcile;
mod render;
mod status;
mod tracker;

pub use presenter::{Deciders, Pictures, Presenter, Runbooks, Trail};
pub(super) use publish::{names_in, takes_no_files};
pub(super) use render::{RenderedMessage, card_of, context, converted, lost_card, posted};
