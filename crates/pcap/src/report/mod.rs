//! The account for people.

mod connections;
mod course;
mod ends;
mod escape;
mod evidence;
mod glance;
mod link;
mod markdown;
mod names;
mod next;
mod number;
mod pair;
mod path;
mod talk;

pub use markdown::markdown;
#[cfg(feature = "plot")]
pub(super) use number::whole;
pub use pair::markdown_of_pair;
