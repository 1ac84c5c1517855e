//! What was changed in a cloud, by whom, and which change made what is at fault.
//!
//! Goes in: an activity log as `az monitor activity-log list` prints it, faults with their objects, and the time of the first
//! failure. Comes out: changes with who, when, what and whether they succeeded; per fault the change that made it, or why there is
//! none; and for every other change why it is not blamed. Never: a clock, a file, a network.
//!
//! ```
//! use ghost_inspect::changes::{Log, Question, Subject, moment};
//!
//! let log = Log::parse(r#"[{"eventTimestamp": "2026-11-24T02:13:00Z", "status": "Succeeded", "caller": "deploy-pipeline",
//!     "operationName": "Microsoft.Network/networkSecurityGroups/securityRules/write",
//!     "resourceId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/a/securityRules/r"}]"#)?;
//! let subject = Subject::of_fault("nsg_deny", "nsg/a/r");
//! let question = Question { first_failure: moment("2026-11-24T02:17:00Z"), ..Question::default() };
//! assert_eq!(log.attribute(&[subject], &question).origins[0].made_by(), Some(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Invariants*
//! - A change that failed, did not end, or began after the first failure is never blamed.
//! - The order of the rows never matters, nor do rows that stand there twice.
//! - Nearness in time alone blames nothing: a change is blamed for an object that it touched.
//! - A log that is cut or not whole is read as far as it goes, and says that it is not whole.

mod attribute;
mod change;
mod event;
mod moment;
mod report;
mod resource;
mod rows;
mod subject;
mod words;

pub use attribute::{Attributed, NoEntry, Origin, Possible, Question, Unconnected};
pub use change::{Action, Caller, CallerKind, Change, Log, Status};
pub use moment::moment;
pub use report::{ReportedChange, ReportedOrigin};
pub use resource::Resource;
pub use subject::Subject;
pub use words::{Reference, duration};

#[cfg(test)]
mod tests;
