//! Scripts for a guest: what is SAFE of them is executed by real shells, and starts nothing but the words that were judged.
//!
//! `GHOST_LONG=1` makes 1,000,000 scripts, else a few thousand; `GHOST_TEST_SEED` repeats a run; `GHOST_TEST_WITHOUT=unshare`
//! runs without.

mod make;
mod place;

use std::collections::BTreeMap;

use ghost_shell::{Policy, Ruling, Verdict};

use crate::random::{Random, is_long, seed};

const SHORT: usize = 4_000;
const LONG: usize = 1_000_000;
const BATCH: usize = 2_000;

/// A SAFE script and the words of its commands.
pub(crate) struct Judged {
    pub(crate) text: String,
    pub(crate) commands: Vec<Vec<String>>,
}

fn commands(ruling: &Ruling) -> Vec<Vec<String>> {
    match (&ruling.list, &ruling.argv) {
        (Some(list), _) => {
            list.pipelines.iter().flat_map(|row| &row.stages).map(|stage| stage.argv.clone()).collect()
        }
        (None, Some(words)) => vec![words.clone()],
        (None, None) => Vec::new(),
    }
}

fn carried(text: &str) -> String {
    let quoted = text.replace('\'', r"'\''");
    format!("az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts '{quoted}'")
}

/// Judges one script here and in a guest, and keeps it where a shell may run it.
fn judge(policy: &Policy, text: String) -> Option<Judged> {
    let here = policy.classify(&text);
    let there = policy.classify(&carried(&text));
    if there.verdict != Verdict::Safe {
        return None;
    }
    assert_eq!(here.verdict, Verdict::Safe, "SAFE in a guest, and {} here: {text:?}", here.rule);
    Some(Judged { commands: commands(&here), text })
}

/// Says what a shell started beside the words that were judged.
fn beside(judged: &Judged, started: &[Vec<String>]) -> Option<String> {
    let mut left: BTreeMap<&[String], usize> = BTreeMap::new();
    judged.commands.iter().for_each(|words| *left.entry(words).or_default() += 1);
    let extra = started.iter().find(|words| match left.get_mut(words.as_slice()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    let none = started.is_empty().then(|| "nothing was started".to_owned());
    extra.map(|words| format!("{words:?} was started")).or(none)
}

#[test]
fn a_safe_script_starts_only_what_was_judged_and_writes_nothing() {
    if let Some(why) = place::skipped() {
        println!("skipped: {why}");
        return;
    }
    let random = &mut Random::new(seed("guest_script"));
    let policy = Policy::builtin().unwrap();
    let wanted = if is_long() { LONG } else { SHORT };
    let (mut safe, mut wrong) = (0, Vec::new());
    for _ in 0..wanted / BATCH {
        let batch: Vec<Judged> = (0..BATCH).filter_map(|_| judge(policy, make::script(random))).collect();
        safe += batch.len();
        for shell in ["/bin/dash", "/bin/bash"] {
            let (started, files) = place::run(shell, &batch);
            let found = batch.iter().zip(&started).filter_map(|(judged, started)| {
                beside(judged, started).map(|what| format!("{shell}: {what} by {:?}", judged.text))
            });
            wrong.extend(found);
            wrong.extend(files.into_iter().map(|file| format!("{shell}: {file} was written")));
        }
    }
    println!("{wanted} scripts, {safe} of them SAFE, each run by dash and bash");
    assert!(safe * 50 > wanted, "too few are SAFE for the run to mean anything: {safe}");
    let shown: Vec<String> = wrong.iter().take(10).cloned().collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), shown.join("\n"));
}

/// The control: what the run searches for is seen where it happens.
#[test]
fn what_a_shell_starts_beside_the_judged_words_is_seen() {
    if let Some(why) = place::skipped() {
        println!("skipped: {why}");
        return;
    }
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let judged = |text: &str| Judged { text: text.to_owned(), commands: vec![words("ss -s")] };
    let batch = ["ss -s; touch x", "ss -s \"`id`\"", "ss -s \"$\\\n(id)\"", "ss -t", "/bin/true", "ss -s"]
        .map(judged);
    for shell in ["/bin/dash", "/bin/bash"] {
        let (started, files) = place::run(shell, &batch);
        let seen: Vec<bool> =
            batch.iter().zip(&started).map(|(judged, started)| beside(judged, started).is_some()).collect();
        assert_eq!(seen, [true, true, true, true, true, false], "{shell}: {started:?}");
        assert_eq!(files, ["MARKER"], "{shell}");
    }
}
