//! What has to be looked at before a symptom is explained: the table, and what is missing of it.
//!
//! Goes in: what people say, which machines it is about, what was looked at. Comes out: the layers of which machine are missing. Never: a
//! layer that was not looked at taken for a clean one.

mod explains;
mod missing;
mod table;

pub use explains::{explains, is_felt};
pub use missing::{asked, machines, missing, missing_of_hosts};
pub use table::{OF_HOSTS, Row, TABLE, layers, settling};
