//! The file: formats, packing, records. Nothing of what is inside a frame.

mod block;
mod blocks;
mod buffer;
mod classic;
mod damage;
mod frame;
mod interface;
mod order;
mod reader;
mod source;
mod stream;
#[cfg(test)]
mod tests;

pub use frame::{Ending, Format, Frame};
pub use reader::Reader;
pub use source::Digested;
pub use stream::frames;
