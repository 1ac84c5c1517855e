//! How long one classification takes.

fn main() {}
