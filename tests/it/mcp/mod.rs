//! `ghost mcp` as clients meet it: a process that speaks the protocol on standard input and output.

mod foreign;
mod gate;
mod hostile;
mod schema;
mod talk;
mod tools;
