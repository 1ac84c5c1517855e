//! The account for people.

mod connections;
mod course;
mod ends;
mod link;
mod markdown;
mod names;
mod pair;
mod path;

pub use markdown::markdown;
pub use pair::markdown_of_pair;
