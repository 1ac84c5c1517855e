//! Placeholder.

mod rca;
pub use rca::rca;
