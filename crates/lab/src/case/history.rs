//! The activity log of a case: which change made each fault, some time before it failed, and changes that have nothing to do with it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fault::Fault;
use super::model::Case;
use super::random::Rng;
use crate::azure::PastChange;
use crate::control::Lab;
use ghost_base::{Clock as _, Digest, Timestamp};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;

/// Where nobody says when it began, it began so long before it was reported.
const UNSAID: i64 = 25 * MINUTE;

/// What the log of a case holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// What is at fault, and what joins the events of the change that made it.
    pub causes: Vec<(String, String)>,
    /// What joins the events of changes that made nothing that is at fault.
    pub decoys: Vec<String>,
}

/// Writes the log of a case that was injected: the faults of the cloud were made before people complain, by somebody, and the log has
/// that some minutes later. Other changes stand beside them.
pub fn write_history(lab: &Lab, case: &Case, phase: usize) -> History {
    let now = lab.clock().now();
    let mut cloud = lab.cloud();
    let documents = cloud.documents();
    let Some(phase) = phase.checked_sub(1).and_then(|at| case.phases.get(at)) else {
        return History::default();
    };
    let digest = Digest::of(format!("{}{}", case.id, phase.prompt)).to_string();
    let seed = digest.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let rng = &mut Rng::new(seed, 0);
    let (began, is_said) = match began(&phase.prompt, now) {
        Some((at, is_said)) => (at, is_said),
        None => (Timestamp::from_millis(now.as_millis() - UNSAID), false),
    };
    let objects: BTreeSet<&str> = phase.expected.iter().map(|pair| pair.object.as_str()).collect();
    let mut changes: Vec<PastChange> = Vec::new();
    let mut of: Vec<Option<&str>> = Vec::new();
    // What somebody does inside a machine is in no log of the platform.
    let inside = |object: &str| {
        let name = object.strip_prefix("vm/");
        case.faults.iter().any(|placed| {
            matches!(&placed.fault, Fault::MachineStopped(own) if own.inside && name == Some(own.vm.as_str()))
        })
    };
    for object in objects.into_iter().filter(|object| !inside(object)) {
        let Some(id) = resource(&documents, object) else { continue };
        let lead = 1 + number(rng, 14);
        let made = at(began, -lead * MINUTE - number(rng, 50) * 1000);
        let operation = match object.split('/').collect::<Vec<_>>().as_slice() {
            ["vm", _] => "deallocate/action",
            ["appgw", _] => "stop/action",
            _ => "write",
        };
        changes.push(PastChange { is_new: !is_old(&id), operation, ..change(&id, made, now, rng) });
        of.push(Some(object));
        for decoy in beside(&id, (began, is_said), now, rng) {
            changes.push(decoy);
            of.push(None);
        }
    }
    for decoy in elsewhere(&documents, &changes, began, now, rng) {
        changes.push(decoy);
        of.push(None);
    }
    let names = cloud.write_history(&changes);
    let mut history = History::default();
    for (name, object) in names.into_iter().zip(of) {
        match object {
            Some(object) => history.causes.push((object.to_owned(), name)),
            None => history.decoys.push(name),
        }
    }
    history
}

/// Returns changes of the same resource that did not make it what it is.
fn beside(id: &str, (began, is_said): (Timestamp, bool), now: Timestamp, rng: &mut Rng) -> Vec<PastChange> {
    let mut decoys = Vec::new();
    if rng.percent(40) {
        let failed = change(id, at(began, -30_000), now, rng);
        decoys.push(PastChange { is_done: false, ..failed });
    }
    if rng.percent(40) {
        let days = 2 + number(rng, 5);
        decoys.push(change(id, at(began, -days * DAY), now, rng));
    }
    // Somebody tried something while it failed; where nobody says since when, nothing tells this from the cause.
    let gap = now.as_millis() - began.as_millis();
    if is_said && gap > 4 * MINUTE && rng.percent(50) {
        decoys.push(change(id, at(began, gap / 2), now, rng));
    }
    decoys
}

/// Returns changes of other resources, near the time when it began.
fn elsewhere(
    documents: &[Value],
    causes: &[PastChange],
    began: Timestamp,
    now: Timestamp,
    rng: &mut Rng,
) -> Vec<PastChange> {
    let kinds = [
        "/networksecuritygroups/",
        "/routetables/",
        "/storageaccounts/",
        "/networkinterfaces/",
        "/publicipaddresses/",
    ];
    let others: Vec<&str> = documents
        .iter()
        .filter_map(|document| document.get("id").and_then(Value::as_str))
        .filter(|id| {
            let small = id.to_ascii_lowercase();
            let touched =
                causes.iter().any(|change| change.resource.to_ascii_lowercase().starts_with(&small));
            kinds.iter().any(|kind| small.contains(kind)) && !touched
        })
        .collect();
    let mut decoys = Vec::new();
    if others.is_empty() {
        return decoys;
    }
    for _ in 0..number(rng, 4) {
        let id = rng.one(&others);
        let moved = -number(rng, 600) * 1000;
        let decoy = change(id, at(began, moved), now, rng);
        let is_read = id.to_ascii_lowercase().contains("/networkinterfaces/");
        decoys.push(PastChange {
            operation: if is_read { "effectiveRouteTable/action" } else { "write" },
            ..decoy
        });
    }
    decoys
}

/// Returns a change that succeeded. The log has it by now.
fn change(id: &str, made: Timestamp, now: Timestamp, rng: &mut Rng) -> PastChange {
    let seconds = u32::try_from(2 + number(rng, 40)).unwrap_or(2);
    let left = (now.as_millis() - made.as_millis()) / 1000 - i64::from(seconds) - 1;
    let delay = (180 + number(rng, 1020)).min(left.max(0));
    PastChange {
        resource: id.to_owned(),
        operation: "write",
        at: made,
        seconds,
        caller: rng.below(50),
        is_done: true,
        is_new: false,
        delay: u32::try_from(delay).unwrap_or_default(),
    }
}

/// Tells whether what was changed had been there before: a network, an account.
fn is_old(id: &str) -> bool {
    let small = id.to_ascii_lowercase();
    !["/securityrules/", "/routes/", "/virtualnetworkpeerings/"].iter().any(|kind| small.contains(kind))
}

/// Returns the id of what an object names, where the estate has it and somebody made it.
fn resource(documents: &[Value], object: &str) -> Option<String> {
    let parts: Vec<&str> = object.split('/').collect();
    let (kind, name, list, part) = match parts.as_slice() {
        ["nsg", group, rule] => ("networksecuritygroups", *group, "securityRules", Some(*rule)),
        ["route", table, route] => ("routetables", *table, "routes", Some(*route)),
        ["peering", network, peering] => {
            ("virtualnetworks", *network, "virtualNetworkPeerings", Some(*peering))
        }
        ["subnet", network, subnet, ..] => ("virtualnetworks", *network, "subnets", Some(*subnet)),
        ["storage", account] => ("storageaccounts", *account, "", None),
        ["natgateway", gateway] => ("natgateways", *gateway, "", None),
        ["vpn", connection] => ("connections", *connection, "", None),
        ["localgateway", site] => ("localnetworkgateways", *site, "", None),
        ["routetable", table] => ("routetables", *table, "", None),
        ["er", circuit, ..] => ("expressroutecircuits", *circuit, "", None),
        ["aks", cluster] => ("managedclusters", *cluster, "", None),
        ["bastion", host] => ("bastionhosts", *host, "", None),
        ["appgw", gateway, ..] => ("applicationgateways", *gateway, "", None),
        ["vm", machine] => ("virtualmachines", *machine, "", None),
        _ => return None,
    };
    let found = documents.iter().find(|document| {
        let id = document.get("id").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
        id.ends_with(&format!("/{kind}/{}", name.to_ascii_lowercase()))
    })?;
    let id = found.get("id").and_then(Value::as_str)?;
    let Some(part) = part else { return Some(id.to_owned()) };
    let all = found.pointer(&format!("/properties/{list}")).and_then(Value::as_array)?;
    let is = |one: &&Value| {
        one.get("name").and_then(Value::as_str).is_some_and(|own| own.eq_ignore_ascii_case(part))
    };
    all.iter().find(is).map(|_| format!("{id}/{list}/{part}"))
}

/// Returns when it began, by the times of day in people's words: the earliest of them, each the last one before now; and whether
/// they say that it is so since then.
fn began(prompt: &str, now: Timestamp) -> Option<(Timestamp, bool)> {
    let today = now.as_millis().div_euclid(DAY) * DAY;
    let last =
        |of_day: i64| if today + of_day > now.as_millis() { today + of_day - DAY } else { today + of_day };
    let small = prompt.to_lowercase();
    let words: Vec<&str> = small.split(|char: char| char.is_whitespace() || ",;()".contains(char)).collect();
    let clock = |word: &str| {
        let word = word.trim_matches(['.', '?', '!', '"']);
        if word == "midnight" {
            return Some(last(0));
        }
        let (hours, rest) = word.split_once(':')?;
        let minutes = rest.get(..2)?;
        let more = rest.get(2..).unwrap_or_default();
        let fits = (1..=2).contains(&hours.len()) && !more.starts_with(|char: char| char.is_ascii_digit());
        let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
        (fits && hours < 24 && minutes < 60).then(|| last((hours * 60 + minutes) * MINUTE))
    };
    let is_since = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        before.is_some_and(|word| ["since", "seit", "started"].contains(word))
    };
    let times: Vec<(i64, bool)> =
        words.iter().enumerate().filter_map(|(at, word)| Some((clock(word)?, is_since(at)))).collect();
    let earliest = times.iter().map(|(time, _)| *time).min()?;
    let is_said = matches!(times.as_slice(), [(_, true)]);
    Some((Timestamp::from_millis(earliest), is_said))
}

fn at(moment: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(moment.as_millis() + millis)
}

fn number(rng: &mut Rng, below: usize) -> i64 {
    i64::try_from(rng.below(below)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_began_when_people_say_so() {
        let now: Timestamp = "2025-06-02T09:31:00.000Z".parse().unwrap();
        let at = |text: &str| {
            began(text, now).map(|(at, is_said)| (at.to_string().get(..16).unwrap().to_owned(), is_said))
        };
        let said = |text: &str, is_said: bool| Some((text.to_owned(), is_said));
        assert_eq!(at("down since 09:15."), said("2025-06-02T09:15", true));
        assert_eq!(at("since 14:02, and 16:40"), said("2025-06-01T14:02", false));
        assert_eq!(at("dead since midnight"), said("2025-06-02T00:00", true));
        assert_eq!(at("db-1:5432 and 10.0.0.4:22 time out"), None);
    }
}
