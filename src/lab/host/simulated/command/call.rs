//! Which command answers to which name.

use crate::lab::host::simulated::world::{Called, World};

/// Answers a command that reads or changes a machine; nothing where there is none of that name.
pub(super) fn call(world: &mut World, machine: &str, argv: &[String], input: &str) -> Option<Called> {
    let _ = (world, machine, argv, input);
    None
}

/// Says where a program lies on a machine.
pub(super) fn find(world: &World, machine: &str, program: &str) -> Option<String> {
    let _ = (world, machine, program);
    None
}

/// Returns a file that is made up as it is read.
pub(super) fn read(world: &World, machine: &str, path: &str) -> Option<String> {
    let _ = (world, machine, path);
    None
}

/// Says where a program listens that was started with these words.
pub(super) fn listens(argv: &[String]) -> Vec<(crate::lab::host::stage::Protocol, u16)> {
    let _ = argv;
    Vec::new()
}
