//! The corpus: commands from the policy's grammar and its examples, and what becomes of them when somebody is careless.

use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use ghost_shell::{Known, Policy, Profile, Programs, Surroundings, Verdict};

use super::place::GHOST;

/// A command that the binary calls SAFE.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) command: String,
    pub(super) rule: String,
    /// The program that does the work, behind all wrappers.
    pub(super) program: String,
    /// What each of its commands needs.
    pub(super) profiles: Vec<Profile>,
}

/// What was made up, and what of it can run here.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    pub(super) generated: usize,
    pub(super) safe: usize,
    pub(super) cases: Vec<Case>,
    /// SAFE commands whose program is not installed, by program.
    pub(super) missing: BTreeMap<String, usize>,
}

/// Commands that once searched for a file where they ran: they are in every sample.
const FOUND: [&str; 2] = ["tshark -r a.pcap", "curl -s -w '%{json}' http://127.0.0.1:8080/"];

/// Makes up commands until enough of them can run; every program gets its share.
pub(super) fn make(seed: u64, wanted: usize) -> Corpus {
    make_of(seed, wanted, Vec::new())
}

/// Does the same, with pipes into every program that may stand behind one.
pub(super) fn make_with_pipes(seed: u64, wanted: usize) -> Corpus {
    let policy = Policy::builtin().unwrap();
    let filters: Vec<String> = policy
        .examples()
        .iter()
        .filter(|example| example.entry.starts_with("filter.") && example.verdict == Verdict::Safe)
        .filter_map(|example| {
            // The examples stand in scripts for a guest.
            let (_, script) = example.command.split_once("--scripts '")?;
            Some(script.strip_suffix('\'')?.replace("'\\''", "'").split_once(" | ")?.1.to_owned())
        })
        .collect();
    assert!(filters.len() > 20, "the examples of filters have another form: {filters:?}");
    let mut rng = Rng(!seed);
    let feeders = sample(!seed, wanted / 4);
    let piped = feeders.iter().map(|feeder| format!("{feeder} | {}", filters[rng.below(filters.len())]));
    let every = filters.iter().map(|filter| format!("uname -a | {filter}"));
    make_of(seed, wanted, piped.chain(every).collect())
}

fn make_of(seed: u64, wanted: usize, more: Vec<String>) -> Corpus {
    let policy = Policy::builtin().unwrap();
    let examples = policy.examples().iter().map(|example| example.command.clone());
    let mut rng = Rng(seed);
    let mut bases = sample(seed, wanted * 3);
    bases.extend(examples);
    bases.extend(FOUND.map(str::to_owned));
    bases.extend(more);
    let mutants: Vec<String> = bases.iter().map(|base| mutate(base, &mut rng)).collect();
    bases.extend(mutants);
    let mut corpus = Corpus { generated: bases.len(), ..Corpus::default() };
    let mut seen = HashSet::new();
    let mut groups: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for command in safe_ones(&bases).into_iter().filter(|command| seen.insert(command.clone())) {
        corpus.safe += 1;
        let ruling = policy.classify(&command);
        assert_eq!(ruling.verdict, Verdict::Safe, "the binary and the library disagree: {command}");
        // What no configuration can name always asks.
        let known = Surroundings::read(&ruling.destinations, "").map(|places| Known::of(&places));
        if !known.is_ok_and(|known| policy.unknown(&ruling, &known).is_empty()) {
            continue;
        }
        let profiles = match ruling.list {
            Some(list) => list.stages().into_iter().map(|stage| stage.profile.clone()).collect(),
            None => vec![ruling.profile],
        };
        let programs = || profiles.iter().flat_map(|profile| &profile.programs);
        let program = programs().last().cloned().unwrap_or_else(|| "az".to_owned());
        let absent = programs().find(|name| Programs::default().find(name).is_err());
        match absent {
            Some(name) => *corpus.missing.entry(name.clone()).or_default() += 1,
            None => groups.entry(program.clone()).or_default().push(Case {
                command,
                rule: ruling.rule.into_owned(),
                program,
                profiles,
            }),
        }
    }
    for cases in groups.values_mut() {
        rng.shuffle(cases);
        // The last are taken first.
        cases.sort_by_key(|case| FOUND.contains(&case.command.as_str()));
    }
    while corpus.cases.len() < wanted && groups.values().any(|cases| !cases.is_empty()) {
        corpus.cases.extend(groups.values_mut().filter_map(Vec::pop));
    }
    corpus.cases.truncate(wanted);
    corpus
}

#[expect(clippy::disallowed_methods, reason = "the proof is about the real binary")]
fn ghost(arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(GHOST)
        .arg("shell")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let feeding = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = feeding.join();
    assert!(output.status.success(), "ghost shell {arguments:?}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn sample(seed: u64, count: usize) -> Vec<String> {
    let text = ghost(&["policy", "--sample", &count.to_string(), "--seed", &seed.to_string()], "");
    text.lines().map(str::to_owned).collect()
}

fn safe_ones(commands: &[String]) -> Vec<String> {
    let questions: String =
        commands.iter().map(|command| serde_json::json!({ "command": command }).to_string() + "\n").collect();
    let answers = ghost(&["classify", "--jsonl"], &questions);
    let verdicts = answers.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    commands
        .iter()
        .zip(verdicts)
        .filter(|(_, answer)| answer["verdict"] == "SAFE")
        .map(|(command, _)| command.clone())
        .collect()
}

/// Words that a careless or hostile author would slip in.
const DANGEROUS: [&str; 24] = [
    "-w",
    "-z",
    "-o",
    "--output",
    "-f",
    "-X",
    "-F",
    "-K",
    "-D",
    "-e",
    "-b",
    "-batch",
    "--filename=/tmp/x",
    "/tmp/x",
    "add",
    "flush",
    "set",
    "-Z",
    "--modprobe=/bin/true",
    "exec",
    "-A",
    "-n",
    "-d",
    "--",
];

/// Changes a command in one or two places.
fn mutate(command: &str, rng: &mut Rng) -> String {
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    for _ in 0..=rng.below(2) {
        let at = rng.below(words.len());
        match rng.below(9) {
            0 if words.len() > 1 => drop(words.remove(at)),
            1 => words.insert(at, words[at].clone()),
            2 => words.swap(at, 0),
            3 => words.insert(at, DANGEROUS[rng.below(DANGEROUS.len())].to_owned()),
            4 => words.push(DANGEROUS[rng.below(DANGEROUS.len())].to_owned()),
            // A value attached to what stands before it.
            5 if at > 0 => {
                let value = words.remove(at);
                words[at - 1].push_str(&value);
            }
            6 => words[at] = format!("{}''", words[at]),
            7 => words.insert(
                0,
                ["timeout 2", "nice -n 3", "stdbuf -oL", "timeout -s KILL 1"][rng.below(4)].to_owned(),
            ),
            _ => drop(words[at].pop()),
        }
    }
    words.join(" ")
}

/// A small generator of random numbers (splitmix64).
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (bound.max(1) as u64)).unwrap()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        (1..items.len()).for_each(|at| items.swap(at, self.below(at + 1)));
    }
}
