//! The file: formats, packing, records. Nothing of what is inside a frame.

mod frame;
mod interface;
mod source;
mod stream;
#[cfg(test)]
mod tests;

pub use frame::{Ending, Format, Frame};
pub use source::Digested;
pub use stream::frames;
