//! More than one machine: real processes on one Redis, before one workspace, some of which are killed.

mod alerts;
mod backend;
mod brain;
mod crash;
mod failover;
mod held;
mod hook;
mod people;
mod proof;
mod stage;
mod stopped;
