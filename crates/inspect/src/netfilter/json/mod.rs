//! JSON that takes little room: equal texts and equal small objects are kept once.
//!
//! Goes in: a document, of which one part after another is handed on. Comes out: values. Never: the whole document at once.

mod read;
mod share;
mod value;

pub(super) use read::each;
pub use value::{Object, Value};
