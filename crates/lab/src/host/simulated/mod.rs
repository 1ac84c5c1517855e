//! Machines that are a deterministic model.
//!
//! Goes in: fabric, stage, scripts, a seed, the lab's clock. Comes out: text that a real machine prints, and captures; every number
//! follows from the model of the path. Never: a process, a wait, a result that differs between two runs of one seed.
//!
//! `world` is everything; `guest` a machine from inside (firewall, qdiscs, routes, packages, files); `wire` what happens to packets
//! between two guests; `command` what a script can call.

mod command;
mod guest;
mod host;
#[cfg(test)]
mod tests;
mod wire;
mod world;

pub use host::Simulated;
