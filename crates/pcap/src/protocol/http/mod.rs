//! HTTP/1: first lines and hosts. Neither a path, which may hold a secret, nor a body.

mod exchange;
mod server;
mod start_line;

pub(super) use exchange::Exchange;
pub(crate) use server::{HttpServer, HttpStats};
pub(super) use start_line::begins;
