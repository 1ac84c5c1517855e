//! Facts about judging one flow.

mod app_gateway;
mod balancer;
mod bastion;
mod cluster;
mod documents;
pub(crate) mod draft;
mod egress;
mod facts;
pub(crate) mod firewall;
mod flow_log;
mod gateway;
mod health;
mod naming;
mod object;
mod peering;
mod property;
mod remedy;
mod route;
mod tried;
mod walked;
mod withheld;
