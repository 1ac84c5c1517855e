//! `az vm …`: machines, their interfaces and extensions, scripts on them.

mod detail;
mod machine;
mod script;

pub(super) use machine::COMMANDS;
