//! What keeps a SAFE command from changing anything.
//!
//! Goes in: the profile of a command. Comes out: a thread that can do less, in which the child is started, and an account
//! of what exactly was in force. Never: a restriction of this process's other threads, a silent gap, a started process.
//!
//! Four layers, each of which the account names: Landlock (files, execution, TCP, signals), seccomp (system calls and
//! kinds of sockets), root's capabilities, and limits (memory, files, processor time, and the number of processes through
//! a control group). A command that Landlock would keep from its work has a second filter in its stead: it changes no
//! file at all.

mod confinement;
mod files;
mod layers;
mod limits;
mod loader;
mod owners;
mod privileges;
mod scratch;
mod support;
mod syscalls;
mod table;
#[cfg(test)]
mod tests;
mod writes;

pub use confinement::Confinement;
pub use scratch::sweep;
pub use support::{Support, support};

pub(crate) use support::offered;

pub(crate) use layers::{RemainingProcesses, SandboxLayers, SandboxedChild};
pub(crate) use owners::{SocketOwners, VARIABLE as OWNERS_VARIABLE, list as list_socket_owners};
pub(crate) use scratch::Scratch;
