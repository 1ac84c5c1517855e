//! Who is wired to which port of the fabric.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::host::fabric::{Fabric, Machine, Nic};

/// A wire between the fabric and an interface of a machine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Link {
    /// Its number, by which its tables and chains are known.
    pub(super) number: usize,
    /// The device in the fabric.
    pub(super) device: String,
    /// The device in the machine.
    pub(super) inner: String,
    pub(super) machine: String,
    /// The interface as the platform sees it.
    pub(super) nic: Nic,
}

impl Link {
    /// Tells whether the wiring inside the machine is the same: rules and routes are the fabric's.
    pub(super) fn is_wired_as(&self, other: &Self) -> bool {
        let wiring =
            |link: &Self| (link.number, link.inner.clone(), link.nic.mac.clone(), link.nic.addresses.clone());
        wiring(self) == wiring(other) && self.nic.forwards == other.nic.forwards
    }
}

/// All wires of machines that run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Plan {
    /// The wires.
    pub(super) links: Vec<Link>,
}

/// The numbers of interfaces; one keeps its number while the lab lives.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers(BTreeMap<(String, String), usize>);

impl Numbers {
    /// Plans the wires of a fabric.
    pub(super) fn plan(&mut self, fabric: &Fabric) -> Plan {
        let running = fabric.machines.iter().filter(|machine| machine.running);
        Plan { links: running.flat_map(|machine| self.links(machine)).collect() }
    }

    fn links(&mut self, machine: &Machine) -> Vec<Link> {
        let mut links = Vec::new();
        for (at, nic) in machine.nics.iter().enumerate() {
            let next = self.0.len();
            let number = *self.0.entry((machine.name.clone(), nic.name.clone())).or_insert(next);
            let (device, inner) = (format!("v{number}"), format!("eth{at}"));
            links.push(Link { number, device, inner, machine: machine.name.clone(), nic: nic.clone() });
        }
        links
    }
}

impl Plan {
    /// Returns the wires of a machine.
    pub(super) fn of<'a>(&'a self, machine: &'a str) -> impl Iterator<Item = &'a Link> {
        self.links.iter().filter(move |link| link.machine == machine)
    }

    /// Returns the wire that leads to an address.
    pub(super) fn owner(&self, address: IpAddr) -> Option<&Link> {
        self.links.iter().find(|link| link.nic.addresses.iter().any(|(own, _)| *own == address))
    }
}
