//! Signing an identity in to `az`, in a folder that nobody else uses.
//!
//! Goes in: who somebody is, and what proves it. Comes out: lines that the shell takes for the program's own. Never: a secret among the
//! words of a process, in a message or in the audit; a change to a folder of the user's own.

mod account;
mod identity;

pub use account::{Account, Credential, SignInMethod};
pub use identity::identity;
