//! Effective routes: which one carries a packet, why, and what a reviewer would ask about.
//!
//! Goes in: the JSON text of an effective route table, a destination, and where given service tags and an inventory.
//! Comes out: the chosen route with its reason, what it beat, what is odd, what could not be read. Never: a file, a
//! process, a clock, a network.
//!
//! ```
//! use ghost_inspect::route::{Outcome, Table};
//!
//! let text = r#"[{"addressPrefix":["10.0.0.0/16"],"nextHopType":"VnetLocal","source":"Default","state":"Active"}]"#;
//! let table = Table::parse(text, None)?;
//! assert_eq!(table.select("10.0.3.4".parse()?).result, Outcome::Winner);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Invariants*
//! - Only rows whose state is Active compete; a state that is missing is not Active.
//! - The answer is `INDETERMINATE` only where the unresolved service tag of an Active row could win.
//! - What is chosen is decided while the index is built; `Table::choose` copies nothing, `Table::select` tells all.
//! - A row that cannot be read is a warning that names it, and the other rows still answer.

mod anomaly;
mod audit;
mod choose;
mod decode;
mod index;
mod report;
mod row;
mod select;
mod table;

pub use anomaly::{Anomaly, Code};
pub use audit::{Audit, DefaultRoute};
pub use choose::Choice;
pub use report::{Entry, Outcome, Reason, Selection, SelectionStep};
pub use row::{Hop, Route, Row, Source, State};
pub use table::{Error, Table};

#[cfg(test)]
mod doubts;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
