//! The Responses interface: items go in and come out.

pub(super) mod decode;
pub(super) mod encode;
