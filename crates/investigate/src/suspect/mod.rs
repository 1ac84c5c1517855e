//! From what an inspector read to what it supports: fault codes and objects of the contract.
//!
//! Goes in: documents of the pure rooms. Comes out: suspects, each with the words that show it, and which layer of which machine was
//! looked at. Never: a model, a guess, a suspect that the document does not hold.

mod drift;
mod expected;
mod guest;
mod raw;
mod routes;
mod rules;
mod shaping;
mod storage;
mod supported;
mod wire;

pub(crate) use drift::{Ends, changed};
pub use expected::{LOW_GBPS, SAME_NETWORK_LATENCY_US, expected_gbps, is_low, is_slow};
pub(crate) use guest::{Stop, deciding, stops};
pub use raw::raw;
pub(crate) use routes::carried;
pub(crate) use rules::{denied, exposed, taken};
pub(crate) use shaping::shaped;
pub(crate) use storage::kept_out;
pub use supported::{Layer, Looked, SupportedFaults, Suspect, is_judged_by_flow};
pub(crate) use supported::{once, plain};
pub use wire::wire;
