//! The effective rules of a network interface, ready for questions.

use super::decode::decode;
use super::peers::Knowledge;
use super::rule::{Gate, Group, Rule};
use crate::net::{DocumentError, Warning};

/// Why there are no rules.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no document of rules.
    #[error("the effective rules cannot be read")]
    Document(#[from] DocumentError),
}

/// The effective rules of one network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruleset {
    pub(super) groups: Vec<Group>,
    pub(super) warnings: Vec<Warning>,
}

impl Ruleset {
    /// Reads what `az network nic list-effective-nsg -o json` prints.
    ///
    /// # Errors
    /// Fails where the text is no such document.
    pub fn parse(text: &str, knowledge: Knowledge<'_>) -> Result<Self, Error> {
        let (groups, warnings) = decode(text, knowledge)?;
        let mut rules = Self { groups, warnings };
        let which = [Gate::Subnet, Gate::Nic].into_iter().filter_map(|gate| rules.which(gate));
        let equals = rules.groups.iter().filter_map(Group::rivalry);
        let doubts: Vec<String> =
            which.map(|which| format!("the document does not say {which}")).chain(equals).collect();
        rules.warnings.extend(doubts.into_iter().map(Warning::whole));
        Ok(rules)
    }

    /// Returns the groups, each at its gate.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns it with other rules in each group: what it would say if they were changed.
    #[must_use]
    pub fn with_rules(&self, change: impl Fn(&Group) -> Vec<Rule>) -> Self {
        let changed = |group: &Group| Group::new(group.gate, group.name.clone(), change(group));
        Self { groups: self.groups.iter().map(changed).collect(), warnings: self.warnings.clone() }
    }

    /// Returns what could not be read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Says that no security group applies, where none does: that everything passes is then no rule's doing.
    #[must_use]
    pub fn remark(&self) -> Option<&'static str> {
        let guarded = self.groups.iter().any(|group| group.gate != Gate::Manager);
        (!guarded).then_some("no network security group stands at either gate")
    }

    /// Returns the groups at a gate; there is more than one only in a document of several interfaces.
    pub(super) fn at(&self, gate: Gate) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(move |group| group.gate == gate)
    }

    /// Says that nothing tells which group stands at a gate, where there are several and only one can.
    pub(super) fn which(&self, gate: Gate) -> Option<String> {
        let several = gate.is_alone() && self.at(gate).nth(1).is_some();
        several.then(|| format!("which of the groups stands at the gate {}", gate.as_str()))
    }
}
