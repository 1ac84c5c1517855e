//! What the inspectors share: documents as `az` prints them, prefixes, address sets, service tags and an inventory.
//!
//! Goes in: JSON text that the caller has read. Comes out: values and a warning for whatever could not be read. Never: a
//! model, a clock, a network, a file.
//!
//! *Invariants*
//! - A row that cannot be read is a warning and never hides the rest; only an unreadable whole is an error.
//! - IPv4 and IPv6 are two spaces: `0.0.0.0/0` holds no IPv6 address, and `::/0` no IPv4 one.
//! - Sets of numbers are exact: closed ranges, sorted, disjoint and not adjacent.

mod address;
mod document;
mod field;
mod inventory;
mod prefix;
mod ranges;
mod tags;

pub use address::{AddressSet, Family};
pub use document::{DocumentError, Warning, document, rows};
pub use field::{Fields, texts};
pub use inventory::{Inventory, Nic};
pub use prefix::{is_tag, parse_prefix};
pub use ranges::Ranges;
pub use tags::Tags;
