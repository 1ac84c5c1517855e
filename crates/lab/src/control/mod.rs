//! The lab as one thing: a cloud, its guests, a clock, and what is done to them from outside.
//!
//! Goes in: an estate, guests, requests and orders from this machine. Comes out: a port that `az` works on, the exports that lead
//! there, and a file by which other commands find it. Never: an order without the token of that file, a folder that outlives
//! its lab for longer than until the next command.
//!
//! # Invariants
//! - Guests see a change of the estate before whoever made it is answered.
//! - Several orders in one call are done all, or none of them.
//! - What a lab has written lies beside its file and goes with it; a dead lab's is cleaned up by whoever comes next.

mod call;
mod capture;
mod folder;
mod handler;
mod job;
mod lab;
mod pairs;
mod record;
mod remote;
mod request;
mod serve;
mod setting;
mod token;

pub use folder::exported;
pub use handler::{OrderError, OrderHandler};
pub use lab::Lab;
pub use pairs::{PairError, steps};
pub use record::{Claim, Record, RecordError};
pub use remote::{Remote, RemoteError};
pub use serve::{LabError, Running, Settings};
pub use setting::LabSetting;
