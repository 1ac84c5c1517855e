//! Facts about the playbook, in a small world that is made up.

mod cases;
mod ends;
mod world;
