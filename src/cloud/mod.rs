//! The cloud, through the `az` command line and the safety shell.
//!
//! Goes in: typed calls. Comes out: documents, or a failure with its class and what to do about it. Never: a command that did not go
//! through the shell, a document of `az … show` sent back by REST, a change that is tried twice.
//!
//! `name` checks names, `line` writes command lines (all that there are), `failure` says what a failed command means. It goes by codes first, by words where `az` has none.

mod failure;
pub mod line;
mod name;

pub use failure::{Class, Failure, failure};
pub use name::{Account, Container, Name, NameError, Place};
