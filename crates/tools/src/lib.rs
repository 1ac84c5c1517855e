//! The command lines of the tools that inspect, measure and judge, and what all subcommands have in common: the configuration, the setup
//! that is made of it, options, input, output.
//!
//! Goes in: arguments, the configuration, standard input, what `az` or a machine answers. Comes out: one document or a text on standard
//! output, errors on standard error, an exit code as in the contracts. Never: anything but that document on standard output under
//! `--json`; a session that is driven; a message to Slack.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod change;
pub mod changes;
pub mod cluster;
pub mod config;
pub mod consent;
pub mod effective;
pub mod flows;
pub mod global;
pub mod guest;
pub mod hook;
pub mod host;
pub mod identity;
pub mod input;
pub mod inventory;
pub mod json;
pub mod knowledge;
pub mod list;
pub mod live;
pub mod log;
pub mod meter;
pub mod moment;
pub mod name;
pub mod netfilter;
pub mod nsg;
pub mod page;
pub mod path;
pub mod playbook;
pub mod print;
pub mod qdisc;
pub mod reach;
pub mod reader;
pub mod route;
pub mod runbooks;
pub mod sessions;
pub mod setup;
pub mod shell;
pub mod subscriptions;
pub mod sweep;
pub mod tone;
pub mod topology;
pub mod wait;
