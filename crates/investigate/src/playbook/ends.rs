//! Who calls whom and where, by what was said and what is known of the network.

use crate::model::Ask;
use crate::playbook::conversation::Conversation;
use crate::playbook::incident::{IncidentContext, Machine};
use crate::symptom_text;

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
    let conversation = Conversation::read(ask);
    let symptom_text = symptom_text::read(&conversation.user_text);
    let IncidentContext { source, destination, group, .. } =
        IncidentContext::read(&symptom_text, &conversation);
    let name = |machine: Option<Machine>| machine.map(|machine| machine.name).filter(|name| !name.is_empty());
    Ends { source: name(source), destination: name(destination), group }
}
