//! Captures through the whole shell: what is asked, what runs, what lies in the folders and in the cloud afterwards.
#![expect(clippy::indexing_slicing, reason = "a field that an answer lacks stops the test")]

mod dead;
mod executor;
mod life;
mod orphaned;
mod process;
mod stage;
mod through_the_shell;
mod trouble;
