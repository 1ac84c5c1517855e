//! What a script can call on a machine, the network's own programs apart.

mod call;
mod file;
mod iptables;
mod link;
mod nft;
mod package;
mod route;
mod shell;
mod socket;
mod system;
mod tc;
mod unit;

pub(in crate::host) use shell::Shell;
