//! What Ghost runs against where there is nothing real.

pub mod workspace;
