//! What a guest has: the tools, and who listens on the ports.
//!
//! Whether security rules let a measurement pass: both ends, real gates.

use std::net::Ipv4Addr;

use ghost_inspect::nsg::{Knowledge, Packet, Ruleset, Verdict};
use serde::Serialize;

use super::guest::MEASURING_PROGRAMS;

/// What a guest has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct GuestCheck {
    /// The tools that are there.
    pub(super) tools: Vec<String>,
    /// What iperf says of itself.
    pub(super) iperf: String,
    /// Who listens on a port of ours.
    pub(super) listeners: Vec<Listener>,
}

/// Somebody who listens on a port of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) port: u16,
    /// The program, where it can be seen.
    pub(super) program: Option<String>,
}

impl Listener {
    /// Tells whether it is a server that a measurement left.
    pub(super) fn is_stale(&self) -> bool {
        self.program.as_deref().is_some_and(|program| MEASURING_PROGRAMS.contains(&program))
    }
}

impl GuestCheck {
    /// Reads what the script printed; `None` where that is not all of it.
    pub(super) fn read(printed: &str) -> Option<Self> {
        let (body, 0) = super::guest::ended(printed)? else { return None };
        let mut lines = body.lines();
        if lines.next()? != "ghost-meter look" {
            return None;
        }
        let mut look = Self::default();
        for line in lines {
            let (kind, rest) = line.split_once(' ')?;
            match kind {
                "tool" => look.tools.push(rest.to_owned()),
                "iperf" => rest.clone_into(&mut look.iperf),
                "listen" => look.listeners.extend(listener(rest)),
                _ => return None,
            }
        }
        Some(look)
    }

    /// Names the tools that lack, and what to do about one of the wrong version.
    pub(super) fn lacks(&self, latency: bool, throughput: bool) -> Vec<&'static str> {
        let lacks = |wanted: bool, tool: &'static str| {
            (wanted && !self.tools.iter().any(|own| own == tool)).then_some(tool)
        };
        [lacks(latency, "qperf"), lacks(throughput, "iperf")].into_iter().flatten().collect()
    }

    /// Tells whether the iperf that is there is of another version than 2.
    pub(super) fn is_foreign(&self) -> bool {
        self.tools.iter().any(|own| own == "iperf") && !self.iperf.contains("iperf version 2")
    }
}

/// Reads a line of `ss`: state, queues, the local address with the port, the peer's, the program.
fn listener(line: &str) -> Option<Listener> {
    let port = line.split_whitespace().nth(3)?.rsplit_once(':')?.1.parse().ok()?;
    let program = line.split_once("((\"").and_then(|(_, rest)| rest.split_once('"'));
    Some(Listener { port, program: program.map(|(program, _)| program.chars().take(32).collect()) })
}

/// What the rules at one end say about one port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct RuleCheck {
    /// The machine at whose interface the rules are.
    pub(super) at: String,
    /// `outbound` or `inbound`.
    pub(super) direction: &'static str,
    pub(super) port: u16,
    /// What they say.
    pub(super) verdict: Verdict,
    /// What decides, where it does not pass.
    pub(super) rule: Option<String>,
}

impl RuleCheck {
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
) -> Result<Vec<RuleCheck>, String> {
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
        Ok(RuleCheck { at: at.to_owned(), direction, port: *port, verdict: ruling.verdict, rule })
    };
    ports.iter().map(judged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ghost-meter look\ntool qperf\ntool iperf\niperf iperf version 2.1.8 (12 August 2022) pthreads\nlisten LISTEN 0      4096   0.0.0.0:5001  0.0.0.0:* users:((\"iperf\",pid=4503,fd=3))\nlisten LISTEN 0      5            *:19765       *:*\nghost-meter end 0\n";

    #[test]
    fn tools_and_listeners_are_read() {
        let look = GuestCheck::read(TEXT).unwrap();
        assert_eq!(look.lacks(true, true), Vec::<&str>::new());
        assert!(!look.is_foreign() && look.listeners.len() == 2);
        assert!(look.listeners.iter().any(Listener::is_stale));
        assert_eq!(look.listeners.last().unwrap().program, None, "whose it is cannot be seen");
    }

    #[test]
    fn half_of_it_is_nothing() {
        for end in 0..TEXT.len() - 1 {
            assert_eq!(GuestCheck::read(TEXT.get(..end).unwrap()), None, "{end}");
        }
    }
}
