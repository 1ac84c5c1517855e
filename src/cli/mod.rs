//! The root of the command line, and the subcommands that drive sessions, reach Slack, read captures or run the lab; the others
//! are in `ghost-tools`.
//!
//! Goes in: arguments, standard input. Comes out: one document or a text on standard output, errors on standard error,
//! an exit code as in the contracts. Never: anything but that document on standard output under `--json`.

mod ask;
mod audit;
mod bot;
mod capture;
mod config;
#[cfg(feature = "lab")]
mod demo;
#[cfg(test)]
#[path = "../../tests/it/project/document.rs"]
mod document;
#[cfg(test)]
mod documented;
mod engine;
mod export;
mod files;
mod init;
mod investigate;
#[cfg(feature = "lab")]
mod lab;
mod man;
mod mcp;
mod pcap;
mod replay;
mod root;

pub(crate) use root::main;
