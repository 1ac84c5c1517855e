//! Small networks of real machines of this kernel: namespaces, virtual cables, real daemons; faults put into them for real.
//!
//! Goes in: a topology, a draw of its addresses, faults of the catalogue. Comes out: what `ghost host` gathers inside of each machine, the
//! pairs of object and fault that are right. Never: a fault that is only played, a namespace, process or file that is not this lab's,
//! something left behind when it is dropped or, after a crash, when the next one begins.

mod catalogue;
mod daemon;
mod dhcp;
mod draw;
mod frr;
mod healthy;
mod place;
mod score;
mod ssh;
mod topology;
mod trace;
mod trial;

pub use catalogue::FAULTS;
pub use draw::Draw;
pub use healthy::HEALTHY;
pub use place::Net;
pub use score::{Board, Outcome};
pub use ssh::SshAccess;
pub use topology::{Spec, Topology};
pub use trace::{Trace, take_service_name};
pub use trial::{Session, Trial, pick, run};
