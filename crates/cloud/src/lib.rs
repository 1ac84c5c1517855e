//! The cloud, through the `az` command line and the safety shell.
//!
//! Goes in: typed calls. Comes out: documents, or a failure with its class and what to do about it. Never: a command that did not go
//! through the shell, a document of `az … show` sent back by REST, a change that is tried twice.
//!
//! `name` checks names, `line` writes command lines (all that there are), `operation` is what takes several of them, `guest` is how a machine
//! is reached, `failure` says what a failed command means, `sign_in` how an identity gets in, `permission` what it is granted. It goes by
//! codes first, by words where `az` has none.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod capture;
mod failure;
pub mod guest;
pub mod line;
pub mod meter;
mod name;
pub mod operation;
pub mod permission;
pub mod probe;
pub mod reader;
pub mod sign_in;

pub use failure::{Failure, FailureClass, failure};
pub use name::{Account, Container, Name, NameError, ResourceGroup};
