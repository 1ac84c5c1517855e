//! What apps call: the Web API, the addresses of uploads and answers, and the sockets.

mod arguments;
mod call;
mod file;

pub(super) use call::call;
pub(super) use file::{bytes, hook, link, private_download, private_file, upload};
