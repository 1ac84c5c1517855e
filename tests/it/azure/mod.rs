//! The cloud on this machine, as `az` meets it.

mod builtin;
mod recorded;
