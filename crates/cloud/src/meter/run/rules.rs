//! Whether security rules let a measurement pass: both ends, real gates.

use std::net::Ipv4Addr;

use serde::Serialize;

use ghost_inspect::nsg::{Knowledge, Packet, Ruleset, Verdict};

/// What the rules at one end say about one port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Passage {
    /// The machine at whose interface the rules are.
    pub(super) at: String,
    /// `outbound` or `inbound`.
    pub(super) direction: &'static str,
    /// The port.
    pub(super) port: u16,
    /// What they say.
    pub(super) verdict: Verdict,
    /// What decides, where it does not pass.
    pub(super) rule: Option<String>,
}

impl Passage {
    /// Says in words what blocks the port.
    pub(super) fn sentence(&self) -> String {
        let by = self.rule.as_deref().unwrap_or("no rule that allows it");
        format!("TCP {} is blocked {} at {}: {by}", self.port, self.direction, self.at)
    }
}

/// Judges ports by the effective rules of one interface.
///
/// # Errors
/// Fails where the rules cannot be read.
pub(super) fn judge(
    rules: &str,
    at: &str,
    direction: &'static str,
    (from, to): (Ipv4Addr, Ipv4Addr),
    ports: &[u16],
) -> Result<Vec<Passage>, String> {
    let rules = Ruleset::parse(rules, Knowledge::default()).map_err(|error| error.to_string())?;
    let judged = |port: &u16| {
        let packet = Packet::new(direction, "tcp", from.into(), None, to.into(), *port)
            .map_err(|error| error.to_string())?;
        let ruling = rules.verdict(&packet);
        let rule = match (&ruling.decisive, ruling.unresolved.first()) {
            (Some(by), _) => {
                let group = by.nsg.map(|group| group.rsplit('/').next().unwrap_or(group));
                let name =
                    by.rule.map_or("no rule allows it", |rule| rule.rsplit('/').next().unwrap_or(rule));
                let place = group.map(|group| format!(" of {group}")).unwrap_or_default();
                let priority =
                    by.priority.map(|priority| format!(", priority {priority}")).unwrap_or_default();
                Some(format!("{name}{place}{priority}"))
            }
            (None, Some(unresolved)) => Some(format!("it depends on {unresolved}")),
            (None, None) => None,
        };
        Ok(Passage { at: at.to_owned(), direction, port: *port, verdict: ruling.verdict, rule })
    };
    ports.iter().map(judged).collect()
}
