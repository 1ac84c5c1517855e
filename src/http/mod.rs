//! Whether the bot lives, whether it is ready, and what it counts: `/live`, `/ready`, `/metrics`.
//!
//! Goes in: numbers and facts that other rooms note. Comes out: answers over HTTP. Never: anything secret, anything that changes.
//!
//! ```
//! use ghost_agent::http::{Judged, Vitals};
//!
//! let vitals = Vitals::default();
//! vitals.measures.command(Judged::Safe);
//! vitals.parts.check("store").ready();
//! assert!(vitals.parts.report().ready);
//! ```
//!
//! *Invariants*
//!
//! - Reasons and label values are words of this program or are reduced to a method's name, so no text from outside is served.
//! - A metric has one name, in [`TABLE`]; callers have methods and cannot misspell it.
//! - A slow client loses its connection to a newer one; it never keeps a newer one waiting. Only an answer that is held ([`Lasting`])
//!   lasts longer.

mod admission;
mod body;
mod live;
mod measure;
mod ready;
mod server;

pub use live::{Beat, Pulse};
pub use measure::{
    AlertOutcome, Answer, Arrived, Described, Direction, Judged, Kind, Measures, Outcome, SessionState,
    SocketState, TABLE, Whose,
};
pub use ready::{Check, Components, Part, Report};
pub use server::{Held, LISTEN, Lasting, LateRoutes, Patience, Routes, Vitals, listen, serve};
