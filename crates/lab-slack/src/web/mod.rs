//! What apps call: the Web API, the addresses of uploads and answers, and the sockets.

mod arguments;
mod call;
mod file;
mod upgrade;

pub(super) use call::call;
pub(super) use file::{bytes, private_download, private_file, upload};
pub(super) use upgrade::{hook, link};
