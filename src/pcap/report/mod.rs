//! The account for people.

mod markdown;
mod pair;

pub use markdown::markdown;
pub use pair::markdown_of_pair;
