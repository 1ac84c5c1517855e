//! What a hook lets a caller run, run by the shells of callers: the words that a program gets are the words that were judged.
//!
//! Programs are stubs that record their words, in a folder of names that patterns match and in a network of its own that leads nowhere.
//! `GHOST_LONG=1` takes 200,000 texts, else a few hundred; `GHOST_TEST_SEED` repeats a run; `GHOST_TEST_WITHOUT=fish` runs without one.

#![expect(
    clippy::disallowed_methods,
    reason = "the test starts real shells, and reads its settings from the environment"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod draw;
mod shells;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use draw::Drawn;
use ghost_shell::{Policy, Ruling, Verdict, When};
use shells::{Place, Shell};

/// How many texts a shell gets at once.
const BATCH: usize = 250;

fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn allowed(policy: &Policy, text: &str) -> Option<Ruling> {
    let ruling = policy.for_caller(text, policy.classify(text));
    (ruling.verdict == Verdict::Safe).then_some(ruling)
}

/// What programs get where every program succeeds, sorted. What a shell runs itself is on no record.
fn expected(ruling: &Ruling) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    match &ruling.list {
        None => all.extend(ruling.argv.clone()),
        Some(list) => {
            for pipeline in list.pipelines.iter().filter(|pipeline| pipeline.when != When::Failed) {
                all.extend(pipeline.stages.iter().map(|stage| stage.argv.clone()));
            }
        }
    }
    all.retain(|words| words.first().is_some_and(|name| !shells::BUILTINS.contains(&name.as_str())));
    all.sort();
    all
}

/// Runs texts in every shell, and says where a program got other words.
fn compare(texts: &[(String, Vec<Vec<String>>)]) -> Vec<String> {
    let found: Vec<Vec<String>> = std::thread::scope(|scope| {
        let run = |shell: &'static Shell| scope.spawn(move || compare_in(shell, texts));
        let running: Vec<_> = Shell::present().into_iter().map(run).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    found.concat()
}

fn compare_in(shell: &Shell, texts: &[(String, Vec<Vec<String>>)]) -> Vec<String> {
    let place = Place::new();
    let mut problems = Vec::new();
    for batch in texts.chunks(BATCH) {
        let before = place.files();
        let recorded = place.run(shell, &batch.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>());
        let mut by_text: BTreeMap<usize, Vec<Vec<String>>> = BTreeMap::new();
        for (number, words) in recorded {
            by_text.entry(number).or_default().push(words);
        }
        for (at, (text, expected)) in batch.iter().enumerate() {
            let mut got = by_text.remove(&(at + 1)).unwrap_or_default();
            got.sort();
            if got != *expected {
                problems.push(format!("{}: {text:?} ran {got:?}, judged was {expected:?}", shell.name));
            }
        }
        if place.files() != before {
            problems.push(format!("{}: files changed: {:?}", shell.name, place.files()));
        }
    }
    problems
}

#[test]
fn the_words_that_a_hook_judged_are_the_words_that_run_in_every_shell() {
    let policy = Policy::builtin().unwrap();
    let seed = setting("GHOST_TEST_SEED").parse().unwrap_or(20_261_129);
    let wanted = if setting("GHOST_LONG") == "1" { 200_000 } else { 500 };
    println!("callers: GHOST_TEST_SEED={seed}");
    let mut drawn = Drawn::new(seed, policy);
    let (mut done, mut tried) = (0, 0);
    let mut problems = String::new();
    while done < wanted && problems.is_empty() {
        let mut texts = Vec::new();
        while texts.len() < wanted.min(8 * BATCH) {
            let text = drawn.text();
            tried += 1;
            if let Some(ruling) = allowed(policy, &text) {
                texts.push((text, expected(&ruling)));
            }
        }
        done += texts.len();
        for problem in compare(&texts) {
            writeln!(problems, "{problem}").unwrap();
        }
    }
    println!("{done} of {tried} texts were allowed and ran");
    assert!(problems.is_empty(), "\n{problems}");
}

/// The comparison is worth something: texts that only the gate may run do run as other words in some shell.
#[test]
fn what_only_the_gate_may_run_runs_as_other_words_in_a_shell() {
    let policy = Policy::builtin().unwrap();
    for text in [
        "nft list ruleset ? flush ruleset",
        "iptables-nft -L [-]Z",
        "kubectl get pods [-]-server=127.0.0.1",
        "grep -c =ls /var/log/syslog",
        r"grep -c a\nb /var/log/syslog",
        r"grep -c 'a\\b' /var/log/syslog",
        "grep -c 'a''b' /var/log/syslog",
        "grep -c a!!b /var/log/syslog",
        "az vm list --query \"[?name=='$(touch made)' || `touch made`]\"",
    ] {
        let ruling = policy.classify(text);
        if ruling.verdict == Verdict::Safe {
            assert!(allowed(policy, text).is_none(), "{text}");
            assert!(!compare(&[(text.to_owned(), expected(&ruling))]).is_empty(), "{text}");
        }
    }
}

/// A conversion of `printf` is arithmetic in zsh, and arithmetic runs commands.
#[test]
fn a_builtin_that_computes_runs_a_command_and_is_not_allowed() {
    let policy = Policy::builtin().unwrap();
    let zsh = Shell::present().into_iter().find(|shell| shell.name == "zsh");
    for format in ["%d", "%i", "%x", "%e", "%*s", "%n"] {
        let text = format!("printf '{format}' 'path[$(touch made)1]'");
        assert_eq!(policy.classify(&text).verdict, Verdict::Safe);
        assert!(allowed(policy, &text).is_none(), "{text}");
        if let (Some(zsh), "%d" | "%*s" | "%n") = (zsh, format) {
            let ran = Place::new().run(zsh, &[&text]);
            assert_eq!(ran, [(1, vec!["touch".to_owned(), "made".to_owned()])], "{text}");
        }
    }
}

/// Every name that one of the shells here runs itself is in the table: a command of that name asks, or its row says why not.
#[test]
fn no_shell_has_a_builtin_that_the_table_does_not_know() {
    let place = Place::new();
    let policy = include_str!("../../src/policy/caller.toml");
    let known: Vec<&str> = policy.split(['"', ' ', '\n']).collect();
    let mut missing = Vec::new();
    for shell in Shell::present() {
        for name in place.builtins(shell) {
            if !known.contains(&name.as_str()) {
                missing.push(format!("{}: {name}", shell.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
