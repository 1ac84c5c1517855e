//! As whom commands run: one identity reads, another one acts.
//!
//! Goes in: a name, a folder, a sign-in. Comes out: what a command of that identity sees. Never: the acting one for a command that
//! nobody approved, or a sign-in that does more than sign in.

mod command;
mod pair;

pub use command::IdentityCommand;
pub(crate) use command::is_guid;
pub use pair::{Identities, Identity, SignIn, SignInError, SignInStep};
