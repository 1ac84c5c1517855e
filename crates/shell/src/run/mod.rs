//! Who carries out what is permitted: this machine, or a list of recordings.
//!
//! Goes in: a permit, which is used up. Comes out: what was printed and how it ended. Never: a run without the gate: whoever
//! runs sees a command only behind judgement, consent and the record of the intent.

mod port;
mod recorded;

pub use port::{Processes, Runner};
pub use recorded::{Recorded, Recording, RecordingError};
