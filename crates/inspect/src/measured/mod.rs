//! An own measurement outranks what was computed: the rules for every judge, in one place.
//!
//! Goes in: what documents say of a flow, and what came of trying it. Comes out: which of the two holds, and whether they contradict one
//! another. Never: a headline that a flow passes that was tried and was not reached; a cause that is certain for a flow that was reached.
//!
//! ```
//! use ghost_inspect::measured::{Computed, Measured, Weighed, weigh};
//!
//! assert_eq!(weigh(Computed::Passes, Some(Measured::NotReached)), Weighed::FailsUnexplained);
//! assert_eq!(weigh(Computed::Stopped, Some(Measured::Reached)), Weighed::PassesAnyway);
//! ```

mod probe;
mod unjudged;
mod weigh;

pub use probe::{Handshake, Probe, read};
pub use unjudged::unjudged;
pub use weigh::{Computed, Measured, Weighed, weigh};
