//! Alerts that other programs post in a channel, recognized by the forms in `forms.toml`.
//!
//! Goes in: the name under which a program posts, its words, the addresses that they link to. Comes out: whether the alert fires, is
//! acknowledged or is over, its title, and what names it, so that all messages about one alert are one. Never: anything from words
//! of a person, which have no such form.

mod form;
mod pattern;
mod read;
#[cfg(test)]
mod tests;
mod topic;

pub use read::{Posted, PostedStatus, posted};
pub use topic::not_of_network;
