//! How often an engineer on call is asked: commands that come naturally, with what each should be.

use ghost_shell::{Policy, Verdict};

const FIXTURE: &str = include_str!("../fixtures/shell/on-call.txt");

/// At most so many of a hundred reads may ask.
const MOST: usize = 12;

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
fn few_of_the_reads_ask() {
    let (run, ask) = (commands("runs").len(), commands("asks").len());
    assert!(run + ask >= 150, "{run} and {ask}");
    assert!(ask * 100 <= MOST * (run + ask), "{ask} of {} ask", run + ask);
}

#[test]
fn every_line_of_the_fixture_says_what_it_is() {
    let known = |line: &str| {
        line.is_empty() || ["# ", "runs ", "asks ", "changes "].iter().any(|kind| line.starts_with(kind))
    };
    let unknown: Vec<&str> = FIXTURE.lines().filter(|line| !known(line)).collect();
    assert_eq!(unknown, [""; 0]);
}
