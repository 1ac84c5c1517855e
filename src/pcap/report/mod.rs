//! The account for people.

mod connections;
mod link;
mod markdown;
mod names;
mod pair;
mod path;
mod talk;

pub use markdown::markdown;
pub use pair::markdown_of_pair;
