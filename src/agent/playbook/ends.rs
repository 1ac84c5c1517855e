//! Who calls whom, by what was said and what is known of the network.

use crate::agent::brief;
use crate::agent::model::Ask;
use crate::agent::playbook::ground::{Ground, Machine};
use crate::agent::playbook::story::Story;

/// Returns the names of the machine that calls and of the one that is called, as far as the conversation tells.
#[must_use]
pub fn ends(ask: &Ask) -> [Option<String>; 2] {
    let story = Story::read(ask);
    let brief = brief::read(&story.said);
    let Ground { source, destination, .. } = Ground::read(&brief, &story);
    let name = |machine: Option<Machine>| machine.map(|machine| machine.name).filter(|name| !name.is_empty());
    [name(source), name(destination)]
}
