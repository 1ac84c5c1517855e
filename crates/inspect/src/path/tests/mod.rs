//! Facts about judging one flow.

mod balancer;
mod documents;
pub(crate) mod draft;
mod egress;
mod facts;
mod naming;
mod object;
mod peering;
mod property;
mod remedy;
mod route;
