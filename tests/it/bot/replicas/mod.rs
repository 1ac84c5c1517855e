//! More than one machine: real processes on one Redis, before one workspace, some of which are killed.

mod alerts;
mod backend;
mod brain;
mod checker;
mod crash;
mod failover;
mod held;
mod hook;
mod moved;
mod people;
mod proof;
mod stage;
mod stopped;
