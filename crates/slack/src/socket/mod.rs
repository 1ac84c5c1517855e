//! Socket Mode: several connections, of which a new one always stands before an old one goes.
//!
//! Goes in: a handler, and where sockets are opened. Comes out: acknowledgements, when the handler says so, and counts. Never: a
//! frame that is left unread behind a farewell; an acknowledgement before the handler's; a connection that is deaf for ever.

mod backoff;
mod error;
mod link;
mod open;
mod port;
mod run;
mod settings;
mod slot;
mod task;
mod watch;

pub use error::SocketError;
pub use port::{Answer, Handler, Opener};
pub use run::Socket;
pub use settings::Settings;
pub use watch::{Counts, LATENCY, Watch};
