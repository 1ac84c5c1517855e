//! Measuring between two machines of the lab, through the shell: simulated ones and real namespaces, the built-in `az` and the real one.

mod cases;
mod killed;
mod namespaces;
mod over_ssh;
pub(crate) mod place;
mod terminal;
