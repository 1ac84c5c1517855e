//! The cloud on a port: resource manager, sign-in and blobs behind a certificate of its own, and a proxy that lets nothing else out.
//!
//! Goes in: connections from this machine. Comes out: answers of whoever keeps the cloud. Never: a listener on any but the
//! loopback address, a connection to anybody, a body without a limit.
//!
//! The first byte of a connection tells TLS from plain HTTP. Over plain HTTP come the proxy's calls (`CONNECT`, and whole
//! addresses), a machine's identity, blobs in path style, and the settings of the lab itself. `destination` decides which service a
//! request is for; every host that is none of the cloud's is refused and noted.

mod authority;
mod destination;
mod listener;
mod message;

pub use authority::{Authority, CertificateError};
pub use destination::{Connection, Destination, Service};
pub use listener::serve;
pub use listener::{RequestHandler, ServedRequest};
