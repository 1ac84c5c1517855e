//! Words that are no incident: they get an answer, and nothing is looked at.

use serde_json::json;

use crate::HypothesisState;
use crate::complaint::Topic;
use crate::playbook::agenda::PlaybookContext;
use crate::playbook::close::nothing_found;
use crate::playbook::turn::Turn;

/// What is put on the board: nothing ends on an empty one.
const HYPOTHESIS: &str = "H-path";

const EXAMPLE: &str = "Tell me who cannot reach whom and on which port, for example \"web-1 cannot reach db-1 on 5432\", or ask \"is RDP on web-1 open to the internet?\".";

/// Returns what is answered to words that are no incident.
#[must_use]
pub fn answer(topic: Topic) -> String {
    match topic {
        Topic::Greeting => format!("Hello. I find out why connections fail. {EXAMPLE}"),
        Topic::Thanks => {
            "You are welcome. Mention me again when something on the network does not work.".to_owned()
        }
        Topic::AboutBot => format!(
            "I find out why a connection fails. I read the routes, rules and packet filters at both ends, and tell you what is wrong and what proves it. Reading needs nobody. Anything that could change something waits for a person to approve it. {EXAMPLE}"
        ),
        Topic::Knowledge => format!("I only answer from what I read in your network. {EXAMPLE}"),
        Topic::Author => format!(
            "The activity log of the platform says who changed something. It keeps 90 days, and I did not read it. `az monitor activity-log list --resource-group GROUP --offset 7d --query '[].[eventTimestamp, caller, operationName.localizedValue, resourceId]' --output table` lists it and changes nothing. Give me a baseline to compare with, and I say what changed. {EXAMPLE}"
        ),
        Topic::Other | Topic::Empty | Topic::Incident | Topic::Unclear => {
            format!("I see no network trouble in this, so I looked at nothing. {EXAMPLE}")
        }
    }
}

/// Ends the session with an answer.
pub(super) fn end(context: &PlaybookContext<'_>, topic: Topic) -> Turn {
    let text = answer(topic);
    let mut calls = Vec::new();
    if !context.conversation.added(HYPOTHESIS) {
        let supposed = "There is a network incident.";
        calls.push((
            "manage_hypotheses".to_owned(),
            json!({"add": [{"id": HYPOTHESIS, "description": supposed}]}),
        ));
    }
    let why = "The words name no network trouble.";
    let update = json!({"update": [{"id": HYPOTHESIS, "state": HypothesisState::Unverifiable, "why": why}]});
    calls.push(("manage_hypotheses".to_owned(), update));
    calls.push(nothing_found(&text, &[HYPOTHESIS.to_owned()], &[], &[]));
    Turn { text, calls }
}
