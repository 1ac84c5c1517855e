//! Machines that are network namespaces of this machine's kernel.
mod bpf;
mod capture;
mod dial;
mod dns;
mod failure;
mod gate;
mod guest;
mod host;
mod inside;
mod journal;
mod kernel;
mod lab;
mod name;
mod operand;
mod plan;
mod program;
mod routes;
mod service;
mod shell;
mod staged;
mod sweep;
mod talk;
mod wire;

pub use host::Netns;
pub use sweep::sweep;

pub(in crate::lab::host) use name::Space;
pub(in crate::lab::host) use operand::check;
pub(in crate::lab::host) use program::Program;
