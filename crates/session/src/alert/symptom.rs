//! An alert in the words of a complaint.

use super::text::words;
use super::{Flow, Notification};

/// How much of an alert is read as a complaint.
const MAX_CHARS: usize = 4_000;

/// Returns what an alert says as a complaint: its own words, then the flows and machines that its labels name.
#[must_use]
pub fn symptom(alert: &Notification) -> String {
    let mut lines = vec![alert.title.clone()];
    if !alert.text.is_empty() && alert.text != alert.title {
        lines.push(words(&alert.text, MAX_CHARS));
    }
    lines.extend(alert.flows.iter().map(flow));
    if !alert.machines.is_empty() {
        lines.push(format!("Machines: {}.", alert.machines.join(", ")));
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn flow(flow: &Flow) -> String {
    let protocol = flow.protocol.unwrap_or("tcp");
    let to = match (flow.port, flow.protocol) {
        (_, Some("icmp")) => flow.to.clone(),
        (Some(port), _) => format!("{} {protocol}/{port}", flow.to),
        (None, Some(protocol)) => format!("{} over {protocol}", flow.to),
        (None, None) => flow.to.clone(),
    };
    match &flow.from {
        Some(from) => format!("{from} cannot connect to {to}."),
        None => format!("The connection to {to} fails."),
    }
}
