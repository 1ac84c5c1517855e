//! A whole host: every backend and both families in one document.
//!
//! Goes in: a bundle, which is what each tool of a guest printed. Comes out: its rulesets, the framework with its reasons, one
//! comparison of everything, a snapshot with its digests. Never: a clean answer where a backend could not be read.

mod bundle;
mod compare;
mod detect;
mod open;
mod snapshot;
#[cfg(test)]
mod tests;
mod view;

pub use bundle::{Bundle, BundleError, SOURCES, Source};
pub use compare::{HostChange, HostDiff, diff_hosts};
pub use detect::Framework;
pub use open::{Document, open};
pub use snapshot::{About, SNAPSHOT_FORMAT, Snapshot, SnapshotError};
pub use view::{Backend, BackendAnswer, Host, HostAnswer, walk_host};
