//! From the words of commands to the hosts in them.

use crate::judge::address::parse_address;
use crate::judge::allow::{self, Time};
use crate::judge::path::base;
use crate::judge::{cloud, list};
use crate::policy::{Destinations, Given, Policy, Reading};
use crate::text::{self, Script};

/// Returns what the commands of a text would send to.
pub(in crate::judge) fn destinations(policy: &Policy, script: &Script) -> Vec<String> {
    let mut found = Vec::new();
    for command in &script.commands {
        of_command(policy, &list::judged(command), &mut found);
    }
    let mut once: Vec<String> = Vec::new();
    for host in found {
        if !host.is_empty() && !once.iter().any(|known| known.eq_ignore_ascii_case(&host)) {
            once.push(host);
        }
    }
    once
}

fn of_command(policy: &Policy, words: &[&str], found: &mut Vec<String>) {
    let Some((program, arguments)) = words.split_first() else { return };
    let name = base(program);
    if cloud::is_az(name) {
        found.extend(cloud::destinations(words, &policy.cloud));
        for script in cloud::scripts(words, &policy.cloud) {
            found.extend(destinations(policy, &text::read(&script)));
        }
        return;
    }
    match (policy.transparent(name, arguments), arguments) {
        (Some(entry), _) => match entry.grammar.read(arguments, &policy.files) {
            Ok(given) => of_command(policy, arguments.get(given.inner..).unwrap_or_default(), found),
            Err(_) => found.extend(arguments.iter().map(|word| (*word).to_owned())),
        },
        (None, ["-n", inner @ ..] | inner) if name == "sudo" => of_command(policy, inner, found),
        (None, _) => of_program(policy, name, arguments, found),
    }
}

/// Reads a command by every entry that it fits: which of them allowed it makes no difference.
fn of_program(policy: &Policy, name: &str, arguments: &[&str], found: &mut Vec<String>) {
    let entries = policy.entries(name).iter().chain(policy.remote(name)).chain(policy.filter(name));
    let mut is_read = false;
    let time = Time { bound: Some(0), guest: false };
    for entry in entries.filter(|entry| allow::fits(policy, entry, name, arguments, time).is_ok()) {
        let Ok(given) = entry.grammar.read(arguments, &policy.files) else { continue };
        is_read = true;
        match policy.destinations(name) {
            Some(table) => collect(table, &given, arguments, found),
            // Nobody said what it sends to.
            None if entry.profile.opens_connections() => undescribed(&given, arguments, found),
            None => {}
        }
    }
    if !is_read {
        found.extend(arguments.iter().map(|word| (*word).to_owned()));
    }
}

fn undescribed(given: &Given<'_>, arguments: &[&str], found: &mut Vec<String>) {
    found.extend(given.options.iter().filter_map(|(_, value)| *value).map(str::to_owned));
    collect(&Destinations::undescribed(), given, arguments, found);
}

fn collect(table: &Destinations, given: &Given<'_>, arguments: &[&str], found: &mut Vec<String>) {
    let mut placed: Vec<(usize, Vec<String>)> = Vec::new();
    for (name, value) in &given.options {
        if let (Some(reading), Some(value)) = (table.option(name), value) {
            placed.push((place(arguments, value), super::read::hosts(reading, value)));
        }
    }
    let operands = match (table.after.as_slice(), given.operands.split_first()) {
        ([], _) => given.operands.as_slice(),
        (after, Some((first, rest))) if after.iter().any(|word| word == first) => rest,
        _ => &[],
    };
    // The words of a filter make one text.
    let filter = operands.join(" ");
    match (table.operand(0), operands.first()) {
        (reading @ (Reading::SocketFilter | Reading::PacketFilter), Some(first)) => {
            placed.push((place(arguments, first), super::read::hosts(reading, &filter)));
        }
        _ => placed.extend(operands.iter().enumerate().map(|(at, operand)| {
            (place(arguments, operand), super::read::hosts(table.operand(at), operand))
        })),
    }
    let is_ipv6 = |host: &String| parse_address(host).is_some_and(|address| address.is_ipv6());
    let to_ipv6 = given.has("-6") || placed.iter().flat_map(|(_, hosts)| hosts).any(is_ipv6);
    placed.push((0, table.always.clone()));
    let options = given.options.iter().map(|(name, _)| name.as_str());
    for name in options.chain(given.operands.iter().copied().filter(|word| word.starts_with('+'))) {
        let at = arguments.iter().position(|word| holds_option(word, name)).unwrap_or(arguments.len());
        placed.push((at, table.brought(name, to_ipv6)));
    }
    placed.sort_by_key(|(at, _)| *at);
    found.extend(placed.into_iter().flat_map(|(_, hosts)| hosts));
}

/// True if a word is an option, begins with it and `=`, or is a bundle with its letter.
fn holds_option(word: &str, name: &str) -> bool {
    let is_long = word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    let bundle = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    let letter = name.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
    is_long || bundle.zip(letter).is_some_and(|(letters, letter)| letters.contains(letter))
}

/// Returns which word a value is, or is part of.
fn place(words: &[&str], value: &str) -> usize {
    let start = value.as_ptr();
    words.iter().position(|word| word.as_bytes().as_ptr_range().contains(&start)).unwrap_or(words.len())
}
