//! What the words of people mean in the network that was found: machines, who calls whom, accounts, the resource group.

use std::net::IpAddr;

use serde_json::Value;

use crate::agent::brief::{Brief, Mention, Symptom, sentences};
use crate::agent::coverage;
use crate::agent::playbook::story::Story;

/// Words behind which the caller stands, in the languages in which incidents are told.
const FROM: &[&str] = &[
    "from", "von", "vom", "aus", "desde", "dal", "depuis", "van", "vanaf", "från", "fra", "z", "ze", "od",
    "iz", "из", "от", "с", "από", "从", "自",
];
/// Words behind which the called one stands.
const TO: &[&str] = &[
    "to", "on", "at", "reach", "reaching", "towards", "toward", "nach", "auf", "zu", "zum", "zur", "an", "a",
    "al", "en", "sur", "vers", "à", "su", "verso", "para", "em", "no", "na", "do", "naar", "op", "til",
    "till", "på", "к", "до", "на", "到", "against", "into", "inside",
];
/// Words that may stand between those and a name.
const BETWEEN: &[&str] = &[
    "the", "vm", "host", "server", "machine", "der", "dem", "den", "die", "das", "la", "el", "le", "il",
    "our", "a", "ip", "address",
];
/// The platform's own address: it belongs to nobody's estate and is nobody's partner.
const PLATFORM: &str = "168.63.129.16";
/// More machines than these are not looked at because nobody named any.
const FEW: usize = 2;

/// A machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Machine {
    /// Its name.
    pub(super) name: String,
    /// Its addresses, private ones first.
    pub(super) addresses: Vec<String>,
    /// Its interface, where known.
    pub(super) nic: String,
}

/// What it is about.
#[derive(Debug, Default)]
pub(super) struct Ground {
    /// The resource group, where one is known.
    pub(super) group: Option<String>,
    /// The machine that calls.
    pub(super) source: Option<Machine>,
    /// The machine that is called.
    pub(super) destination: Option<Machine>,
    /// Further machines that are named.
    pub(super) others: Vec<Machine>,
    /// An address of nobody here that speaks with a machine here.
    pub(super) partner: Option<IpAddr>,
    /// Storage accounts.
    pub(super) accounts: Vec<String>,
    /// What the topology said.
    pub(super) facts: Value,
}

impl Ground {
    /// Reads what people mean, as far as the story goes.
    pub(super) fn read(brief: &Brief, story: &Story) -> Self {
        let found = story.calls("topology").rev().find_map(|done| done.result.get("facts")).cloned();
        let facts = found.unwrap_or_default();
        let known = machines(&facts);
        let text = story.said.to_lowercase();
        let mut ground = Self { group: group(brief, story, &facts, &text), ..Self::default() };
        ground.accounts = accounts(brief, &text, &known);
        let mut named = named(brief, &text, &facts, &known);
        if named.is_empty() && known.is_empty() {
            named = guessed(brief, ground.group.as_deref(), &ground.accounts);
        }
        ground.partner = partner(brief, &named, &known);
        let few = !known.is_empty() && known.len() <= FEW;
        if named.is_empty() && few && ground.accounts.is_empty() {
            named.clone_from(&known);
        }
        let pair = named.len() == 1 && known.len() == FEW && ground.partner.is_none() && !alone(brief);
        let peer = known.iter().find(|machine| pair && !named.contains(machine)).cloned();
        ground.cast(named, &text, brief);
        // Where there are only two, callers may well come from the other one.
        match (&ground.source, &ground.destination) {
            (None, Some(_)) => ground.source = peer,
            (Some(_), None) => ground.destination = peer,
            (Some(_), Some(_)) | (None, None) => {}
        }
        ground.facts = facts;
        ground
    }

    /// Says who calls whom.
    fn cast(&mut self, mut named: Vec<Machine>, text: &str, brief: &Brief) {
        let any = |machine: &Machine, holds: &dyn Fn(&str) -> bool| {
            std::iter::once(&machine.name).chain(&machine.addresses).any(|name| holds(&name.to_lowercase()))
        };
        // The first sentence that says who calls whom does: the next one may tell of something else.
        let tells = |sentence: &&str| {
            let there = |machine: &&Machine| any(machine, &|name| occurrence(sentence, name).is_some());
            let behind = |machine: &Machine| {
                [FROM, TO].iter().any(|marks| any(machine, &|name| stands_behind(sentence, name, marks)))
            };
            let both: Vec<&Machine> = named.iter().filter(there).collect();
            both.len() > 1 && both.into_iter().any(behind)
        };
        let text = sentences(text).into_iter().find(tells).unwrap_or(text);
        let marked =
            |machine: &Machine, marks: &[&str]| any(machine, &|name| stands_behind(text, name, marks));
        // In some languages the same word stands for "of": the last one is meant.
        let from = named.iter().rposition(|machine| marked(machine, FROM));
        if named.len() < 2 {
            let calls = from.is_some()
                || [Symptom::InternetLost, Symptom::StorageUnreachable]
                    .iter()
                    .any(|at| brief.symptoms.contains(at));
            let only = named.pop();
            if calls {
                self.source = only
            } else {
                self.destination = only
            }
            return;
        }
        let at = from.unwrap_or_else(|| {
            // "On A …, B calls it": whoever is not called calls.
            let first_is_called = named.first().is_some_and(|machine| marked(machine, TO));
            let second_is_called = named.get(1).is_some_and(|machine| marked(machine, TO));
            usize::from(first_is_called && !second_is_called)
        });
        self.source = Some(named.remove(at));
        self.destination = Some(named.remove(0));
        self.others = named;
    }

    /// Returns the machines in question: the caller, the called one, others.
    pub(super) fn machines(&self) -> Vec<&Machine> {
        let mut all: Vec<&Machine> = Vec::new();
        for machine in self.source.iter().chain(&self.destination).chain(&self.others) {
            if !all.iter().any(|known| known.name == machine.name) {
                all.push(machine);
            }
        }
        all
    }

    /// Returns their names.
    pub(super) fn names(&self) -> Vec<String> {
        self.machines().into_iter().map(|machine| machine.name.clone()).collect()
    }

    /// Returns the address at the other end of a machine's calls.
    pub(super) fn peer(&self, machine: &Machine) -> Option<String> {
        let other = match (&self.source, &self.destination) {
            (Some(source), Some(destination)) if source.name == machine.name => Some(destination),
            (Some(source), _) if source.name != machine.name => Some(source),
            (_, _) => None,
        };
        let address = other.and_then(|other| other.addresses.first().cloned());
        address.or_else(|| self.partner.map(|address| address.to_string()))
    }

    /// Returns the network and the subnet of the machine that calls.
    pub(super) fn home(&self) -> Option<(String, String)> {
        let own = self.source.as_ref().or(self.destination.as_ref())?;
        let named = |value: &&Value| value.get("name").and_then(Value::as_str) == Some(&own.name);
        let machine = array(&self.facts, "machines").find(named)?;
        let text = |key: &str| {
            let last = machine.get(key)?.as_str()?.rsplit('/').next()?;
            is_plain(last).then(|| last.to_owned())
        };
        Some((text("vnet")?, text("subnet")?))
    }

    /// Returns the network, the subnet and its service endpoints, as they are now.
    pub(super) fn endpoints(&self, network: &str, subnet: &str) -> Option<Vec<String>> {
        let named = |value: &&Value, name: &str| value.get("name").and_then(Value::as_str) == Some(name);
        let network = array(&self.facts, "networks").find(|value| named(value, network))?;
        let subnet = array(network, "subnets").find(|value| named(value, subnet))?;
        let list = subnet.get("endpoints")?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).filter(|name| is_plain(name)).map(str::to_owned).collect())
    }
}

/// Tells whether it is about one machine alone.
fn alone(brief: &Brief) -> bool {
    [
        Symptom::Exposure,
        Symptom::Containers,
        Symptom::InternetLost,
        Symptom::StorageUnreachable,
        Symptom::Names,
    ]
    .iter()
    .any(|symptom| brief.symptoms.contains(symptom))
}

fn array<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Tells whether a text is such as names and addresses are.
pub(super) fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && text.chars().all(|char| char.is_ascii_alphanumeric() || "._-():".contains(char))
}

fn machines(facts: &Value) -> Vec<Machine> {
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let machine = |value: &Value| Machine {
        name: text(value, "name"),
        addresses: ["addresses", "public"]
            .iter()
            .flat_map(|key| array(value, key))
            .filter_map(Value::as_str)
            .filter(|address| address.parse::<IpAddr>().is_ok())
            .map(str::to_owned)
            .collect(),
        nic: text(value, "nic"),
    };
    array(facts, "machines").map(machine).filter(|machine| is_plain(&machine.name)).collect()
}

/// Returns the machines that are named: exactly, then glued to other letters, then by a part of a name.
fn named(brief: &Brief, text: &str, facts: &Value, known: &[Machine]) -> Vec<Machine> {
    let of = |name: &String| known.iter().find(|machine| machine.name == *name).cloned();
    let mut found: Vec<Machine> = coverage::machines(brief, facts).iter().filter_map(of).collect();
    let mut places: Vec<(usize, usize, &Machine)> = known
        .iter()
        .filter_map(|machine| {
            Some((occurrence(text, &machine.name.to_lowercase())?, machine.name.len(), machine))
        })
        .collect();
    // Of names that begin at one place the longest is meant.
    places.sort_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length)));
    places.dedup_by_key(|(at, _, _)| *at);
    for (_, _, machine) in places {
        if !found.contains(machine) {
            found.push(machine.clone());
        }
    }
    if !found.is_empty() {
        return found;
    }
    for mention in &brief.mentions {
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

/// Finds a name that no letter of a name touches.
fn occurrence(text: &str, name: &str) -> Option<usize> {
    let touches = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + name.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(|char| touches(char) || char == '.') && !behind.is_some_and(touches)
    })
}

/// Tells whether a name stands behind one of some words, with nothing much between.
fn stands_behind(text: &str, name: &str, marks: &[&str]) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        // A clause that ended says nothing about what follows.
        let clause = before.rsplit([',', ';', '.', ':', '\n']).next().unwrap_or_default();
        let clause = if clause.trim().is_empty() && before.ends_with('(') { "" } else { clause };
        let words = clause.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        let last = words.rev().find(|word| !BETWEEN.contains(word) || marks.contains(word));
        last.is_some_and(|word| marks.contains(&word))
    })
}

/// Without a topology: words that look like a machine's name.
fn guessed(brief: &Brief, group: Option<&str>, accounts: &[String]) -> Vec<Machine> {
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
    brief.mentions.iter().filter_map(machine).take(FEW).collect()
}

fn partner(brief: &Brief, named: &[Machine], known: &[Machine]) -> Option<IpAddr> {
    if named.len() > 1 {
        return None;
    }
    let owned = |address: &IpAddr| {
        let address = address.to_string();
        known.iter().any(|machine| machine.addresses.contains(&address))
    };
    brief.mentions.iter().find_map(|mention| match mention {
        Mention::Address(address) if !owned(address) && address.to_string() != PLATFORM => Some(*address),
        Mention::Address(_) | Mention::Word(_) => None,
    })
}

fn accounts(brief: &Brief, text: &str, known: &[Machine]) -> Vec<String> {
    if !brief.symptoms.contains(&Symptom::StorageUnreachable)
        && !text.contains("storage")
        && !text.contains("blob")
    {
        return Vec::new();
    }
    let mut found: Vec<(bool, String)> = Vec::new();
    for mention in &brief.mentions {
        let Mention::Word(word) = mention else { continue };
        let word = word.to_lowercase();
        let host = word.split_once('.').filter(|(_, rest)| rest.ends_with("core.windows.net"));
        let (sure, name) = match host {
            Some((name, _)) => (true, name.to_owned()),
            None => (
                stands_behind(
                    text,
                    &word,
                    &["account", "storage", "konto", "cuenta", "compte", "speicherkonto"],
                ),
                word,
            ),
        };
        let fits = (3..=24).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && name.bytes().any(|byte| byte.is_ascii_lowercase());
        let digits = name.bytes().filter(u8::is_ascii_digit).count();
        if fits
            && (digits > 1 || (sure && name.len() > 7))
            && !known.iter().any(|machine| machine.name == name)
        {
            found.push((!sure, name));
        }
    }
    // Those that are called an account come first.
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, name)| name).take(FEW).collect()
}

fn group(brief: &Brief, story: &Story, facts: &Value, text: &str) -> Option<String> {
    let words = || {
        brief.mentions.iter().filter_map(|mention| match mention {
            Mention::Word(word) => Some(word),
            Mention::Address(_) => None,
        })
    };
    if !story.groups.is_empty() {
        let named =
            words().find_map(|word| story.groups.iter().find(|group| group.eq_ignore_ascii_case(word)));
        return named.or_else(|| story.groups.first()).cloned();
    }
    let told = facts.get("group").and_then(Value::as_str).filter(|group| is_plain(group)).map(str::to_owned);
    let behind = |word: &&String| {
        let word = word.to_lowercase();
        text.contains(&format!("resource group {word}")) || text.contains(&format!("resource-group {word}"))
    };
    let ends =
        |word: &&String| word.to_lowercase().ends_with("-rg") || word.to_lowercase().starts_with("rg-");
    words().find(behind).or_else(|| words().find(ends)).cloned().or(told)
}
