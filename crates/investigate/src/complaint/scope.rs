//! The machines of an estate by application, tier and role, as their names, groups and subnets say.

use std::collections::BTreeSet;

use super::fold::fold;
use super::vocabulary::WORDS;
use super::{Inventory, Machine};

/// An estate with what the names in it say. Machines are known by their place in the inventory.
pub(super) struct Estate<'a> {
    pub(super) inventory: &'a Inventory,
    labels: Vec<Label>,
}

/// What a machine's names say of it.
struct Label {
    /// Its name in the letters that are compared.
    name: String,
    /// The words of its name, without numbers.
    parts: Vec<String>,
    /// The words of its network's name.
    network: Vec<String>,
    application: Option<String>,
    role: Option<&'static str>,
}

/// Parts of names that say nothing.
const GENERIC: [&str; 26] = [
    "vm",
    "vnet",
    "net",
    "network",
    "prod",
    "production",
    "dev",
    "test",
    "stage",
    "staging",
    "hub",
    "spoke",
    "srv",
    "server",
    "host",
    "node",
    "az",
    "eastus",
    "westeurope",
    "asg",
    "subnet",
    "snet",
    "sub",
    "s",
    "the",
    "nic",
];

impl<'a> Estate<'a> {
    pub(super) fn new(inventory: &'a Inventory) -> Self {
        let labels = inventory.machines.iter().map(label).collect();
        Self { inventory, labels }
    }

    pub(super) fn machine(&self, at: usize) -> Option<&'a Machine> {
        self.inventory.machines.get(at)
    }

    /// Returns the place of every machine.
    pub(super) fn all(&self) -> Vec<usize> {
        (0..self.labels.len()).collect()
    }

    pub(super) fn role(&self, at: usize) -> Option<&'static str> {
        self.labels.get(at).and_then(|label| label.role)
    }

    pub(super) fn application(&self, at: usize) -> Option<&str> {
        self.labels.get(at).and_then(|label| label.application.as_deref())
    }

    /// Returns the machines whose folded name holds for a test.
    pub(super) fn named(&self, is: impl Fn(&str) -> bool) -> Vec<usize> {
        self.all()
            .into_iter()
            .filter(|at| self.labels.get(*at).is_some_and(|label| is(&label.name)))
            .collect()
    }

    /// Returns the machines of an application, by a word of their names or of their network's.
    pub(super) fn of_application(&self, word: &str) -> Vec<usize> {
        if word.len() < 2 || GENERIC.contains(&word) || role_of_part(word).is_some() {
            return Vec::new();
        }
        let has = |list: &[String]| list.iter().any(|part| part == word);
        let by_name: Vec<usize> = self.filter(|label| has(&label.parts));
        if by_name.is_empty() { self.filter(|label| has(&label.network)) } else { by_name }
    }

    pub(super) fn of_role(&self, role: &str) -> Vec<usize> {
        self.filter(|label| label.role == Some(role))
    }

    /// Returns the machines that do the same: one application, one role, one subnet.
    pub(super) fn tier(&self, at: usize) -> Vec<usize> {
        let (Some(label), Some(machine)) = (self.labels.get(at), self.machine(at)) else { return Vec::new() };
        if label.role.is_none() {
            return vec![at];
        }
        let same = |other: usize| {
            self.labels
                .get(other)
                .is_some_and(|other| other.role == label.role && other.application == label.application)
                && self.machine(other).is_some_and(|other| {
                    (&other.network, &other.subnet) == (&machine.network, &machine.subnet)
                })
        };
        self.all().into_iter().filter(|other| same(*other)).collect()
    }

    /// Returns the tiers of some machines, in the order of the inventory.
    pub(super) fn tiers(&self, machines: &[usize]) -> Vec<usize> {
        let all: BTreeSet<usize> = machines.iter().flat_map(|at| self.tier(*at)).collect();
        all.into_iter().collect()
    }

    /// Returns the applications that there are.
    pub(super) fn applications(&self) -> BTreeSet<&str> {
        self.labels.iter().filter_map(|label| label.application.as_deref()).collect()
    }

    /// Tells whether a word names a network, a subnet or a group, and no machine.
    pub(super) fn is_container(&self, word: &str) -> bool {
        self.inventory.machines.iter().any(|machine| {
            [&machine.network, &machine.subnet]
                .into_iter()
                .flatten()
                .chain(&machine.groups)
                .any(|name| fold(name) == word)
        })
    }

    /// Tells whether a word is the name of something here, whatever it is.
    pub(super) fn knows(&self, word: &str) -> bool {
        let label = word.split('.').next().unwrap_or(word);
        let is = |name: &str| name == word || name == label;
        self.labels.iter().any(|own| is(&own.name))
            || self.is_container(word)
            || self.inventory.names.iter().any(|own| is(&fold(&own.name)))
            || self.inventory.others.iter().any(|own| is(&fold(own)))
    }

    /// Returns the names of machines that are like a word, the likest first.
    pub(super) fn nearest(&self, word: &str) -> Vec<String> {
        let own = parts(word);
        let mut found: Vec<(usize, &str)> = Vec::new();
        for (label, machine) in self.labels.iter().zip(&self.inventory.machines) {
            let distance = distance(word, &label.name);
            let shared = label.parts.iter().filter(|part| own.contains(part)).count();
            let limit = (word.chars().count() / 3).max(2);
            if distance <= limit || (shared > 0 && !own.is_empty()) {
                found.push((distance.saturating_sub(shared), &machine.name));
            }
        }
        found.sort();
        found.into_iter().take(MAX_NEAREST).map(|(_, name)| name.to_owned()).collect()
    }

    /// Tells whether a word is nearly the name of a machine.
    pub(super) fn is_like(&self, word: &str) -> bool {
        let limit = (word.chars().count() / 3).max(2);
        self.labels.iter().any(|label| distance(word, &label.name) <= limit)
    }

    fn filter(&self, is: impl Fn(&Label) -> bool) -> Vec<usize> {
        self.all().into_iter().filter(|at| self.labels.get(*at).is_some_and(&is)).collect()
    }
}

/// More names than these are no help.
const MAX_NEAREST: usize = 3;

fn label(machine: &Machine) -> Label {
    let own = parts(&machine.name);
    let network = machine.network.as_deref().map(parts).unwrap_or_default();
    let by = |list: &[String]| list.iter().rev().find_map(|part| role_of_part(part));
    let groups: Vec<String> = machine.groups.iter().flat_map(|group| parts(group)).collect();
    let subnet = machine.subnet.as_deref().map(parts).unwrap_or_default();
    let role = by(&own).or_else(|| by(&groups)).or_else(|| by(&subnet));
    let plain = |part: &&String| role_of_part(part).is_none() && !GENERIC.contains(&part.as_str());
    let application = own.iter().find(plain).or_else(|| network.iter().find(plain)).cloned();
    Label { name: fold(&machine.name), parts: own, network, application, role }
}

/// Returns the words of a name, small and without the numbers at their ends.
pub(super) fn parts(name: &str) -> Vec<String> {
    let name = fold(name);
    let words = name.split(|char: char| !char.is_alphanumeric());
    let words = words.map(|word| word.trim_end_matches(|char: char| char.is_ascii_digit()).to_owned());
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns the role that a word of a name says.
pub(super) fn role_of_part(part: &str) -> Option<&'static str> {
    WORDS
        .role
        .iter()
        .find(|(_, role)| role.parts.iter().any(|known| known == part))
        .map(|(name, _)| name.as_str())
}

/// Returns how many letters have to be changed to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, char) in one.chars().enumerate() {
        let mut corner = line;
        let mut left = line + 1;
        let mut next = vec![left];
        for (column, known) in other.iter().enumerate() {
            let above = row.get(column + 1).copied().unwrap_or_default();
            let cost = corner + usize::from(char != *known);
            left = cost.min(above + 1).min(left + 1);
            corner = above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_differ_are_counted() {
        assert_eq!(distance("web-1", "web-1"), 0);
        assert_eq!(distance("web-1", "web-11"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_name_says_the_role_and_the_application() {
        let machine = |name: &str| Machine { name: name.to_owned(), ..Machine::default() };
        for (name, application, role) in [
            ("hr-web-2", Some("hr"), Some("web")),
            ("crm-s2-db", Some("crm"), Some("db")),
            ("claims-s2-app2", Some("claims"), Some("app")),
            ("shop-orders-db", Some("shop"), Some("db")),
            ("tf-source-vm", Some("tf"), None),
            ("hub-dns", None, Some("dns")),
        ] {
            let label = label(&machine(name));
            assert_eq!((label.application.as_deref(), label.role), (application, role), "{name}");
        }
    }
}
