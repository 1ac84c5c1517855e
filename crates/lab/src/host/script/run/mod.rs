//! The shell at work.

mod builtin;
mod compound;
mod expand;
mod fields;
mod redirect;
mod shell;
mod simple;
mod test;
mod variable;
mod wrapper;

pub(super) use shell::{Flow, Io, Shell};
pub(in crate::host) use wrapper::duration;
