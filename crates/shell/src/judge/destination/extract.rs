//! From the words of commands to the hosts in them.

use crate::judge::allow::{self, Time};
use crate::judge::cloud;
use crate::judge::path::base;
use crate::policy::{Destinations, Given, Policy, Reading};
use crate::text::{self, Script};

/// Returns what the commands of a text would send to.
pub(in crate::judge) fn destinations(policy: &Policy, script: &Script) -> Vec<String> {
    let mut found = Vec::new();
    for command in &script.commands {
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        of_command(policy, &words, &mut found);
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
    match (policy.transparent(name), arguments) {
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
    let time = Time { bounded: true, guest: false };
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
    // A grammar that takes any word does not tell options from operands.
    let sorted = if given.options.is_empty() { sort(table, arguments) } else { None };
    let (options, operands) = match &sorted {
        Some((options, operands)) => (options.as_slice(), operands.as_slice()),
        None => (given.options.as_slice(), given.operands.as_slice()),
    };
    let mut placed: Vec<(usize, Reading, &str)> = Vec::new();
    for (name, value) in options {
        if let (Some(reading), Some(value)) = (table.option(name), value) {
            placed.push((place(arguments, value), reading, value));
        }
    }
    let operands = match (table.after.as_slice(), operands.split_first()) {
        ([], _) => operands,
        (after, Some((first, rest))) if after.iter().any(|word| word == first) => rest,
        _ => &[],
    };
    // The words of a filter make one text.
    let filter = operands.join(" ");
    match (table.operand(0), operands.first()) {
        (reading @ (Reading::SocketFilter | Reading::PacketFilter), Some(first)) => {
            placed.push((place(arguments, first), reading, &filter));
        }
        _ => placed.extend(
            operands
                .iter()
                .enumerate()
                .map(|(at, operand)| (place(arguments, operand), table.operand(at), *operand)),
        ),
    }
    placed.sort_by_key(|(at, ..)| *at);
    placed.into_iter().for_each(|(_, reading, word)| found.extend(super::read::hosts(reading, word)));
}

/// Options with their values, and operands.
type Sorted<'w> = (Vec<(String, Option<&'w str>)>, Vec<&'w str>);

/// Tells options from operands by the table; nothing where no word has the form of an option.
fn sort<'w>(table: &Destinations, arguments: &[&'w str]) -> Option<Sorted<'w>> {
    arguments.iter().any(|word| word.starts_with('-')).then_some(())?;
    let (mut options, mut operands) = (Vec::new(), Vec::new());
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            operands.extend(words.by_ref());
        } else if word.len() < 2 || !word.starts_with('-') {
            operands.push(word);
        } else if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            options.push((name.to_owned(), Some(value)));
        } else if table.takes_value(word) {
            options.push((word.to_owned(), words.next()));
        } else if let Some((name, value)) = attached(table, word) {
            options.push((name.to_owned(), value.or_else(|| words.next())));
        }
    }
    Some((options, operands))
}

/// Finds the first letter of a bundle that takes a value: the rest of the bundle is the value, or the next word.
fn attached<'w>(table: &Destinations, word: &'w str) -> Option<(String, Option<&'w str>)> {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    letters.char_indices().find_map(|(at, letter)| {
        let name = format!("-{letter}");
        let rest = letters.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty());
        table.takes_value(&name).then_some((name, rest))
    })
}

/// Returns which word a value is, or is part of.
fn place(words: &[&str], value: &str) -> usize {
    let start = value.as_ptr();
    words.iter().position(|word| word.as_bytes().as_ptr_range().contains(&start)).unwrap_or(words.len())
}
