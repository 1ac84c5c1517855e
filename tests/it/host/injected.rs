//! Faults of networks of the real kernel, asked about in plain words: `ghost investigate` over ssh, machine by machine, from outside.

use std::collections::BTreeSet;

use ghost_inspect::host::Fault;
use ghost_lab::host::HostError;
use ghost_lab::host::net::{FAULTS, Net, Spec};
use tempfile::TempDir;

use super::asked::{Ended, ghost, investigate};
use super::sshd::{Keys, Sshd, skipped};
use crate::random::{Random, is_long, seed, setting};

/// So many are drawn.
const SAMPLE: usize = 10;

/// How a fault was answered.
struct Answer {
    name: &'static str,
    truth: BTreeSet<String>,
    said: BTreeSet<String>,
    outcome: String,
}

impl Answer {
    fn f1(&self) -> f64 {
        let both = self.truth.intersection(&self.said).count();
        let all = self.truth.len() + self.said.len();
        if all == 0 { 1.0 } else { 2.0 * both as f64 / all as f64 }
    }
}

/// Names a machine as people do: a name of one letter is no name in a sentence.
fn named(object: &str, machines: &[String]) -> String {
    let parts = object.split('/').enumerate().map(|(at, part)| match at {
        1 if machines.iter().any(|name| name == part) => format!("box-{part}"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Says what somebody would say of it.
fn words(spec: &Spec, net: &Net) -> String {
    let about_names = |fault: &str| ["dns", "name", "resolver"].iter().any(|word| fault.contains(word));
    // Whoever gets to the wrong machine by a name knows the name.
    let named = spec.truth.iter().find_map(|(fault, object)| {
        let wrong = [Fault::DnsWrongRecord, Fault::HostsOverride].contains(fault);
        object.rsplit('/').next().filter(|_| wrong)
    });
    if let Some(name) = named {
        return format!("box-a does not get to {name} on port {}, since yesterday", spec.to.1);
    }
    if about_names(spec.name) || spec.truth.iter().any(|(fault, _)| about_names(&fault.to_string())) {
        return "names fail or are slow on box-a".to_owned();
    }
    let (to, port) = (net.fill(spec.to.0), spec.to.1);
    format!("connections from box-a to {to} on port {port} hang, time out or are slow")
}

/// Puts a fault in, asks, and takes everything away. The machines are reached beside their own network, as by a network for administrators.
fn answer(spec: &Spec, random: &mut Random) -> Result<Answer, HostError> {
    let home: TempDir = tempfile::tempdir().unwrap();
    let mut net = Net::up(spec.topology, random.next(), home.path())?;
    net.inject(spec)?;
    let machines: Vec<(String, String)> =
        net.machines().into_iter().filter(|(name, _)| !spec.hidden.contains(&name.as_str())).collect();
    let lines: Vec<String> = machines
        .iter()
        .map(|(_, space)| format!("ip netns exec {space} sh -c \"$SSH_ORIGINAL_COMMAND\""))
        .collect();
    let keys = Keys::new();
    let forced: Vec<Option<&str>> = lines.iter().map(|line| Some(line.as_str())).collect();
    let (_server, ports) = Sshd::of_many(&keys, &forced);
    let known: Vec<(&str, u16)> = ports.iter().map(|port| ("127.0.0.1", *port)).collect();
    let known = keys.known(&known);
    let mut table = "name,address,user,port,key\n".to_owned();
    for ((name, _), port) in machines.iter().zip(&ports) {
        table.push_str(&format!("box-{name},127.0.0.1,root,{port},{}\n", keys.at("user").display()));
    }
    let inventory = home.path().join("hosts.csv");
    std::fs::write(&inventory, table).unwrap();
    let symptom = words(spec, &net);
    let hosts: Vec<String> = machines.iter().map(|(name, _)| format!("box-{name}")).collect();
    let mut words = vec![symptom.as_str(), "--inventory", inventory.to_str().unwrap()];
    words.extend(["--known-hosts", known.to_str().unwrap()]);
    words.extend(hosts.iter().flat_map(|host| ["--host", host.as_str()]));
    let ended = Ended::read(investigate(ghost(), None, home.path(), &words));
    let names: Vec<String> = machines.into_iter().map(|(name, _)| name).collect();
    let truth = spec.truth.iter().map(|(fault, object)| {
        let object = named(&net.fill(object), &names);
        // An investigation calls a port that nobody serves by its listener, as in the cloud.
        let object = match (fault, object.strip_prefix("service/")) {
            (Fault::NotListening, Some(rest)) => format!("listener/{rest}"),
            (_, _) => object,
        };
        format!("{fault} {object}")
    });
    Ok(Answer {
        name: spec.name,
        truth: truth.collect(),
        said: ended.found().into_iter().collect(),
        outcome: ended.concluded()["outcome"].as_str().unwrap().to_owned(),
    })
}

#[test]
fn what_people_say_of_a_fault_leads_to_it_and_accuses_nothing_else() {
    if skipped() || crate::netns::skipped() {
        return;
    }
    let case = setting("GHOST_TEST_CASE");
    let mut random = Random::new(seed("injected and asked about"));
    let mut left: Vec<Spec> =
        FAULTS.iter().filter(|spec| case.is_empty() || spec.name == case).copied().collect();
    let count = if is_long() { left.len() } else { SAMPLE.min(left.len()) };
    let mut answers = Vec::new();
    while answers.len() < count && !left.is_empty() {
        let spec = left.swap_remove(random.below(left.len()));
        match answer(&spec, &mut random) {
            Ok(answer) => {
                println!(
                    "{:.2} {} {}: {:?} of {:?}",
                    answer.f1(),
                    answer.outcome,
                    answer.name,
                    answer.said,
                    answer.truth
                );
                answers.push(answer);
            }
            Err(HostError::Lacking(why)) => println!("skipped: {}: {why}", spec.name),
            Err(error) => panic!("{}: {error}", spec.name),
        }
    }
    let mean = answers.iter().map(Answer::f1).sum::<f64>() / answers.len() as f64;
    assert!(mean >= 0.7, "{mean:.2}");
}
