//! A cloud: the part of Azure's resource manager that network incidents are about, so true that the real `az` works on it.
//!
//! Goes in: requests as `az` sends them, a clock, guests that answer scripts. Comes out: answers in the platform's form, and an estate
//! that remembers. Never: a socket, a certificate or a process (that is `serve`), an answer 500 to something that is merely not
//! modeled, a difference between what the estate says and what effective routes and rules say.
//!
//! The path of a request: `cloud` (faults, the token, the plane) → `arm` (which resource, which verb) → `estate` (documents), with
//! `operation` where the platform answers later. `Cloud::blob` is the path to storage, `Cloud::fabric` what the packet network reads.
//!
//! What there is not: gateways, BGP and network managers; what `allowForwardedTraffic` of a peering forbids; the prefixes of user routes
//! in the tag `VirtualNetwork`; version 6 in the tag `Internet`; regions other than `eastus` in the addresses of operations. At most
//! 10,000 operations and 10,000 events of the log are remembered.

mod access;
mod activity;
mod app_gateway;
mod arm;
mod bastion;
mod blob;
mod cloud;
mod cluster;
mod effective;
mod estate;
mod fabric;
mod fault;
mod firewall;
mod gateway;
mod health;
mod history;
mod identity;
mod job;
mod operation;
mod refusal;
mod request;
pub mod serve;
mod target;
mod watch;

pub use access::Grant;
pub use blob::{From as BlobsFrom, Role as BlobRole, signed};
pub use cloud::Cloud;
pub use estate::{Description, EstateError};
pub use fault::{Fault, Faults};
pub use history::PastChange;
pub use job::{DialJob, HealthJob, Job, ScriptJob};
pub use request::{Answer, Body, Request, Verb};
pub use watch::{CaptureDestination, CaptureTrouble, LoggedFlow, RunningCapture};
