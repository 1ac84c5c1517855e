//! TLS: who wanted to talk with whom, by which version, and how it failed. What is secret stays so.

mod alert;
mod certificate;
mod hello;
mod record;
mod server;
mod shake;

pub(crate) use alert::{Alert, alert_name};
pub(crate) use hello::{cipher_name, version_name};
pub(super) use record::record;
pub(crate) use server::{Ending, Server, Tally};
pub(super) use shake::Shake;
