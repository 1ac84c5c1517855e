//! Faults put into networks of the real kernel, gathered by the program inside of each machine, judged, and taken away again.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use ghost_lab::host::HostError;
use ghost_lab::host::net::{Board, FAULTS, HEALTHY, Net, Spec, Topology, Trial, pick, run};

use serde_json::Value;

use crate::netns::skipped;
use crate::random::{Random, is_long, seed, setting};

/// So many of each kind are run where not all are.
const SAMPLE: usize = 5;
/// So many combinations are drawn in the long run.
const COMBINATIONS: usize = 30;

#[expect(clippy::print_stdout, reason = "the board is what the run is for")]
fn board(trials: &[Trial]) -> Board {
    let folder = tempfile::tempdir().unwrap();
    let mut board = Board::default();
    for trial in trials {
        match run(trial, Path::new(env!("CARGO_BIN_EXE_ghost")), folder.path()) {
            Ok(outcome) => {
                println!(
                    "{:.2} {} {} in {:?}",
                    outcome.f1(),
                    outcome.topology.as_str(),
                    outcome.name,
                    outcome.gathered_in
                );
                board.outcomes.push(outcome);
            }
            Err(HostError::Lacking(why)) => board.skipped.push((trial.name(), why)),
            Err(error) => panic!("{} with the seed {}: {error}", trial.name(), trial.seed),
        }
    }
    println!("{board}");
    assert!(board.outcomes.iter().all(|one| one.is_restored), "{board}");
    assert!(board.outcomes.iter().all(|one| one.traces.is_empty()), "{board}");
    board
}

/// Takes some of them, or all in the long run; `GHOST_TEST_CASE` names one.
fn chosen(specs: &[Spec], random: &mut Random) -> Vec<Trial> {
    let case = setting("GHOST_TEST_CASE");
    let mut left: Vec<Spec> =
        specs.iter().filter(|spec| case.is_empty() || spec.name == case).copied().collect();
    let count = if is_long() || !case.is_empty() { left.len() } else { SAMPLE };
    let mut trials = Vec::new();
    for _ in 0..count.min(left.len()) {
        let spec = left.swap_remove(random.below(left.len()));
        trials.push(Trial { specs: vec![spec], seed: random.next() });
    }
    trials
}

#[test]
fn a_fault_is_named_with_its_object_and_nothing_else_is() {
    if skipped() {
        return;
    }
    let board = board(&chosen(FAULTS, &mut Random::new(seed("net faults"))));
    assert!(board.mean() >= 0.9, "{board}");
    let wrong: Vec<_> = board.outcomes.iter().filter(|one| one.truth != one.said).collect();
    // Of all of them a few are known not to be named exactly; of the sample none is.
    assert!(is_long() || wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_seems_odd_and_is_well_is_not_accused() {
    if skipped() {
        return;
    }
    let board = board(&chosen(HEALTHY, &mut Random::new(seed("net look-alikes"))));
    assert_eq!(board.healthy().1, 0, "{board}");
}

#[test]
fn several_faults_at_once_are_all_named() {
    if skipped() {
        return;
    }
    let count = if is_long() { COMBINATIONS } else { 2 };
    let board = board(&pick(count, seed("net combinations")));
    assert!(board.mean() >= 0.9, "{board}");
}

/// Who ends an evaluation waits until the network of its case is gone; what came of that case does not count.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test runs programs")]
fn an_evaluation_that_is_interrupted_leaves_no_network() {
    if skipped() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let mut running = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["lab", "eval", "--net", "--all", "--json", "--seed", "3"])
        .env("GHOST_DATA_DIR", home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = running.id();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["restored"], true, "{first}");
    // The second case is being built, or runs.
    let ours = format!("-{pid}-");
    let spaces = || -> Vec<String> {
        let folder = std::fs::read_dir("/run/netns").into_iter().flatten();
        let names = folder.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        names.filter(|name| name.contains(&ours)).collect()
    };
    while spaces().is_empty() {
        assert_eq!(running.try_wait().unwrap(), None, "it ended by itself");
        std::thread::yield_now();
    }
    let process = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let rest: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let done = running.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(130), "{words}");
    assert!(words.contains("interrupted"), "{words}");
    assert_eq!(rest.last().map(|board| board["mean_f1"].is_number()), Some(true), "{rest:?}");
    assert_eq!(spaces(), Vec::<String>::new());
}

/// What FRR wrote for all instances of this machine, unless one of another test runs just now.
fn of_frr() -> Option<Vec<String>> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let names = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("comm")).ok());
    if names.into_iter().any(|name| name.trim() == "ospfd") {
        return None;
    }
    let entries = std::fs::read_dir("/run/frr").into_iter().flatten().flatten();
    Some(entries.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

#[test]
fn a_network_with_ospf_leaves_nothing_of_it_behind() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    drop(Net::up(Topology::Ospf, seed("ospf is gone"), folder.path()).unwrap());
    if let Some(left) = of_frr() {
        assert!(!left.iter().any(|name| name.starts_with("ospfd")), "{left:?}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test runs programs")]
fn what_a_killed_network_left_is_taken_down() {
    if skipped() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let net = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
        command.args(["lab", "net"]).args(words).env("GHOST_DATA_DIR", home.path()).stdin(Stdio::null());
        command
    };
    let mut running = net(&["up", "lan"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let ours = format!("-{}-", running.id());
    let lines = BufReader::new(running.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "# ready"));
    running.kill().unwrap();
    running.wait().unwrap();
    let spaces = || {
        let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().contains(&ours)).count()
    };
    assert!(spaces() > 0, "nothing was left: this shows nothing");
    let done = net(&["down"]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("a killed one had left"), "{said}");
    assert_eq!(spaces(), 0);
    assert!(!home.path().join("lab-net/ssh").exists());
    // Where nothing is left, nothing was up.
    let again = net(&["down"]).output().unwrap();
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("no network is up"));
}
