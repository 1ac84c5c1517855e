//! Questions to humans: what is stored, and the one way it changes.

mod record;
mod step;
#[cfg(test)]
mod tests;
mod text;

pub use record::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Choice, Consumed, Opened, Outcome, Vote,
};
