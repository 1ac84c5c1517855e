//! Steps over a lab, and back.
//!
//! Goes in: a case, a lab (`LabAccess`), a data folder. Comes out: the case injected, looked at, or gone without a trace. Never: a step
//! that the journal does not know of, half a case.
//!
//! Before the first step the lab is remembered as a whole, and the journal says what is about to be done and which files will be
//! written. A step that fails, a caller that goes away, a process that dies: whoever comes next finds the journal and makes
//! everything as it was. The guests and the estate of a dead lab went with it; what is left of it on the disk is in the journal.

mod access;
mod baseline;
mod check;
mod error;
mod inject;
mod journal;
mod perform;

pub use access::{LabAccess, SnapshotAction};
pub use check::{CaptureAccount, CheckResult, check};
pub use error::InjectError;
pub use inject::{ActiveCase, Injected, active_case, clean, inject, reset};
