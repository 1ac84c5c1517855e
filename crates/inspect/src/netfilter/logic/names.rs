//! The texts behind numbers.

use std::collections::HashMap;

use super::span::Spans;
use super::test::{Field, Test};
use super::{iptables, nftables};
use crate::netfilter::ruleset::Ruleset;

/// Names of devices, and what is not known.
#[derive(Debug, Clone, Default)]
pub(in crate::netfilter) struct Names {
    atoms: Vec<String>,
    by_text: HashMap<String, u32>,
    /// Devices: the first is "none", then exact names, and for every `eth+` one that stands for all that begin so.
    devices: Vec<Device>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Device {
    name: String,
    /// Whether it stands for every name that begins so and is nowhere else.
    open: bool,
}

impl Names {
    /// Collects the devices that rulesets name; a test can then be a set of numbers.
    pub(in crate::netfilter) fn of(rulesets: &[&Ruleset]) -> Self {
        let mut names = Self::default();
        names.devices.push(Device { name: String::new(), open: false });
        // Whatever is named nowhere.
        names.devices.push(Device { name: String::new(), open: true });
        let mut found = Vec::new();
        for ruleset in rulesets {
            crate::netfilter::ipset::devices(&ruleset.ipsets, &mut found);
            for table in &ruleset.tables {
                iptables::devices(table, &mut found);
                nftables::devices(table, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        names.devices.extend(found.into_iter().map(|(name, open)| Device { name, open }));
        names
    }

    /// Returns the number of a text that stands for something unknown.
    pub(in crate::netfilter) fn atom(&mut self, text: &str) -> Test {
        Test::Atom(self.number(text))
    }

    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.by_text.get(text) {
            return *number;
        }
        let number = u32::try_from(self.atoms.len()).unwrap_or(u32::MAX);
        self.atoms.push(text.to_owned());
        self.by_text.insert(text.to_owned(), number);
        number
    }

    /// Returns the number of what stands for the destination being one of the host's own addresses, where a rule asks.
    pub(in crate::netfilter) fn own_destination(&self) -> Option<u32> {
        self.by_text.get(&own_address(Field::Destination)).copied()
    }

    /// Returns the text of an atom.
    pub(in crate::netfilter) fn text(&self, atom: u32) -> &str {
        usize::try_from(atom).ok().and_then(|at| self.atoms.get(at)).map_or("something", String::as_str)
    }

    /// Returns the number of a device, or of what stands for all names that are treated like it.
    pub(in crate::netfilter) fn device(&self, name: &str) -> u128 {
        let number = |at: usize| u128::try_from(at).unwrap_or_default();
        if let Some(at) = self.devices.iter().position(|device| !device.open && device.name == name) {
            return number(at);
        }
        let longest = self
            .devices
            .iter()
            .enumerate()
            .filter(|(_, device)| device.open && name.starts_with(&device.name))
            .max_by_key(|(_, device)| device.name.len());
        longest.map_or(1, |(at, _)| number(at))
    }

    /// Returns the numbers of the devices that a pattern means.
    pub(in crate::netfilter) fn matching(&self, name: &str, open: bool) -> Spans {
        let fits = |device: &&Device| {
            if open { device.name.starts_with(name) } else { !device.open && device.name == name }
        };
        let number = |at: usize| u128::try_from(at).unwrap_or_default();
        Spans::of(
            self.devices
                .iter()
                .enumerate()
                .filter(|(_, device)| fits(device))
                .map(|(at, _)| (number(at), number(at))),
        )
    }

    /// Returns the name that a number stands for, and whether it stands for every name that begins so.
    pub(in crate::netfilter) fn device_name(&self, number: u128) -> Option<(&str, bool)> {
        let device = self.devices.get(usize::try_from(number).ok()?)?;
        Some((&device.name, device.open))
    }

    /// Returns how many devices are distinguished.
    pub(in crate::netfilter) fn devices(&self) -> u128 {
        u128::try_from(self.devices.len()).unwrap_or_default()
    }
}

/// Says in words what no description of a packet tells about an address.
pub(super) fn own_address(field: Field) -> String {
    format!("whether {} is one of the host's own", field.name())
}
