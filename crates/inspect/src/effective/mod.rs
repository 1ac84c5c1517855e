//! Effective state: what the routes and rules of network interfaces are, whether they changed, and proof that they did not.
//!
//! Goes in: the raw answers of `az` for each network interface, or a snapshot of them; the time and who asks come from the
//! caller. Comes out: a snapshot with its digests, a comparison, a certificate. Never: a file, a process, a clock, a network.
//!
//! ```
//! use ghost_inspect::effective::{Options, Side, Status};
//!
//! let bundle = r#"{"nics": [{"nic": "web-nic", "nsg": [], "error": null, "routes": [
//!     {"addressPrefix": ["10.0.0.0/16"], "nextHopType": "VnetLocal", "source": "Default", "state": "Active"}]}]}"#;
//! let (before, after) = (Side::parse(bundle)?, Side::parse(bundle)?);
//! assert_eq!(before.compare(&after, Options::default()).status, Status::Clean);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Invariants*
//! - `CLEAN` means that every network interface was read, completely, on both sides. What was not read is never an empty table.
//! - A change is reported only where it is certain: nothing is "removed" from an answer of which a part could not be read.
//! - The order of rows, lists, security groups and network interfaces is never a change.
//! - A snapshot of which a single byte was changed is refused. Its digests tell of accidents and of careless edits; whoever
//!   can write the file can make a new one, so the digest has to be kept elsewhere to prove more.

mod bundle;
mod certificate;
mod compare;
mod comparison;
mod error;
mod find;
mod matching;
mod nic;
mod objection;
mod route_row;
mod row;
mod rule_row;
mod seal;
mod side;
mod snapshot;

pub use bundle::{Answer, Bundle};
pub use certificate::{Certificate, Certified, Covered, Issue};
pub use compare::Options;
pub use comparison::{Category, Change, Comparison, Kind, NicError, Remark, RemarkKind, Status, Which};
pub use error::Error;
pub use objection::{Window, WindowError, doubts, objections};
pub use side::Side;
pub use snapshot::{Scope, Snapshot, Taken};

#[cfg(test)]
mod tests;
