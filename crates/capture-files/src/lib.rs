//! What captures say that a task of `ghost-cloud` fetched: whether each is whole, its findings, reports and pictures beside it, and what two
//! ends of a path have in common.
//!
//! Input: files of the captures folder. Output: documents of the task, and files beside the captures that nobody else reads. The crate
//! starts no process and opens no socket; the network and the gate belong to `ghost-cloud`, packets to `ghost-pcap`.
//!
//! It stands between both so that neither needs the other: what reads packets changes without compiling what asks a cloud.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod account;
mod analyze;
mod folder;

pub use account::account;
pub use analyze::{CaptureFileError, analyze, verify};
pub use folder::CaptureFolder;
