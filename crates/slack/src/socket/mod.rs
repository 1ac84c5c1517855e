//! Socket Mode: several connections, of which a new one always stands before an old one goes.
//!
//! Goes in: a handler, and where sockets are opened. Comes out: acknowledgements, when the handler says so, and counts. Never: a
//! frame that is left unread behind a farewell; an acknowledgement before the handler's; a connection that is deaf for ever.

mod error;
mod link;
mod open;
mod run;
mod slot;
mod task;
mod watch;

pub use error::SocketError;
pub use run::{Answer, Handler, Opener, Settings, Socket};
pub use watch::{Counts, LATENCY, Watch};
