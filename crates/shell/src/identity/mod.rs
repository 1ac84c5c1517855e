//! As whom commands run: one identity reads, another one acts.
//!
//! Goes in: a name, a folder, a way in. Comes out: what a command of that identity sees. Never: the acting one for a command that
//! nobody approved, or a way in that is more than a sign-in.

mod errand;
mod pair;

pub use errand::Errand;
pub use pair::{Identities, Identity, SignIn, Step};
