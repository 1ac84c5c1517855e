//! Text tools: what scripts do with what other programs print.

mod file;
mod grep;
mod lines;
mod options;
mod pack;
mod sed;
mod table;
mod text;
mod time;

pub(super) use table::find;
