//! What people see in Slack: boards, cards, modals, reports, the Home tab, answers.
//!
//! Goes in: the state of a session and what surrounds it, as values. Comes out: messages and views. Never: a clock, a call, a
//! text of the network, a model or a person that formats, links, mentions or forges; a command that is cut without saying so;
//! a message that Slack would refuse because something was large.
//!
//! # Invariants
//! - The same values give the same bytes.
//! - Text that is not ours stands in elements that Slack does not interpret: rich text, plain text, inputs. In the one text
//!   that it does interpret, the fallback of a message, it is escaped. Reports are Markdown that `agent::report` escaped.
//! - A mention is made of an identifier that the caller vouched for, see [`People`], and of nothing else.

mod activity;
mod alert;
mod amount;
mod answer;
mod before;
mod block;
mod board;
mod card;
mod context;
mod home;
mod message;
mod modal;
mod outside;
mod person;
pub mod phrase;
mod report;
mod runbook;
mod text;

pub use activity::agent_status;
pub use alert::{alert, alert_news};
pub use answer::{
    Offer, Pending, Refusal, SessionLine, Waiting, approvals, ask_what, audit, checks, help, joined,
    look_offer, not_read, noted, offer, policy, refusal, reworded, sessions, status, stopping,
    typing_is_no_consent, usage,
};
pub use before::{Before, before};
pub use board::{board, first_words, streamed};
pub use card::{asked_text, card, command_file};
pub use context::{Deciding, Frozen, RenderContext};
pub use home::{Home, home};
pub use message::{File, Message};
pub use modal::{
    Denied, FormError, Meta, Modified, Preview, Wanted, deny_modal, investigate_modal, modify_errors,
    modify_modal, notice_modal, read_deny, read_investigate, read_modify, typed_command, whole_modal,
};
pub use person::{People, Person};
pub use report::{Report, evidence, headline, report, stands, steps};
pub use runbook::runbooks;
