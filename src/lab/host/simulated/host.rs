//! The port, over the model.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::world::World;
use crate::base::Clock as _;
use crate::lab::clock::LabClock;
use crate::lab::host::fabric::Fabric;
use crate::lab::host::stage::Stage;

/// Machines that are a model.
#[derive(Debug)]
pub struct Simulated {
    world: Mutex<World>,
    clock: LabClock,
}

impl Simulated {
    /// Makes the machines of a fabric. What they draw follows from the seed.
    #[must_use]
    pub fn new(fabric: Fabric, seed: u64, clock: LabClock) -> Self {
        let world =
            World { now: clock.now(), seed, fabric, stage: Stage::default(), guests: BTreeMap::new() };
        Self { world: Mutex::new(world), clock }
    }
}
