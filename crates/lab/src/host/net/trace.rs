//! Traces that give an injection away: what stands on a machine with a fault in it, and would not if the fault had come by itself.
//!
//! Goes in: what was gathered on a machine when it was well, and with the fault in it. Comes out: names of this lab that stand only in the
//! second, and ports that another program holds than before. Never: a word about whether the fault was found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ghost_inspect::host::{Gathered, Part};

/// What a process is called that holds networks: sockets of its own stand for services that no program is there for.
const SERVICE: &str = "app";
/// Names that no machine has by itself, beside those of the faults.
const OWN: [&str; 3] = ["ghost", "nika", "inject"];

/// Gives this process the name of a service, for whoever holds networks and does nothing else: its own name would be that of the program
/// that finds faults.
pub fn take_service_name() {
    // Where the kernel does not want to, every listener of this process is a trace, and the board says so.
    drop(std::fs::write("/proc/self/comm", SERVICE));
}

/// Something that gives an injection away.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trace {
    /// A name of this lab or of a fault.
    Name {
        /// The machine.
        machine: String,
        /// Where it stands.
        part: Part,
        /// The name.
        name: String,
    },
    /// A port that another program holds than when the machine was well.
    Owner {
        /// The machine.
        machine: String,
        /// Protocol and number.
        port: String,
        /// The program before.
        before: String,
        /// The program now.
        now: String,
    },
}

impl fmt::Display for Trace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { machine, part, name } => write!(out, "{machine}: `{name}` stands in {part}"),
            Self::Owner { machine, port, before, now } => {
                write!(out, "{machine}: {port} is held by {now}, and was by {before}")
            }
        }
    }
}

/// Compares what was gathered with a fault in the network to what was gathered before; `faults` are the names of the faults.
pub(super) fn traces(
    well: &BTreeMap<String, Gathered>,
    found: &BTreeMap<String, Gathered>,
    faults: &[&str],
) -> BTreeSet<Trace> {
    let nothing = Gathered::default();
    let mut traces = BTreeSet::new();
    for (machine, now) in found {
        let before = well.get(machine).unwrap_or(&nothing);
        for part in Part::ALL.iter().copied().filter(|part| !is_of_the_whole_computer(*part)) {
            let names =
                new_names(before.text(part).unwrap_or_default(), now.text(part).unwrap_or_default(), faults);
            traces.extend(names.map(|name| Trace::Name { machine: machine.clone(), part, name }));
        }
        let owners = |gathered: &Gathered| owners(gathered.text(Part::Listeners).unwrap_or_default());
        let (before, now) = (owners(before), owners(now));
        for (port, now) in now {
            let Some(before) = before.get(&port).filter(|before| **before != now) else { continue };
            traces.insert(Trace::Owner { machine: machine.clone(), port, before: before.clone(), now });
        }
    }
    traces
}

/// Namespaces divide the network, not the processes: these list what runs on the computer that holds all machines.
const fn is_of_the_whole_computer(part: Part) -> bool {
    matches!(part, Part::Processes)
}

/// The names in lines that were not there before.
fn new_names<'a>(before: &'a str, now: &'a str, faults: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let known: BTreeSet<&str> = before.lines().collect();
    let fresh: Vec<String> =
        now.lines().filter(|line| !known.contains(line)).map(str::to_ascii_lowercase).collect();
    // A name of one word may be a word of the field: `router` is a network and a look-alike.
    let faults = faults.iter().copied().filter(|name| name.contains('_'));
    let names = OWN.into_iter().chain(faults);
    names.filter(move |name| fresh.iter().any(|line| line.contains(name))).map(str::to_owned)
}

/// Who holds which port, by the lines of `ss`.
fn owners(listeners: &str) -> BTreeMap<String, String> {
    let mut owners = BTreeMap::new();
    for line in listeners.lines() {
        let mut words = line.split_whitespace();
        let (protocol, local) = (words.next().unwrap_or_default(), words.nth(3).unwrap_or_default());
        let Some((_, port)) = local.rsplit_once(':') else { continue };
        let Some((_, owner)) = line.split_once("users:((\"") else { continue };
        let owner = owner.split('"').next().unwrap_or_default().to_owned();
        // Who listens for both families does so twice.
        owners.entry(format!("{protocol}/{port}")).or_insert(owner);
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(parts: &[(Part, &str)]) -> BTreeMap<String, Gathered> {
        let gathered = parts.iter().fold(Gathered::default(), |all, (part, text)| all.with(*part, text));
        BTreeMap::from([("b".to_owned(), gathered)])
    }

    fn said(well: &[(Part, &str)], found: &[(Part, &str)]) -> Vec<String> {
        traces(&machine(well), &machine(found), &["link_flap", "router"])
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_name_of_the_lab_that_came_with_the_fault_is_a_trace() {
        let table = "table inet Ghost_t { }";
        assert_eq!(said(&[], &[(Part::FilterNft, table)]), ["b: `ghost` stands in filter-nft"]);
        assert_eq!(said(&[(Part::FilterNft, table)], &[(Part::FilterNft, table)]), [""; 0]);
        assert_eq!(said(&[], &[(Part::Hosts, "10.0.0.1 link_flap")]), ["b: `link_flap` stands in hosts"]);
        // A word of the field, and what runs beside the machines.
        assert_eq!(said(&[], &[(Part::Routing, "router bgp 65001"), (Part::Processes, "9 ghost")]), [""; 0]);
    }

    #[test]
    fn a_port_that_another_program_holds_is_a_trace_and_one_that_is_gone_is_none() {
        let line = |at: &str, program: &str| {
            format!("tcp LISTEN 0 511 {at} 0.0.0.0:* users:((\"{program}\",pid=7,fd=6))")
        };
        let (well, same) = (line("0.0.0.0:80", "nginx"), line("127.0.0.1:80", "nginx"));
        let other = line("*:80", "app");
        let listeners = |line: &'static str| [(Part::Listeners, line)];
        let (well, same, other) = (well.leak(), same.leak(), other.leak());
        assert_eq!(said(&listeners(well), &listeners(other)), ["b: tcp/80 is held by app, and was by nginx"]);
        for gone in [same, ""] {
            assert_eq!(said(&listeners(well), &listeners(gone)), [""; 0]);
        }
        assert_eq!(said(&[], &listeners(other)), [""; 0]);
    }
}
