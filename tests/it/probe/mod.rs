//! Looking into running guests: scripts on a real kernel, through the lab's whole cloud and through a real sshd.
#![expect(clippy::indexing_slicing, reason = "a field that an answer lacks stops the test")]

mod forecast;
mod gathered;
mod live;
mod namespaces;
mod ssh;
mod stage;
mod trouble;
