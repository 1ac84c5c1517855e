//! Flow logs of networks: which flows the platform saw at an interface, which it let through, and which it denied by which rule.
//!
//! Goes in: the bytes of `PT1H.json` blobs, as far as they were read, and a question about one flow in a window of time. Comes out: what
//! the log shows of that flow at each interface, and a summary of all flows. Never: a denial that no line shows, an answer from a line
//! outside the window, an error for a file that is cut off, too large or made to harm.
//!
//! ```
//! use ghost_inspect::flowlog::{Question, Seen, Window, read};
//!
//! let text = r#"{"records":[{"macAddress":"00224871C205","flowRecords":{"flows":[{"flowGroups":[{"rule":"deny-db","flowTuples":[
//!     "1663146003599,10.0.0.6,10.0.1.4,40000,5432,6,O,D,NX,0,0,0,0"]}]}]}}]}"#;
//! let log = read([text.as_bytes()]);
//! let question = Question {
//!     source: "10.0.0.6".parse()?, destination: "10.0.1.4".parse()?, protocol: 6, port: Some(5432),
//!     window: Window { from: 1_663_146_000_000, to: 1_663_150_000_000 },
//! };
//! assert!(matches!(log.ask(&question).as_slice(), [Seen { rule: Some(rule), denied: 1, .. }] if rule == "deny-db"));
//! # Ok::<(), std::net::AddrParseError>(())
//! ```

mod log;
mod place;
mod read;
mod tuple;

pub use log::{Log, Question, Seen, Window};
pub(crate) use place::moment_text;
pub use place::{BLOBS, Hour, hours, mac_of};
pub(crate) use read::plain_mac;
pub use read::{MAX_BYTES, Unread, read};
pub use tuple::{Side, State, Tuple};
