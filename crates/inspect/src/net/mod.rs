//! What the inspectors share: documents as `az` prints them, prefixes, address sets, service tags and an inventory.
//!
//! Goes in: JSON text that the caller has read. Comes out: values and a warning for whatever could not be read. Never: a
//! model, a clock, a network, a file.
//!
//! *Invariants*
//! - A row that cannot be read is a warning and never hides the rest; only an unreadable whole is an error.
//! - A warning says where in the document it is, and there are only so many; the others are counted.
//! - What a document may hold is bounded: time and memory are, whatever it is made of.
//! - IPv4 and IPv6 are two spaces: `0.0.0.0/0` holds no IPv6 address, and `::/0` no IPv4 one.
//! - Sets of numbers are exact: closed ranges, sorted, disjoint and not adjacent.

mod address;
mod bounded;
mod document;
mod field;
mod inventory;
mod json_path;
mod platform;
mod ranges;
mod tags;

pub use address::{AddressSet, Family};
pub use document::{DocumentError, Placed, document, flattened, placed, rows};
pub use field::{Fields, beginning, clipped, each_text, texts};
pub use inventory::{Inventory, Nic, Owner};
pub use json_path::{JsonPath, Warning, Warnings};
pub use platform::Platform;
pub use ranges::{Ranges, is_tag, parse_prefix};
pub use tags::{Tag, Tags};
