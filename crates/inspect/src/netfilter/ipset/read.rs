//! The text of `ipset save`.

use std::collections::HashMap;

use serde::Serialize;

use crate::netfilter::ruleset::Warning;

/// A set of the kernel that rules of `iptables` name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IpSet {
    /// The name by which rules refer to the set.
    pub name: String,
    /// Its type, such as `hash:ip,port`.
    pub kind: String,
    /// What else it was created with, apart from sizes and seeds that the kernel chooses.
    pub options: Vec<String>,
    /// Its elements.
    pub members: Vec<Member>,
    /// Whether some of its elements could not be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
}

/// An element of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    /// What it stands for, as printed.
    pub value: String,
    /// Whether it is an exception from a wider element.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nomatch: bool,
    /// After how many seconds it goes by itself; 0 is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// What somebody wrote beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

impl IpSet {
    /// Returns an option's value, or an empty text where it stands alone.
    pub(in crate::netfilter) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| match option.split_once(' ') {
            Some((own, value)) => (own == name).then_some(value),
            None => (option == name).then_some(""),
        })
    }

    /// Whether elements go by themselves.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        self.option("timeout").is_some()
    }
}

/// Reads what `ipset save` printed; nothing in it is no set, and no failure.
#[must_use]
pub fn read_sets(text: &str) -> (Vec<IpSet>, Vec<Warning>) {
    let mut sets: Vec<IpSet> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut warnings = Vec::new();
    // What is not even known to be an element of some set may be one of any.
    let mut lost = false;
    for (number, line) in text.lines().enumerate() {
        let words = split(line.trim());
        let mut words = words.iter().map(String::as_str);
        let odd = match (words.next(), words.next()) {
            (None, _) => None,
            (Some(first), _) if first.starts_with('#') => None,
            (Some("create" | "-N"), Some(name)) => {
                let kind = words.next().unwrap_or_default().to_owned();
                let set = IpSet {
                    name: name.to_owned(),
                    kind,
                    options: options(words),
                    members: Vec::new(),
                    unread: false,
                };
                if let Some(at) = places.get(name) {
                    if let Some(set) = sets.get_mut(*at) {
                        set.unread = true;
                    }
                    Some(format!("the set {name} is created twice"))
                } else {
                    places.insert(set.name.clone(), sets.len());
                    sets.push(set);
                    None
                }
            }
            (Some("add" | "-A"), Some(name)) => {
                match (places.get(name).and_then(|at| sets.get_mut(*at)), words.next()) {
                    (Some(set), Some(value)) => {
                        set.members.push(member(value, words));
                        None
                    }
                    (None, _) => Some(format!("an element of {name}, a set that was not created, left out")),
                    (Some(set), None) => {
                        set.unread = true;
                        Some("an element without a value, left out".to_owned())
                    }
                }
            }
            _ => {
                lost = true;
                Some(format!("not understood: {}", line.chars().take(80).collect::<String>()))
            }
        };
        if let Some(what) = odd {
            warnings.push(Warning { place: format!("line {} of ipset", number + 1), what });
        }
    }
    sets.iter_mut().for_each(|set| set.unread |= lost);
    (sets, warnings)
}

/// Sizes grow by themselves and seeds are drawn: neither is anybody's decision.
fn options<'a>(mut words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "counters" | "comment" | "skbinfo" | "forceadd" | "wildcard" => found.push(word.to_owned()),
            "hashsize" | "initval" | "bucketsize" | "size" => drop(words.next()),
            name => found.push(format!("{name} {}", words.next().unwrap_or_default())),
        }
    }
    found.sort_unstable();
    found
}

fn member<'a>(value: &str, mut words: impl Iterator<Item = &'a str>) -> Member {
    let mut member = Member { value: value.to_owned(), nomatch: false, timeout: None, comment: None };
    while let Some(word) = words.next() {
        match word {
            "nomatch" => member.nomatch = true,
            "timeout" => member.timeout = words.next().and_then(|seconds| seconds.parse().ok()),
            "comment" => member.comment = words.next().map(str::to_owned),
            // Numbers that packets change, and marks that are put on packets.
            _ => drop(words.next()),
        }
    }
    member
}

fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('"').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
