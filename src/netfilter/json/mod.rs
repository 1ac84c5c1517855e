//! JSON that takes little room: equal texts are kept once, objects are as large as what is in them.
//!
//! Goes in: a document, of which one part after another is handed on. Comes out: values. Never: the whole document at once.

mod read;
mod value;

pub(super) use read::each;
pub use value::{Object, Text, Value};
