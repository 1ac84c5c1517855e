//! How a running guest is reached: by the platform's run-command, or by ssh.
//!
//! Goes in: a machine of the cloud, or a host that the configuration or the person at the terminal names. Comes out: orders for
//! declared scripts, which only read, and for lines that change something, which ask; and what the guest printed. Never: an option
//! of ssh that somebody else chose, a host whose key is not known, a forwarded agent or port.

mod printed;
mod reach;
mod refused;
mod ssh;

pub use printed::{PrintedError, printed};
pub use reach::Reach;
pub(super) use refused::refused;
pub use ssh::{Hop, HopError, Identity, Ssh};
