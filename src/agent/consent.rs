//! Who may say yes to what.

use serde::{Deserialize, Serialize};

use crate::agent::event::Impact;

/// What whoever asked for an investigation may approve in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequesterMay {
    /// Captures and measurements; a change of the network takes somebody else.
    #[default]
    Measure,
    /// Everything: who sits at a terminal acts with their own rights.
    Everything,
    /// Nothing.
    Nothing,
}

/// Says whether somebody may approve. A denial is everybody's right.
///
/// # Errors
/// Says why not.
pub fn may_approve(rule: RequesterMay, requester: &str, voter: &str, impact: Impact) -> Result<(), String> {
    let own = requester == voter;
    match (rule, impact) {
        _ if !own => Ok(()),
        (RequesterMay::Everything, _) | (RequesterMay::Measure, Impact::Measurement) => Ok(()),
        (RequesterMay::Measure, Impact::Outage | Impact::Change) => {
            Err("whoever asked for the investigation cannot approve a change in it; somebody else has to"
                .to_owned())
        }
        (RequesterMay::Nothing, _) => {
            Err("whoever asked for the investigation cannot approve in it; somebody else has to".to_owned())
        }
    }
}

/// Tells what an approved command does to the network. What is not known to measure counts as a change.
#[must_use]
pub fn impact(argv: Option<&[String]>) -> Impact {
    let words: Vec<&str> = argv.unwrap_or_default().iter().map(String::as_str).collect();
    match words.as_slice() {
        ["az", "network", "watcher", "packet-capture", "create" | "stop" | "delete", ..]
        | ["tcpdump" | "tshark" | "iperf" | "iperf3" | "qperf" | "ping" | "traceroute" | "mtr", ..] => {
            Impact::Measurement
        }
        _ => Impact::Change,
    }
}

/// Tells what the commands of a plan do to the network. The file that a capture wrote goes with the capture.
#[must_use]
pub fn impact_of_plan(commands: &[Option<Vec<String>>]) -> Impact {
    let is = |words: &Option<Vec<String>>, path: &[&str]| {
        words
            .as_ref()
            .is_some_and(|words| words.iter().map(String::as_str).take(path.len()).eq(path.iter().copied()))
    };
    let cleans =
        commands.iter().any(|words| is(words, &["az", "network", "watcher", "packet-capture", "delete"]));
    let measures = |words: &Option<Vec<String>>| {
        (cleans && is(words, &["az", "storage", "blob", "delete"]))
            || impact(words.as_deref()) == Impact::Measurement
    };
    if commands.iter().all(measures) { Impact::Measurement } else { Impact::Change }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn approves(rule: RequesterMay, voter: &str, impact: Impact) -> bool {
        may_approve(rule, "ana", voter, impact).is_ok()
    }

    #[test]
    fn the_requester_may_approve_a_measurement_and_no_change() {
        assert!(approves(RequesterMay::Measure, "ana", Impact::Measurement));
        assert!(!approves(RequesterMay::Measure, "ana", Impact::Change));
        assert!(approves(RequesterMay::Measure, "ben", Impact::Change));
        assert!(!approves(RequesterMay::Nothing, "ana", Impact::Measurement));
        assert!(approves(RequesterMay::Everything, "ana", Impact::Change));
    }

    #[test]
    fn what_is_not_known_to_measure_is_a_change() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            impact(Some(&words("az network watcher packet-capture create -g x"))),
            Impact::Measurement
        );
        assert_eq!(impact(Some(&words("az network nsg rule create -g x"))), Impact::Change);
        assert_eq!(impact(Some(&words("sudo tcpdump"))), Impact::Change);
        assert_eq!(impact(None), Impact::Change);
    }
}
