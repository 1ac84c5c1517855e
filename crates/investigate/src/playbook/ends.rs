//! Who calls whom and where, by what was said and what is known of the network.

use crate::brief;
use crate::model::Ask;
use crate::playbook::ground::{Ground, Machine};
use crate::playbook::story::Story;

/// What an incident is about, as far as the conversation tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ends {
    /// The machine that calls.
    pub source: Option<String>,
    /// The machine that is called.
    pub destination: Option<String>,
    /// The resource group.
    pub group: Option<String>,
}

/// Returns what a conversation is about.
#[must_use]
pub fn ends(ask: &Ask) -> Ends {
    let story = Story::read(ask);
    let brief = brief::read(&story.said);
    let Ground { source, destination, group, .. } = Ground::read(&brief, &story);
    let name = |machine: Option<Machine>| machine.map(|machine| machine.name).filter(|name| !name.is_empty());
    Ends { source: name(source), destination: name(destination), group }
}
