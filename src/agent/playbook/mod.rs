//! A deterministic senior engineer: the model that needs no key.
//!
//! Goes in: the conversation. Comes out: the next turn, with its reason in words. Never: anything that the conversation does not hold;
//! two answers to one conversation.

mod brain;

pub use brain::Playbook;
