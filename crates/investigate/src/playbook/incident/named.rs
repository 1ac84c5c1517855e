//! The machines that are known, and those that people speak of.

use std::net::IpAddr;

use super::read::{MAX_UNNAMED_MACHINES, Machine, is_plain};
use super::word::occurrence;
use crate::coverage;
use crate::listed::{ListedMachine, ListedResources};
use crate::symptom_text::{Mention, SymptomText};

/// The platform's own address: it belongs to nobody's estate and is nobody's partner.
const PLATFORM: &str = "168.63.129.16";

/// Returns the machines that the topology lists.
pub(super) fn machines(listed: &ListedResources) -> Vec<Machine> {
    let machine = |listed: &ListedMachine| Machine {
        name: listed.name.clone(),
        addresses: listed
            .all_addresses()
            .filter(|address| address.parse::<IpAddr>().is_ok())
            .map(str::to_owned)
            .collect(),
        nic: listed.nic.clone().unwrap_or_default(),
    };
    listed.machines.iter().map(machine).filter(|machine| is_plain(&machine.name)).collect()
}

/// Returns the machines that are named: exactly, then glued to other letters, then by a part of a name.
pub(super) fn named(
    symptom_text: &SymptomText,
    text: &str,
    listed: &ListedResources,
    known: &[Machine],
) -> Vec<Machine> {
    let of = |name: &String| known.iter().find(|machine| machine.name == *name).cloned();
    let mut found: Vec<Machine> =
        coverage::machines(symptom_text, &listed.machines).iter().filter_map(of).collect();
    let mut positions: Vec<(usize, usize, &Machine)> = known
        .iter()
        .filter_map(|machine| {
            Some((occurrence(text, &machine.name.to_lowercase())?, machine.name.len(), machine))
        })
        .collect();
    // Of names that begin at one place the longest is meant.
    positions.sort_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length)));
    positions.dedup_by_key(|(at, _, _)| *at);
    for (_, _, machine) in positions {
        if !found.contains(machine) {
            found.push(machine.clone());
        }
    }
    if !found.is_empty() {
        return found;
    }
    for mention in &symptom_text.mentions {
        let Mention::Word(word) = mention else { continue };
        let word = word.to_lowercase();
        let mut holding =
            known.iter().filter(|machine| word.len() >= 4 && machine.name.to_lowercase().contains(&word));
        if let (Some(machine), None) = (holding.next(), holding.next())
            && !found.contains(machine)
        {
            found.push(machine.clone());
        }
    }
    found
}

/// Without a topology: words that look like a machine's name.
pub(super) fn guessed(symptom_text: &SymptomText, group: Option<&str>, accounts: &[String]) -> Vec<Machine> {
    let is_machine = |word: &str| {
        let lower = word.to_lowercase();
        lower.contains('-')
            && is_plain(word)
            && ["vm", "srv", "host", "node", "server"].iter().any(|part| lower.contains(part))
            && !lower.ends_with("-rg")
            && Some(word) != group
            && !accounts.iter().any(|account| account == word)
    };
    let machine = |mention: &Mention| match mention {
        Mention::Word(word) if is_machine(word) => Some(Machine { name: word.clone(), ..Machine::default() }),
        Mention::Word(_) | Mention::Address(_) => None,
    };
    symptom_text.mentions.iter().filter_map(machine).take(MAX_UNNAMED_MACHINES).collect()
}

/// Returns an address of nobody here, where one machine speaks with it.
pub(super) fn partner(symptom_text: &SymptomText, named: &[Machine], known: &[Machine]) -> Option<IpAddr> {
    if named.len() > 1 {
        return None;
    }
    let owned = |address: &IpAddr| {
        let address = address.to_string();
        known.iter().any(|machine| machine.addresses.contains(&address))
    };
    symptom_text.mentions.iter().find_map(|mention| match mention {
        Mention::Address(address) if !owned(address) && address.to_string() != PLATFORM => Some(*address),
        Mention::Address(_) | Mention::Word(_) => None,
    })
}
