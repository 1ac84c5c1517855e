//! Placeholder.

mod system;
pub use system::{Setting, system};
