//! An operation takes several commands; after each result it says which command comes next.
//!
//! Input: the results of its commands, and the time. Output: the next command, or the result. An operation has no effect of its own:
//! an [`OperationExecutor`] drives it, a terminal through the shell ([`ShellExecutor`], [`drive()`]), a session through its ledger.
//!
//! [`ReadOperation`] is the smallest one: a single read-only command, retried where the platform asks for it.

mod drive;
mod issue;
mod port;
mod read;
mod shell;

pub use drive::drive;
pub use issue::{CommandError, Issue, RetryPolicy, printed};
pub use port::CommandOutcome;
pub use port::OperationExecutor;
pub use port::{CommandKind, CommandRequest, Next, Operation};
pub use read::ReadOperation;
pub use shell::ShellExecutor;
