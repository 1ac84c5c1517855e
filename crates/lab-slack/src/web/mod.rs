//! What apps call: the Web API, the addresses of uploads and answers, and the door to the sockets.

mod answer;
mod arguments;
mod call;
mod door;
mod file;

pub(super) use call::call;
pub(super) use door::{hook, link};
pub(super) use file::{bytes, private_download, private_file, upload};
