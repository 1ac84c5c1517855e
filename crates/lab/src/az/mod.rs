//! `az` for machines that have none: the commands that incidents need, over the same requests, with the same output.
//!
//! Goes in: the words of a command line, a profile, and somebody who answers requests. Comes out: what the real one prints on both
//! streams, and its exit code. Never: a request that the real one would not send, an answer for a command that is not known, a wait
//! that the caller did not do itself.
//!
//! The path of a line: `line` (which command, which options; `table` holds them as data) → `session` (requests, tokens, retries, what
//! takes long) → `flatten` and `model` (from the platform's form to the printed one) → `output` (query, json, tsv, table).
//!
//! What it leaves out, on purpose: `yaml` output, colors, progress bars, telemetry, extensions, `--next-token`, uploads above 256 MB,
//! endpoints of clouds that are not registered. Whole numbers above 64 bits lose digits; a table of an object that `--query` picked has
//! its columns by the alphabet. It drops the fields that the lab is known to send and the real one is known to drop; a field that neither knows stays.

mod account;
mod client;
mod environment;
mod failure;
mod flatten;
mod group;
mod line;
mod model;
mod monitor;
mod network;
mod option;
mod output;
mod profile;
mod reference;
mod rest;
mod retry;
mod run;
mod session;
mod sign_in;
mod storage;
mod table;
mod update;
mod vm;
mod watcher;

pub use client::{Client, ClientError};
pub use environment::{Environment, MemoryEnvironment, Unreachable, Wire};
pub use failure::Failure;
pub use profile::Profile;
pub use run::{CommandOutput, az, run};
