//! `az network …`: groups and rules, tables and routes, networks, subnets, interfaces.

pub(super) mod effective;
pub(super) mod kind;
pub(super) mod route;
pub(super) mod rule;
pub(super) mod subnet;
