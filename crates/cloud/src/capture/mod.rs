//! Packet captures of the platform, from the first look at a machine to the removal of what was left in the cloud.
//!
//! Goes in: a checked order, answers of `az`. Comes out: the next command, files in the captures folder, and a task that knows at any
//! moment what of ours is in the cloud. Never: a capture that is begun twice, something removed that is not ours, a task called done
//! while anything of it is left.
//!
//! A terminal drives a task with [`drive()`]. Whoever has a ledger of its own replays it instead: a fresh [`Task`], and for every command
//! that ran [`Task::begin`] and [`Task::heard`] at its time; [`Task::next`] then says what comes.
//!
//! # Invariants
//! - [`Task`] is the whole truth: it is kept before every effect, and goes on from there after any end of the program.
//! - A command that was under way when nobody looked any more is resolved by a read, never by running it again.
//! - What was removed is looked for once more; only a read says that it is gone.
//! - The storage account comes from the configuration or from a person, and is never the account under investigation.

mod analyze;
mod check;
mod clean;
mod course;
mod document;
mod drive;
mod end;
mod filter;
mod gate;
mod heard;
mod name;
mod next;
mod order;
mod orphan;
mod search;
mod state;
mod step;
mod store;
mod task;
#[cfg(test)]
mod tests;
mod text;

pub use crate::errand::{Answer, Trouble};
pub use analyze::{analyze, verify};
pub use document::{Listed, Location};
pub use drive::{DriveError, Ended, Hands, Word, drive};
pub use end::{Check, End, Left, Phase, Removal, Stop, Thing};
pub use filter::{Filter, FilterError};
pub use gate::Gate;
pub use name::{Origin, Role};
pub use order::{Group, Limits, Order, OrderError, SNAPLEN, Storage};
pub use orphan::{Life, Orphan, Whose, judge};
pub use search::{Found, Search, left_over, search};
pub use state::State;
pub use step::{Next, Step, What, Work};
pub use store::{Held, Store, StoreError};
pub use task::{Analysis, Task, TaskError, Wish};
