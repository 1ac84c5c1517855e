//! Checks blocks as Slack does: a message's blocks and attachments, a view, a text.
//!
//! Goes in: JSON that an app sent. Comes out: nothing, or every [`Problem`] with the words and the pointer that Slack uses.
//! Never: a panic, a wait, a look at anything but the JSON.
//!
//! ```
//! use ghost_lab_slack::block::{Surface, validate_blocks};
//! use serde_json::json;
//!
//! let blocks = json!([{ "type": "header", "text": { "type": "plain_text", "text": "" } }]);
//! let problems = validate_blocks(&blocks, Surface::Message).unwrap_err();
//! assert_eq!(problems[0].to_string(), "[ERROR] must be more than 0 characters [json-pointer:/blocks/0/text/text]");
//! ```
//!
//! # Where the rules come from
//! Names, requiredness and limits are those of the reference pages for blocks, block elements and composition objects; each
//! case of `tests/fixtures/lab/blocks.jsonl` names its page. The wording of a schema error (`missing required field: …`,
//! `must be less than N characters`, `no more than N items allowed` …) is that of the validator that Slack published; what
//! is not a schema error (`must define either …`, `already exists`, `must be one of the provided options`) was collected
//! from answers that apps reported. Where a page's table and its own example disagree, the example counts: a card's texts
//! are text objects, a plan's title is a string.
//!
//! # What is ours
//! The order of problems. The words for limits that the reference tells in prose only: characters of all cells, one table
//! a message, two charts, markdown in total. `msg_blocks_too_long`, whose limit Slack does not document. Whether a host may
//! be embedded, a file exists or a user is known is for the workspace to say, not for this module.
//!
//! # Invariants
//! - The schema is finite and does not refer to itself: how deep a walk goes does not depend on how deep the JSON is.
//! - Every value is looked at a bounded number of times, and at most [`MAX_PROBLEMS`] are reported.

mod across;
mod card;
mod element;
mod input;
mod layout;
mod message;
mod rich;
mod select;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod view;
mod walk;

pub use layout::{Surface, validate_blocks};
pub use message::{Accepted, Content, Method, Refusal, accept_message, accept_view, validate_attachments};
pub use select::validate_options;
pub use shape::{MAX_PROBLEMS, Problem};
pub use view::validate_view;
