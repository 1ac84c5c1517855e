//! Looking into running guests: scripts on a real kernel, the whole way through the lab's cloud and through a real sshd.
#![expect(clippy::indexing_slicing, reason = "a field that an answer lacks stops the test")]

mod gathered;
mod live;
mod namespaces;
mod ssh;
mod stage;
mod trouble;
