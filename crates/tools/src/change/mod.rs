//! `ghost change`: what a change of the network does before anybody makes it.
//!
//! Goes in: a plan of Terraform's, a forecast of the resource manager's, or one command; and an estate: a bundle, a resource group, or
//! what the plan itself knows. Comes out: the flows that end otherwise and the rules that are dead or open. Never: a change of
//! anything, "no difference" where something was not read.

mod command;
mod estate;
mod show;

pub use command::{Arguments, run};
