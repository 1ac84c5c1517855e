//! TLS: who wanted to talk with whom, by which version, and how it failed. What is secret stays so.

mod certificate;
mod handshake;
mod hello;
mod record;
mod server;

pub(super) use handshake::Handshake;
pub(crate) use hello::{cipher_name, version_name};
pub(super) use record::record;
pub(crate) use record::{Alert, alert_name};
pub(crate) use server::{HandshakeEnding, TlsServer, TlsStats};
