//! A Slack to run against: a workspace of people, apps and channels in this process.
//!
//! Goes in: calls of the Web API, sockets, acts of people over HTTP. Comes out: what Slack would answer and deliver. Never:
//! a listener on any but the loopback address, an act on behalf of a page of another origin.

mod state;
