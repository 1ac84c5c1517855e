//! What a script can call on a machine, the network's own programs apart.

mod call;
mod shell;

pub(in crate::lab::host) use shell::Shell;
