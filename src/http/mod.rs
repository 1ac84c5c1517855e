//! Whether the bot lives, whether it is ready, and what it counts: `/live`, `/ready`, `/metrics`.
//!
//! Goes in: numbers and facts that other rooms note. Comes out: answers over HTTP. Never: anything secret, anything that changes.
