//! Sends a post-mortem where a team keeps them: an issue on GitHub, a note beside an incident of PagerDuty.
//!
//! Goes in: a document, a place that the configuration names, its token. Comes out: a request that can be shown before it is sent, and
//! what came of sending it. Never: a second request where nobody knows what became of the first; a redirect that is followed; a token in
//! an error, in what is shown, or anywhere but in its header.

mod error;
mod github;
mod pagerduty;
mod request;
mod send;

pub use error::SendError;
pub use github::{GitHubPlace, MAX_BODY_CHARS, github};
pub use pagerduty::{MAX_NOTE_CHARS, PagerDutyPlace, is_incident, pagerduty};
pub use request::{Prepared, Sent};
pub use send::send;
