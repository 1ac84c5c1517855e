//! Estates drawn by chance: what the platform shows, what it answers, what the inspectors make of it, and what the configuration says,
//! all agree.

mod check;
mod draw;
mod oracle;

pub(super) use check::post;
