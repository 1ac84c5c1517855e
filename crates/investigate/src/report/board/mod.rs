//! Where a session stands, at a glance.

mod draw;
mod glance;

pub use glance::{Board, Budget, Check, Current, Mark};
