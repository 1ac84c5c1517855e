//! From what an inspector read to what it bears out: fault codes and objects of the contract.
//!
//! Goes in: documents of the pure rooms. Comes out: suspects, each with the words that show it, and which layer of which machine was
//! looked at. Never: a model, a guess, a suspect that the document does not hold.

mod borne;
mod drift;
mod expected;
mod guest;
mod name;
mod raw;
mod routes;
mod rules;
mod shaping;
mod storage;
mod wire;

pub(in crate::agent) use borne::once;
pub use borne::{Borne, Layer, Looked, Suspect};
pub(in crate::agent) use drift::{Ends, changed};
pub use expected::{LOW_GBPS, SAME_NETWORK_LATENCY_US, expected_gbps, is_low, is_slow};
pub(in crate::agent) use guest::{Stop, deciding, stops};
pub(in crate::agent) use name::plain;
pub use raw::raw;
pub(in crate::agent) use routes::carried;
pub(in crate::agent) use rules::{denied, exposed, taken};
pub(in crate::agent) use shaping::shaped;
pub(in crate::agent) use storage::kept_out;
pub use wire::wire;
