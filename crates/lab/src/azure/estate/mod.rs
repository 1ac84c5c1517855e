//! Everything that is there: documents by identifier, children inside their parents, references that agree in both directions.
//!
//! Goes in: documents in the resource manager's form. Comes out: the same, in their order, with a new tag after every change. Never:
//! a reference from one side alone, two documents with the same identifier.

mod complete;
mod documents;
mod file;
mod links;

pub(super) use documents::Estate;
pub use file::{Description, EstateError};
