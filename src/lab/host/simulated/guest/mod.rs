//! A machine from inside: what it does with packets, and what scripts find and change.

mod firewall;
mod machine;
mod route;
mod shaper;

pub(in crate::lab::host::simulated) use firewall::{Backend, Command, Refusal, Side};
pub(in crate::lab::host) use machine::{Fate, Guest, Process, Shaping};
pub(in crate::lab::host) use route::Route;
pub(in crate::lab::host::simulated) use shaper::Form;
