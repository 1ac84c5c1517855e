//! The file: formats, packing, records. Nothing of what is inside a frame.

mod block;
mod classic;
mod damage;
mod frame;
mod interface;
mod reader;
mod source;
#[cfg(test)]
mod tests;

pub use frame::{Format, Frame, ReadSummary};
pub use reader::Reader;
pub use reader::frames;
pub use source::HashingReader;
