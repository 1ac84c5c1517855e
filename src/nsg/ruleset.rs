//! The effective rules of a network interface, ready for questions.

use super::decode::decode;
use super::peers::Knowledge;
use super::rule::{Gate, Group};
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
        let (groups, mut warnings) = decode(text, knowledge)?;
        if groups.is_empty() {
            warnings.push(Warning::whole("no network security group stands at either gate"));
        }
        Ok(Self { groups, warnings })
    }

    /// Returns the groups, each at its gate.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns what could not be read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the groups at a gate; there is more than one only in a document of several interfaces.
    pub(super) fn at(&self, gate: Gate) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(move |group| group.gate == gate)
    }
}
