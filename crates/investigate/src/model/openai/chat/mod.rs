//! The Chat Completions interface, which most servers speak, each a little differently.

pub(super) mod decode;
pub(super) mod encode;
