//! The page on which a person uses the workspace: a few small files that a browser runs as they are.
//!
//! Goes in: the path of a request. Comes out: the file with its type, from inside the program. Never: a file from the disk,
//! an asset of another host. The page shows everything through text nodes; [`CONTENT_SECURITY_POLICY`] lets nothing run that
//! did not come from here, even if it did not.

mod asset;

pub use asset::{Asset, CONTENT_SECURITY_POLICY, asset};
