//! The cloud on this machine, as `az` meets it.

mod builtin;
mod call;
mod essential;
mod real_az;
mod recorded;
mod stage;
