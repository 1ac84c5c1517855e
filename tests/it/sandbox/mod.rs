//! The proof of the sandbox: every SAFE command of a generated corpus runs in it under strace, and what it did is checked.
//!
//! `GHOST_LONG=1` runs 2,000 commands instead of a sample, and 20,000 that are watched for files they look for; `GHOST_TEST_SEED`
//! repeats a run; `GHOST_TEST_WITHOUT=strace` runs the tests without.

#![expect(clippy::indexing_slicing, clippy::print_stdout, reason = "the helpers below are tests too")]

mod contact;
mod control;
mod corpus;
mod names;
mod place;
mod proof;
mod resolver;
mod settings;
mod trace;
mod works;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::Case;
use place::{Place, lacking, setting};

const LONG: usize = 2000;
const SHORT: usize = 120;
/// Most of the time a command waits for an answer that never comes.
const WORKERS: usize = 8;
const SECONDS: u64 = 2;

/// What became of one command.
#[derive(Debug, Default)]
struct Outcome {
    violations: Vec<String>,
    exit_code: Option<i64>,
    timed_out: bool,
    started: bool,
    asked: bool,
}

#[test]
fn no_safe_command_changes_anything_outside_or_executes_anything_else() {
    if let Some(reason) = lacking(&["strace", "unshare", "nsenter", "ip"]) {
        println!("skipped: {reason}");
        return;
    }
    let wanted = if setting("GHOST_LONG").is_empty() { SHORT } else { LONG };
    let seed = place::seed();
    println!("GHOST_TEST_SEED={seed}");
    let corpus = corpus::make(seed, wanted);
    assert_eq!(
        corpus.cases.len(),
        wanted,
        "too few SAFE commands can run here; missing: {:?}",
        corpus.missing
    );
    let place = Place::new();
    place.serve(8080);
    let before = place.state();
    let outcomes = run_all(&place, &corpus.cases);
    let after = place.state();

    println!("{} generated, {} of them SAFE, {} run", corpus.generated, corpus.safe, corpus.cases.len());
    println!("missing programs, with their SAFE commands: {:?}", corpus.missing);
    tell(&corpus.cases, &outcomes);
    let mut failures = Vec::new();
    for (case, outcome) in corpus.cases.iter().zip(&outcomes) {
        for line in &outcome.violations {
            failures.push(format!("{}\n  rule {}\n  {line}", case.command, case.rule));
        }
    }
    assert!(failures.is_empty(), "{} violations:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(before, after, "the namespace or the working folder is not what it was");
    let started = outcomes.iter().filter(|outcome| outcome.started).count();
    let asked = outcomes.iter().filter(|outcome| outcome.asked).count();
    let others = wanted - asked;
    assert!(started * 100 > others * 98, "only {started} of {others} were started at all, {asked} asked");
    assert!(asked * 100 < wanted * 5, "{asked} of {wanted} asked");
}

fn run_all(place: &Place, cases: &[Case]) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (next, outcomes) = (&next, &outcomes);
            scope.spawn(move || {
                while let Some((at, case)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    cases.get(at).map(|case| (at, case))
                } {
                    let outcome = run(place, case, worker);
                    outcomes.lock().unwrap().insert(at, outcome);
                }
            });
        }
    });
    outcomes.into_inner().unwrap().into_values().collect()
}

fn run(place: &Place, case: &Case, worker: usize) -> Outcome {
    let data = place.path(&format!("data-{worker}"));
    let ghost = place.ghost(&case.command, SECONDS, &data);
    let (output, calls) = place::trace(place, &ghost, &place.path(&format!("logs/{worker}")));
    let scratch = data.join("scratch");
    // What the command left there must be gone again.
    let left = fs::read_dir(&scratch)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| format!("left behind: {:?}", entry.path()));
    let inside = trace::of_the_command(&calls);
    let mut violations = proof::violations(&case.profiles, &scratch, &inside);
    violations.extend(left);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    // Made-up words that name no host and no table of this machine are asked about, and nothing runs.
    let asks = ["destination.unknown", "destination.lookup", "firewall.table"];
    let asked = asks.iter().any(|rule| answer["rule"] == *rule);
    if asked && !inside.is_empty() {
        violations.push("it asked, and something ran".to_owned());
    }
    if answer["classification"] != "SAFE" && !asked {
        let stderr = String::from_utf8_lossy(&output.stderr);
        violations.push(format!("no answer: {} {stderr}", String::from_utf8_lossy(&output.stdout)));
    }
    Outcome {
        violations,
        exit_code: answer["exit_code"].as_i64(),
        timed_out: answer["error"] == "timeout",
        started: !inside.is_empty(),
        asked,
    }
}

/// Sums up by program: how many ran, how many ended well, how many out of time.
fn tell(cases: &[Case], outcomes: &[Outcome]) {
    let mut table: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for (case, outcome) in cases.iter().zip(outcomes) {
        let row = table.entry(&case.program).or_default();
        let killed = outcome.exit_code.is_none() && !outcome.timed_out;
        if killed {
            println!("ended by a signal: {}", case.command);
        }
        for (count, counted) in
            row.iter_mut().zip([true, outcome.exit_code == Some(0), outcome.timed_out, killed])
        {
            *count += usize::from(counted);
        }
    }
    println!("program: run, exit 0, timeout, ended by a signal");
    for (program, [run, good, late, killed]) in &table {
        println!("  {program}: {run}, {good}, {late}, {killed}");
    }
    let late = outcomes.iter().filter(|outcome| outcome.timed_out).count();
    let good = outcomes.iter().filter(|outcome| outcome.exit_code == Some(0)).count();
    println!("{} run, {good} with exit 0, {late} timeouts, {} programs", cases.len(), table.len());
}
