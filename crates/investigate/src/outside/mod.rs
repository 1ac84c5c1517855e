//! Requests from outside: an agent that no session drives wants to do something, and a human is asked.
//!
//! Goes in: the state of a session that was opened for one request. Comes out: the next effect, and where the request stands. Never: an
//! effect that runs the command; a consent that is used twice, or for another text; a request that opens what the policy here blocks.

mod next;
mod standing;
#[cfg(test)]
mod tests;

pub(crate) use next::next;
pub use next::{PROVIDER, offered_until};
pub use standing::{Granted, Standing, standing};
