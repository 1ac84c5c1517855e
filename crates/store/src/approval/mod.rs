//! Questions to humans: what is stored, and the transitions.

mod record;
#[cfg(test)]
mod tests;

pub use record::{
    Approval, ApprovalId, ApprovalRecord, ApprovalState, Choice, Consumed, Opened, Outcome, Vote,
};
