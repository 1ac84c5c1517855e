//! What happens now, in words that everybody understands.

use crate::bot::show::RenderContext;
use ghost_investigate::state::{Phase, State, Step};

/// What the first words of a command look at. The first match counts.
const COMMANDS: [(&[&str], &str); 26] = [
    (&["az", "network", "watcher", "packet-capture"], "capturing packets"),
    (&["az", "network", "watcher", "test-ip-flow"], "asking which rule decides"),
    (&["az", "network", "watcher", "show-next-hop"], "asking for the next hop"),
    (&["az", "network", "nic", "list-effective-nsg"], "reading effective security rules"),
    (&["az", "network", "nic", "show-effective-route-table"], "reading effective routes"),
    (&["az", "network", "nsg"], "reading security rules"),
    (&["az", "network", "route-table"], "reading route tables"),
    (&["az", "vm", "run-command"], "looking inside the machine"),
    (&["az"], "asking the cloud"),
    (&["ping"], "measuring the path"),
    (&["traceroute"], "measuring the path"),
    (&["tracepath"], "measuring the path"),
    (&["mtr"], "measuring the path"),
    (&["iperf"], "measuring throughput"),
    (&["iperf3"], "measuring throughput"),
    (&["qperf"], "measuring latency"),
    (&["dig"], "asking the name servers"),
    (&["nslookup"], "asking the name servers"),
    (&["host"], "asking the name servers"),
    (&["tcpdump"], "capturing packets"),
    (&["tshark"], "reading packets"),
    (&["tc"], "reading traffic shaping"),
    (&["nft"], "reading the guest firewall"),
    (&["iptables-save"], "reading the guest firewall"),
    (&["iptables"], "reading the guest firewall"),
    (&["ss"], "looking at sockets"),
];

/// What a tool reads where it runs no command.
const TOOLS: [(&str, &str); 10] = [
    ("capture_traffic", "capturing packets"),
    ("run_pipe_meter", "measuring throughput"),
    ("inspect_nsg", "reading security rules"),
    ("inspect_qdisc", "reading traffic shaping"),
    ("effective_route_inspector", "reading effective routes"),
    ("detect_effective_network_drift", "comparing with the baseline"),
    ("detect_config_drift", "comparing with the baseline"),
    ("walk_packet", "walking the rules"),
    ("manage_hypotheses", "weighing hypotheses"),
    ("complete_investigation", "writing the report"),
];

/// Returns what a command does. Programs that only carry another one are looked through.
fn of_command(command: &str) -> &'static str {
    let words = command
        .split_whitespace()
        .take(12)
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .skip_while(|word| {
            matches!(*word, "sudo" | "timeout" | "nice" | "env") || word.parse::<u32>().is_ok()
        })
        .collect::<Vec<_>>();
    let known = COMMANDS.iter().find(|(start, _)| words.starts_with(start));
    known.map_or("running a command", |(_, doing)| doing)
}

/// Returns what a step does.
pub(super) fn of_step(step: &Step) -> &'static str {
    of_command(step.current())
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Doing(&'static str),
    /// It waits for a human.
    Waiting,
    /// It waits for a model that does not answer.
    Stuck,
    Over,
}

/// Reads a session.
pub(super) fn activity(state: &State) -> Activity {
    if state.concluded.is_some() {
        return Activity::Over;
    }
    if let Some(step) = state.open_step() {
        return match step.phase {
            Phase::AwaitingApproval { .. } | Phase::Unknown => Activity::Waiting,
            Phase::Proposed
            | Phase::Judged
            | Phase::Decided { .. }
            | Phase::Expired { .. }
            | Phase::Intended { .. }
            | Phase::Executing { .. }
            | Phase::Done => Activity::Doing(of_step(step)),
        };
    }
    if let Some(open) = state.open_call() {
        let known = TOOLS.iter().find(|(tool, _)| *tool == open.call.tool);
        return Activity::Doing(known.map_or("reading what was collected", |(_, doing)| doing));
    }
    if state.asked.is_none() && !state.failures.is_empty() {
        return Activity::Stuck;
    }
    Activity::Doing("thinking")
}

/// Returns the status of the agent in its thread, such as `is measuring the path…`: at most 50 characters; empty where there
/// is nothing to wait for.
#[must_use]
pub fn agent_status(state: &State, context: &RenderContext) -> String {
    match activity(state) {
        Activity::Over => String::new(),
        Activity::Waiting => "is waiting for an approval…".to_owned(),
        Activity::Doing(_) if context.frozen.is_some() => "is frozen…".to_owned(),
        Activity::Stuck => "is waiting for its model…".to_owned(),
        Activity::Doing(doing) => format!("is {doing}…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_fits() {
        let all = COMMANDS.iter().map(|(_, doing)| doing).chain(TOOLS.iter().map(|(_, doing)| doing));
        for doing in all {
            assert!(format!("is {doing}…").chars().count() <= 50, "{doing}");
        }
    }

    #[test]
    fn a_command_is_described_by_what_it_reads() {
        for (command, doing) in [
            ("az network nic list-effective-nsg -g x", "reading effective security rules"),
            ("az network vnet list", "asking the cloud"),
            ("sudo timeout 30 /usr/sbin/tcpdump -i eth0", "capturing packets"),
            ("ping -c 3 10.0.0.5", "measuring the path"),
            ("", "running a command"),
            ("pingu", "running a command"),
        ] {
            assert_eq!(of_command(command), doing, "{command}");
        }
    }
}
