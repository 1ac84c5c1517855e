//! Files of every kind: whole, cut, damaged, and in pieces.

mod damage;
mod file;
mod pieces;
mod time;
mod whole;
