//! What people write, and the flows that it means.

mod direction;
mod estate;
mod exotic;
mod parts;
mod property;
mod unnamed;

pub(super) use estate::{estate, flows, one};
