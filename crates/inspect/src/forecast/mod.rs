//! What a change of the network does before anybody makes it: which flows it cuts, which it lets through, and for whom.
//!
//! Goes in: the documents that were read of an estate, and a change: a Terraform plan, what `az deployment … what-if` prints, or one
//! command. Comes out: every flow that was compared and ends otherwise, with what decides it before and after; rules that can match
//! nothing any more or are open to anybody, each with a packet; and what cannot be said. Never: a file, a process, a clock, a network.
//!
//! ```
//! use ghost_inspect::forecast::{Scope, forecast, terraform};
//!
//! let plan = terraform(r#"{"format_version": "1.2", "resource_changes": []}"#)?;
//! let result = forecast(&plan.before, &plan.edits, &Scope::default());
//! assert!(result.flows.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Invariants*
//! - An edit of something that was not read is never taken for one without effect: it is named as not judged.
//! - What a plan does not say (values known after it was applied) makes what it touches unknown, never unchanged.
//! - Each resource of a plan is judged, irrelevant by `known_types.txt` with the reason, or named as not judged; so is each of its fields.
//! - A flow is compared as the network carries it; whether somebody listens is said beside it and decides nothing.
//! - The order of resources in a plan never matters; the flows that are compared depend on the documents and the change alone.

mod account;
mod admission;
mod azapi;
mod balancer;
mod command;
mod compare;
mod documents;
mod draft;
mod edit;
mod firewall;
mod firewall_command;
mod flows;
mod guest;
mod name;
mod native;
mod plan;
mod resource;
mod routes;
mod rules;
mod script;
mod terraform;
mod terraform_balancer;
mod undo;
mod what_if;

pub use admission::{Admission, Callers};
pub use balancer::BalancerList;
pub use command::{CommandError, command};
pub use compare::{
    Confirmation, Contradiction, Difference, Forecast, Outcome, RuleNote, Verdict, applied, forecast,
};
pub use documents::PlanError;
pub use edit::{Edit, Interface, Peering, RouteRow, SecurityRule, Target, Unread};
pub use firewall::{FirewallEdit, FirewallPlace, FirewallRules};
pub use flows::Scope;
pub use plan::{Irrelevant, Plan};
pub use terraform::terraform;
pub use undo::{is_undone_later, undo, undo_read};
pub use what_if::what_if;

#[cfg(test)]
mod tests;
