//! The cloud on this machine, as `az` meets it.

mod recorded;
