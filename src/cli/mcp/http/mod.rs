//! Streamable HTTP: `ghost mcp --listen`, and `/mcp` of the bot.
//!
//! Goes in: requests that prove who sends them. Comes out: the same tools, for each client from folders and a store of its own. Never: a
//! client that sees another one's sessions, files or captures; a page in a browser that speaks to it; a request that Slack signed and
//! that counts twice; an address that other machines reach and that believes anybody.

mod access;
mod client;
mod limit;
mod route;
mod serve;
mod token;

pub(in crate::cli) use access::SlackIdentity;
pub(super) use serve::listen;
pub(in crate::cli) use serve::{McpRoute, Options};
