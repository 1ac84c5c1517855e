//! Looking into running guests: scripts on a real kernel, the whole way through the lab's cloud and through a real sshd.
#![expect(clippy::indexing_slicing, reason = "a field that an answer lacks stops the test")]

mod gathered;
#[cfg(all(feature = "cli", feature = "lab"))]
mod live;
#[cfg(all(feature = "cli", feature = "lab"))]
mod namespaces;
#[cfg(feature = "cli")]
mod ssh;
#[cfg(all(feature = "cli", feature = "lab"))]
mod stage;
#[cfg(all(feature = "cli", feature = "lab"))]
mod trouble;
