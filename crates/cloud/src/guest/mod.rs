//! How a running guest is reached: by the platform's run-command, or by ssh; and any Linux machine: here, or by ssh.
//!
//! Goes in: a machine of the cloud, or a host that the configuration or the person at the terminal names. Comes out: orders for
//! declared scripts, which only read, and for lines that change something, which ask; and what the guest printed. Never: an option
//! of ssh that somebody else chose, a host whose key is not known, a forwarded agent or port.

mod access;
mod host;
mod output;
mod ssh;

pub use access::GuestAccess;
pub use host::HostAccess;
pub(super) use output::refused;
pub use output::{PrintedError, printed};
pub use ssh::{Hop, HopError, Identity, Ssh};
