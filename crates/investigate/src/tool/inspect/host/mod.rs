//! `inspect_hosts`: the network of the machines of a session, read on the machines themselves.
//!
//! Goes in: which of them, and what one declared script printed on each. Comes out: what explains what people complain about, what seems
//! odd beside it, what was closed. Never: a machine that the session did not name; a destination that no person named; an accusation
//! without words of a machine.

mod asked;
mod inspect;
mod judge;
mod kept;
mod layers;
mod object;
mod remedy;
#[cfg(test)]
mod tests;

pub(super) use inspect::InspectHosts;
