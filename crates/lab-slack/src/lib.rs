//! A Slack to run against: a workspace of people, apps and channels in this process.
//!
//! Goes in: calls of the Web API, sockets, acts of people over HTTP. Comes out: what Slack would answer and deliver. Never:
//! a listener on any but the loopback address, an act on behalf of a page of another origin.
//!
//! # Invariants
//! - What happens is decided by plain functions over data (`state`); the servers carry it in and out.
//! - An event is delivered to one open connection of an app, and again until it is acknowledged or three retries are over.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod block;
mod deliver;
mod demo;
pub mod page;
mod person;
mod server;
mod state;
mod web;

pub use deliver::Timing;
pub use demo::{DemoControl, OrderError, OrderOutcome};
pub use server::{ChannelInfo, Settings, Workspace, WorkspaceError};
