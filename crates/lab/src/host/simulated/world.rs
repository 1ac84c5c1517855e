//! Everything that the model knows.

use std::collections::BTreeMap;

use ghost_base::Timestamp;
use serde_json::Value;

use super::guest::Guest;
use super::wire::Journal;
use crate::host::fabric::{Fabric, Machine};
use crate::host::port::CaptureOrder;
use crate::host::stage::{Behavior, Protocol, Service, Stage};

pub(in crate::host) use crate::host::script::ProgramResult;

/// The machines, and what is between them.
#[derive(Debug, Clone)]
pub(in crate::host) struct World {
    /// The lab's clock.
    pub(in crate::host) now: Timestamp,
    /// From which all that is drawn follows.
    pub(in crate::host) seed: u64,
    /// The network.
    pub(in crate::host) fabric: Fabric,
    /// Services, traffic, oddities.
    pub(in crate::host) stage: Stage,
    /// The machines, by name.
    pub(in crate::host) guests: BTreeMap<String, Guest>,
    /// Captures that run, by name.
    pub(in crate::host) captures: BTreeMap<String, Capture>,
    /// What was said between machines.
    pub(in crate::host) journal: Journal,
}

/// A capture that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host) struct Capture {
    /// What is captured.
    pub(in crate::host) order: CaptureOrder,
    /// Since when.
    pub(in crate::host) since: Timestamp,
}

impl World {
    /// Makes the machines of a fabric.
    pub(in crate::host) fn new(fabric: Fabric, seed: u64, now: Timestamp) -> Self {
        let guests = fabric.machines.iter().map(|machine| (machine.name.clone(), Guest::new(machine)));
        Self {
            now,
            seed,
            guests: guests.collect(),
            fabric,
            stage: Stage::default(),
            captures: BTreeMap::new(),
            journal: Journal::default(),
        }
    }

    /// Ends what was to run until now.
    pub(in crate::host) fn reap(&mut self) {
        for guest in self.guests.values_mut() {
            guest.processes.retain(|process| process.until.is_none_or(|until| until > self.now));
        }
    }

    /// Puts the network in step: new machines are new, others stay as they are.
    pub(in crate::host) fn set_fabric(&mut self, fabric: Fabric) {
        self.guests.retain(|name, _| fabric.machines.iter().any(|machine| machine.name == *name));
        for machine in &fabric.machines {
            self.guests.entry(machine.name.clone()).or_insert_with(|| Guest::new(machine));
        }
        self.fabric = fabric;
    }

    /// Returns a machine as the platform sees it.
    pub(in crate::host) fn machine(&self, name: &str) -> Option<&Machine> {
        self.fabric.machines.iter().find(|machine| machine.name == name)
    }

    /// Says what somebody who listens on a machine does with who comes; nothing where nobody listens.
    pub(in crate::host) fn listener(&self, machine: &str, protocol: Protocol, port: u16) -> Option<Behavior> {
        let staged = self.stage.services.iter().find(|service| {
            let is_there = service.machine == machine && service.protocol == protocol && service.port == port;
            is_there && !service.is_local()
        });
        let started = || {
            let guest = self.guests.get(machine)?;
            let listens = guest.processes.iter().any(|process| process.listens.contains(&(protocol, port)));
            (listens || (protocol, port) == (Protocol::Tcp, 22)).then_some(Behavior::Answers)
        };
        staged.map(|service| service.behavior).or_else(started)
    }

    /// Returns the status with which whoever listens answers a path; none, where that is no web server.
    pub(super) fn page_status(&self, machine: &str, port: u16, path: &str) -> Option<u16> {
        let web =
            ["http", "nginx", "apache", "python", "node", "java", "caddy", "envoy", "busybox", "app", "web"];
        let of = |program: &str| web.iter().any(|name| program.contains(name));
        let is_there = |service: &&Service| service.machine == machine && service.port == port;
        match self.stage.services.iter().find(is_there) {
            Some(service) => {
                let is_known = matches!(port, 80 | 443 | 8_080 | 7_070 | 9_090 | 8_000);
                let speaks = of(&service.program) || is_known || !service.pages.is_empty();
                speaks.then(|| service.status(path))
            }
            None => {
                let mut own = self.guests.get(machine)?.processes.iter();
                let serves = own.any(|process| {
                    let listens = process.listens.contains(&(Protocol::Tcp, port));
                    listens && process.argv.iter().take(3).any(|word| of(word))
                });
                serves.then_some(200)
            }
        }
    }
}

/// Sets a member of an object.
pub(super) fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}
