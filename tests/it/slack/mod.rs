//! The Slack room against the local workspace: sockets, calls, signed requests.

mod fatal;
mod secure;
mod signed;
mod socket;
mod stage;
mod trouble;
mod web;
