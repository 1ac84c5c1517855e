//! A deterministic senior engineer: the model that needs no key.
//!
//! Goes in: the conversation. Comes out: the next turn, with its reason in words. Never: anything that the conversation does not hold;
//! two answers to one conversation; a fault that no tool bore out.

mod agenda;
mod app_gateway_fix;
mod bastion_fix;
mod brain;
mod changes;
mod cleanup;
mod close;
mod cluster;
mod cluster_fix;
mod conversation;
mod ends;
mod escalate;
mod findings;
mod firewall_fix;
mod fix;
mod flows;
mod gateway_fix;
mod guest_fix;
mod host;
mod incident;
mod name_fix;
mod outbound_fix;
mod planned_call;
mod platform_fix;
mod service_fix;
mod settle;
mod summary;
mod talk;
#[cfg(test)]
mod tests;
mod turn;
mod unknown;

pub(crate) use agenda::hypothesis as hypothesis_of;
pub use brain::Playbook;
pub use ends::{Ends, ends};
pub use talk::answer as answer_to_topic;
pub use turn::{Turn, next};
