//! A deterministic senior engineer: the model that needs no key.
//!
//! Goes in: the conversation. Comes out: the next turn, with its reason in words. Never: anything that the conversation does not hold;
//! two answers to one conversation; a fault that no tool bore out.

mod agenda;
mod brain;
mod close;
mod ends;
mod escalate;
mod fix;
mod flows;
mod ground;
mod guest_fix;
mod look;
mod pick;
mod settle;
mod story;
mod talk;
mod tell;
#[cfg(test)]
mod tests;
mod tidy;
mod turn;

pub use brain::Playbook;
pub use ends::{Ends, ends};
pub use turn::{Turn, next};
