//! The port to whoever thinks, and who stands behind it.
//!
//! Goes in: a conversation and the tools that may be called. Comes out: a turn, with what it cost. Never: a decision about
//! what may run, what is proven or when it is over; a key in a log; a request to a host that the configuration does not name.

pub mod anthropic;
mod call;
mod fallback;
pub mod gemini;
pub mod openai;
mod port;
mod price;
mod scripted;
mod step;
mod wire;

pub use fallback::Fallback;
pub use port::{
    Answer, Ask, Call, Carry, Investigator, Listener, Message, Model, ModelError, Silent, Stop, ToolResult,
    ToolSpec, Usage,
};
pub use price::{Cost, Price, PriceError, Prices};
pub use scripted::{Scripted, ScriptedError};
pub use wire::{BuildError, Egress, Retries, Timeouts};
