//! What people write, and the flows that it means.

mod direction;
mod estate;
mod exotic;
mod parts;
mod property;
mod sentences;
mod several;
mod strangers;
mod unnamed;
mod written;

pub(super) use estate::{estate, flows, one};
