//! Captures through the whole shell: what is asked, what runs, what lies in the folders and in the cloud afterwards.
#![expect(clippy::indexing_slicing, reason = "a field that an answer lacks stops the test")]

#[cfg(all(feature = "cli", feature = "lab"))]
mod dead;
#[cfg(all(feature = "cli", feature = "lab"))]
mod desk;
#[cfg(all(feature = "cli", feature = "lab"))]
mod life;
#[cfg(all(feature = "cli", feature = "lab"))]
mod orphaned;
#[cfg(all(feature = "cli", feature = "lab"))]
mod process;
#[cfg(all(feature = "cli", feature = "lab"))]
mod stage;
mod through_the_shell;
#[cfg(all(feature = "cli", feature = "lab"))]
mod trouble;
