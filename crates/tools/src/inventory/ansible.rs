//! An inventory of Ansible as INI: groups, their variables, ranges.

use std::collections::BTreeMap;

use super::variables::Variables;
use super::{Entries, MAX_ENTRIES};

/// Reads one.
pub(super) fn parse(text: &str) -> anyhow::Result<Entries> {
    let mut hosts: BTreeMap<String, Variables> = BTreeMap::new();
    let mut members: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut variables: BTreeMap<String, Variables> = BTreeMap::new();
    let (mut group, mut kind) = ("ungrouped".to_owned(), String::new());
    for line in text.lines() {
        let words = words(line);
        let Some(first) = words.first() else { continue };
        if let Some(head) = first.strip_prefix('[').filter(|head| head.ends_with(']') && words.len() == 1) {
            let head = head.trim_end_matches(']');
            let (name, of) = head.split_once(':').unwrap_or((head, ""));
            (group, kind) = (name.to_owned(), of.to_owned());
            continue;
        }
        match kind.as_str() {
            "vars" => {
                let line = line.trim();
                if let Some((key, value)) = line.split_once('=') {
                    let value = value.trim().trim_matches(['"', '\'']);
                    variables.entry(group.clone()).or_default().set(key.trim(), value);
                }
            }
            "children" => children.entry(group.clone()).or_default().push(first.clone()),
            _ => {
                for name in expand(first)? {
                    anyhow::ensure!(hosts.len() < MAX_ENTRIES, "it names more than {MAX_ENTRIES} machines");
                    let own = hosts.entry(name.clone()).or_default();
                    for (key, value) in words.iter().skip(1).filter_map(|word| word.split_once('=')) {
                        own.set(key, value);
                    }
                    members.entry(group.clone()).or_default().push(name);
                }
            }
        }
    }
    let parents = |of: &str| -> Vec<String> {
        children
            .iter()
            .filter(|(_, own)| own.iter().any(|child| child == of))
            .map(|(name, _)| name.clone())
            .collect()
    };
    for (name, own) in &mut hosts {
        let mut groups: Vec<String> =
            members.iter().filter(|(_, all)| all.contains(name)).map(|(group, _)| group.clone()).collect();
        let mut at = 0;
        // The nearest group counts first; a group that contains itself is met once.
        while let Some(group) = groups.get(at).cloned() {
            let more: Vec<String> = parents(&group).into_iter().filter(|one| !groups.contains(one)).collect();
            groups.extend(more);
            at += 1;
        }
        groups.push("all".to_owned());
        groups.iter().filter_map(|group| variables.get(group)).for_each(|more| own.inherit(more));
    }
    Ok(hosts.into_iter().map(|(name, own)| (name, own.entry())).collect())
}

/// Splits a line at blanks; quotes keep them, and `#` or `;` ends it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut begun) = (String::new(), None, false);
    for char in line.chars() {
        match (quote, char) {
            (Some(open), _) if open == char => quote = None,
            (Some(_), _) => word.push(char),
            (None, '"' | '\'') => {
                quote = Some(char);
                begun = true;
            }
            (None, '#' | ';') if !begun && word.is_empty() => break,
            (None, _) if char.is_whitespace() => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (None, _) => word.push(char),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

/// Expands `web[01:20].lab` and `node-[a:f]`.
fn expand(name: &str) -> anyhow::Result<Vec<String>> {
    let range = name.split_once('[').and_then(|(before, rest)| {
        let (range, behind) = rest.split_once(']')?;
        let (first, last) = range.split_once(':')?;
        // A step is no part of its end.
        Some((before, first, last.split(':').next().unwrap_or(last), behind))
    });
    let Some((before, first, last, behind)) = range else { return Ok(vec![name.to_owned()]) };
    let made: Vec<String> =
        match (first.parse::<u32>(), last.parse::<u32>(), first.as_bytes(), last.as_bytes()) {
            (Ok(low), Ok(high), _, _) => {
                let many = usize::try_from(high.saturating_sub(low)).unwrap_or(usize::MAX);
                anyhow::ensure!(
                    many < MAX_ENTRIES,
                    "the range of {name} names more than {MAX_ENTRIES} machines"
                );
                let width = first.len();
                (low..=high).map(|number| format!("{before}{number:0width$}{behind}")).collect()
            }
            (_, _, [low], [high]) if low.is_ascii_alphabetic() && high.is_ascii_alphabetic() => {
                (*low..=*high).map(|letter| format!("{before}{}{behind}", char::from(letter))).collect()
            }
            (_, _, _, _) => anyhow::bail!("the range of {name} is none"),
        };
    let mut all = Vec::new();
    for name in made {
        all.extend(expand(&name)?);
        anyhow::ensure!(
            all.len() <= MAX_ENTRIES,
            "the range of {name} names more than {MAX_ENTRIES} machines"
        );
    }
    Ok(all)
}
