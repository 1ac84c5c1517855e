//! Running processes: their setting, their output, their end.
//!
//! Goes in: children that [`super::exec`] started. Comes out: what it printed and how it ended. Never: a start, a read of
//! this process's environment, an unbounded buffer, a signal to a process number that may have been given away.

mod cancel;
mod environment;
mod error;
mod handle;
mod output;
mod setting;
#[cfg(test)]
pub(crate) mod tests;
mod watch;

pub use cancel::{Cancel, CancelSignal};
pub use error::ExecError;
pub use output::{Output, StageRun};
pub use setting::{Limits, ProcessBound, Setting};

pub(crate) use environment::{Home, environment, kubeconfig};
pub(crate) use handle::Handle;
pub(crate) use output::Streams;
pub(crate) use watch::{PipelineLimits, ProcessEnd, Survivors, watch};
