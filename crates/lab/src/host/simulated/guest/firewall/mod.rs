//! A machine's packet filter: the tables of `iptables` in both backends and both families, and native tables of `nft`.

mod argument;
mod change;
mod judge;
mod module;
mod native;
mod nft;
mod print;
mod program;
mod refusal;
mod restore;
mod spec;
mod statement;
mod syntax;
mod table;
mod value;
mod view;

pub(in crate::host::simulated) use change::Command;
pub(in crate::host::simulated) use refusal::Refusal;
pub(in crate::host::simulated) use table::{Backend, Firewall, Side};
