//! `ghost mcp`: the tools of this program for agents that speak the Model Context Protocol.
//!
//! Goes in: one client's requests, a line each, on standard input. Comes out: the protocol's lines on standard output, and nothing else
//! there. Never: consent that comes from the client, a file outside of the folders that are shared, a result that is not fenced as data,
//! a tool that says of itself what the policy does not.

mod answer;
mod approval;
mod call;
mod command;
mod hint;
mod http;
mod investigation;
mod job;
mod message;
mod prompt;
mod resource;
mod schema;
mod server;
mod shorten;
mod source;
#[cfg(test)]
mod tests;
mod tool;
mod workplace;

pub(in crate::cli) use approval::Approvals;
pub(in crate::cli) use command::{Arguments, run};
pub(in crate::cli) use http::{McpRoute, Options, SlackIdentity};
pub(in crate::cli) use workplace::Brain;
