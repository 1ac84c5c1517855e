//! The command line: one file per subcommand.
//!
//! Goes in: arguments, standard input. Comes out: one document or a text on standard output, errors on standard error,
//! an exit code as in the contracts. Never: anything but that document on standard output under `--json`.

mod audit;
mod bot;
mod capture;
mod change;
mod changes;
mod cluster;
mod config;
mod consent;
#[cfg(feature = "lab")]
mod demo;
#[cfg(test)]
#[path = "../../tests/it/project/document.rs"]
mod document;
#[cfg(test)]
mod documented;
mod effective;
mod engine;
mod export;
mod files;
mod flows;
mod guest;
mod hook;
mod host;
mod identity;
mod init;
mod input;
mod inventory;
mod investigate;
mod knowledge;
#[cfg(feature = "lab")]
mod lab;
mod list;
mod live;
mod log;
mod man;
mod mcp;
mod meter;
mod moment;
mod name;
mod netfilter;
mod nsg;
mod outside;
mod page;
mod path;
mod pcap;
mod playbook;
mod print;
mod qdisc;
mod reader;
mod replay;
mod root;
mod route;
mod runbooks;
mod sessions;
mod setup;
mod shell;
mod subscriptions;
mod sweep;
mod tone;
mod topology;
mod wait;

pub(crate) use root::main;
