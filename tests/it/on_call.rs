//! How often an engineer on call is asked: commands that come naturally, with what each should be.

use ghost_shell::{Policy, Verdict};

const FIXTURE: &str = include_str!("../fixtures/shell/on-call.txt");
const DOCUMENT: &str = include_str!("../../docs/safety/index.md");

/// At most this many of a hundred reads may ask.
const MAX_PERCENT: usize = 10;
const MIN_READS: usize = 1_000;

/// Returns the commands that begin with this word, without it.
fn commands(kind: &str) -> Vec<String> {
    FIXTURE.lines().filter_map(|line| Some(line.strip_prefix(kind)?.strip_prefix(' ')?.to_owned())).collect()
}

/// Returns those of them for which it does not hold that they run at once.
fn wrong(kind: &str, runs: bool) -> Vec<String> {
    let policy = Policy::builtin().unwrap();
    let other = |command: &String| (policy.classify(command).verdict == Verdict::Safe) != runs;
    commands(kind).into_iter().filter(other).collect()
}

#[test]
fn what_an_engineer_reads_runs_at_once() {
    assert_eq!(wrong("runs", true), [""; 0]);
}

#[test]
fn what_the_fixture_says_asks_still_does() {
    assert_eq!(wrong("asks", false), [""; 0]);
}

#[test]
fn what_changes_something_never_runs_at_once() {
    assert_eq!(wrong("changes", false), [""; 0]);
}

#[test]
fn what_prints_a_secret_or_destroys_is_blocked() {
    let policy = Policy::builtin().unwrap();
    let is_asked = |command: &String| policy.classify(command).verdict != Verdict::Blocked;
    let open: Vec<String> = commands("blocked").into_iter().filter(is_asked).collect();
    assert_eq!(open, [""; 0]);
}

#[test]
fn few_of_the_reads_ask() {
    let (run, ask) = (commands("runs").len(), commands("asks").len());
    assert!(run + ask >= MIN_READS, "{run} and {ask}");
    assert!(ask * 100 <= MAX_PERCENT * (run + ask), "{ask} of {} ask", run + ask);
}

/// Prints the figures, too: `cargo test --test it on_call -- --nocapture`.
#[test]
fn the_document_gives_the_figures_of_the_fixture() {
    let [runs, asks, changes, blocked] =
        ["runs", "asks", "changes", "blocked"].map(|kind| commands(kind).len());
    let row = format!("| {} | {runs} | {asks} | {changes} | {blocked} |", runs + asks + changes + blocked);
    println!("| commands | reads that run | reads that ask | changes | BLOCKED |\n{row}");
    assert!(DOCUMENT.contains(&row), "docs/safety/index.md lacks the row `{row}`");
}

#[test]
fn every_line_of_the_fixture_says_what_it_is() {
    let known = |line: &str| {
        line.is_empty()
            || ["# ", "runs ", "asks ", "changes ", "blocked "].iter().any(|kind| line.starts_with(kind))
    };
    let unknown: Vec<&str> = FIXTURE.lines().filter(|line| !known(line)).collect();
    assert_eq!(unknown, [""; 0]);
}
