//! HTTP/1: first lines and hosts. Neither a path, which may hold a secret, nor a body.

mod exchange;
mod line;
mod server;

pub(super) use exchange::Exchange;
pub(super) use line::begins;
pub(crate) use server::{Server, Tally};
