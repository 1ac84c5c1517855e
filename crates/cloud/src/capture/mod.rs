//! Packet captures of the platform, from the first look at a machine to the removal of what was left in the cloud.
//!
//! Goes in: a checked order, answers of `az`. Comes out: the next command, files in the captures folder, and a task that knows at any
//! moment what of ours is in the cloud. Never: a capture that is begun twice, something removed that is not ours, a task called done
//! while anything of it is left.
//!
//! A terminal drives a task with [`drive()`]. Whoever has a ledger of its own replays it instead: a fresh [`CaptureTask`], and for every command
//! that ran [`CaptureTask::begin`] and [`CaptureTask::on_result`] at its time; [`CaptureTask::next`] then says what comes.
//!
//! # Invariants
//! - [`CaptureTask`] is the whole truth: it is kept before every effect, and goes on from there after any end of the program.
//! - A command that was in progress when the process ended is resolved by a read, never by running it again.
//! - What was removed is looked for once more; only a read says that it is gone.
//! - The storage account comes from the configuration or from a person, and is never the account under investigation.

mod check;
mod clean;
mod document;
mod drive;
mod filter;
mod name;
mod next;
mod orphan;
mod progress;
mod request;
mod result;
mod search;
mod state;
mod step;
mod store;
mod target;
mod task;
#[cfg(test)]
mod tests;
mod text;

pub use crate::operation::{CommandOutcome, Issue};
pub use document::{ListedCapture, Location};
pub use drive::CaptureShell;
pub use drive::{CaptureExecutor, DriveError, Ended, FileProblem, Instruction, SaveError, drive};
pub use filter::{Filter, FilterError};
pub use name::{Origin, Role};
pub use orphan::{Life, Orphan, Ownership, judge};
pub use request::{CaptureRequest, CaptureRequestError, Group, Limits, SNAPLEN, Storage};
pub use search::{FoundOrphan, Search, left_over, search};
pub use state::State;
pub use step::{AnalysisJob, CaptureStep, NextStep, StepKind};
pub use store::{StoreError, TaskLock, TaskStore};
pub use target::{CaptureTarget, Check, CloudObject, Left, Phase, Removal, Stop};
pub use task::{Analysis, CaptureTask, RequestedState, TaskError};
