//! Words for Slack: escaped, harmless, short enough.
//!
//! Goes in: our own words, and text that nobody vouches for. Comes out: text in Slack's markup or in Markdown. Never: a
//! mention, a link, a ping of everybody or a change of direction that came with evidence.

mod harmless;
mod limit;
mod markup;
mod readable;
mod split;

pub use harmless::{code, escape, fence, plain, quiet, spelled};
pub use limit::{
    ACTIONS, BLOCKS, BUTTON_TEXT, BUTTON_VALUE, HEADER, MARKDOWN, MODAL_BLOCKS, MODAL_TITLE,
    PRIVATE_METADATA, SECTION, TEXT, fits, length, shorten,
};
pub use markup::{channel, date, everybody_in, link, mention, named};
pub use readable::{Links, readable};
pub use split::split;
