//! `ghost mcp` as clients meet it: a process that speaks the protocol on standard input and output.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

mod approval;
mod consent;
mod foreign;
mod gate;
mod hostile;
mod http;
mod inspector;
mod investigate;
mod resource;
mod schema;
mod talk;
mod tenant;
mod tools;
mod web;
