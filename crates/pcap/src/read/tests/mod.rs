//! Files of every kind: whole, cut, damaged, and in chunks.

mod chunks;
mod damage;
mod file;
mod time;
mod whole;
