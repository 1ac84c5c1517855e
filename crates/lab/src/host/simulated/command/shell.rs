//! A machine of the model under a script.

use std::time::Duration;

use super::call;
use crate::host::script::{Calls, Files, ProgramResult};
use crate::host::simulated::wire;
use crate::host::simulated::world::World;
use ghost_base::Timestamp;

/// A machine of the model, as a script sees it.
#[derive(Debug)]
pub(in crate::host) struct Shell<'a> {
    world: &'a mut World,
    machine: &'a str,
    /// The files of a machine that is gone.
    nowhere: Files,
}

impl<'a> Shell<'a> {
    /// Opens a shell.
    pub(in crate::host) fn new(world: &'a mut World, machine: &'a str) -> Self {
        Self { world, machine, nowhere: Files::default() }
    }
}

impl Calls for Shell<'_> {
    fn call(&mut self, argv: &[String], input: &str) -> ProgramResult {
        let Some(program) = argv.first() else { return ProgramResult::default() };
        // What was not found is reported by the shell.
        if call::lacks(self.world, self.machine, program) {
            return ProgramResult::failed(127, "");
        }
        let called = wire::call(self.world, self.machine, argv, input)
            .or_else(|| call::call(self.world, self.machine, argv, input))
            .unwrap_or_else(|| ProgramResult::failed(127, ""));
        self.sleep(called.took);
        called
    }

    fn start(&mut self, argv: &[String]) -> u32 {
        let listens = call::listens(argv);
        match self.world.guests.get_mut(self.machine) {
            Some(guest) => guest.start(argv.to_vec(), listens),
            None => 0,
        }
    }

    fn prints_to(&mut self, number: u32, path: &str) {
        wire::prints_to(self.world, self.machine, number, path);
    }

    fn lasts(&mut self, number: u32, time: Duration) {
        let until = self.world.now.plus(time);
        let guest = self.world.guests.get_mut(self.machine);
        let process =
            guest.and_then(|guest| guest.processes.iter_mut().find(|process| process.pid == number));
        if let Some(process) = process {
            process.until = Some(until);
        }
    }

    fn find(&self, program: &str) -> Option<String> {
        call::find(self.world, self.machine, program)
    }

    fn files(&mut self) -> &mut Files {
        self.world.guests.get_mut(self.machine).map_or(&mut self.nowhere, |guest| &mut guest.files)
    }

    fn read(&mut self, path: &str) -> Option<String> {
        call::read(self.world, self.machine, path)
    }

    fn now(&self) -> Timestamp {
        self.world.now
    }

    fn sleep(&mut self, time: Duration) {
        self.world.now = self.world.now.plus(time);
    }
}
