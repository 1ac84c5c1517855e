//! A mutational fuzzer over the reader and the judge.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use ghost_shell::{Policy, Verdict};

use crate::random::{Random, is_long, seed};

const SEEDS: &str = include_str!("../fixtures/shell/seeds.txt");
const LONGEST: usize = 2_000;
const THREADS: u64 = 2;
const BATCH: u64 = 1_000;
const SLOWEST_BATCH: Duration = Duration::from_secs(60);

/// What a shell or a rule pays heed to.
const TOKENS: &[&str] = &[
    "'",
    "\"",
    "\\",
    "`",
    "$",
    "$(",
    "${",
    "$'",
    "$\"",
    ")",
    "(",
    "{",
    "}",
    "((",
    "))",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "<",
    ">",
    "<<",
    "<<<",
    "<(",
    ">(",
    "&>",
    "2>&1",
    ">|",
    "\n",
    "\r",
    "\t",
    " ",
    "\0",
    "#",
    "~",
    "*",
    "?",
    "[",
    "]",
    "!",
    "=",
    "a=b ",
    ",",
    "..",
    "{a,b}",
    "$IFS",
    "${IFS}",
    "if ",
    "then ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "case ",
    "esac",
    "function ",
    "f() ",
    "eval ",
    "sudo ",
    "env ",
    "bash -c ",
    "ssh h ",
    "watch ",
    "timeout 5 ",
    "xargs ",
    "find / -exec ",
    "az ",
    "az ssh vm -- ",
    "--scripts ",
    "--query ",
    "--command-id RunShellScript ",
    "az vm run-command invoke ",
    "rm -rf /",
    "reboot",
    "/etc/shadow",
    "/dev/sda",
    "169.254.169.254",
    "http://",
    "@",
    "-",
    "--",
    "-c ",
    "-i ",
    "\u{200b}",
    "\u{202e}",
    "é",
    "\u{301}",
    "ｒ",
    "\u{1f600}",
    "\u{85}",
    "\u{feff}",
    "\\x72",
    "\\u0072",
    "::",
    "%2f",
    "/../",
];

/// Reads `\n`, `\t`, `\r`, `\u{..}` and leaves every other backslash as it is.
fn unescape(line: &str) -> String {
    let mut text = line.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r");
    while let Some(at) = text.find("\\u{") {
        let end = at + text[at..].find('}').unwrap();
        let char = char::from_u32(u32::from_str_radix(&text[at + 3..end], 16).unwrap()).unwrap();
        text.replace_range(at..=end, char.encode_utf8(&mut [0; 4]));
    }
    text
}

fn corpus(policy: &Policy) -> Vec<String> {
    let examples = policy.examples().iter().map(|example| example.command.clone());
    examples.chain(SEEDS.lines().map(unescape)).collect()
}

/// Returns a place between two characters.
fn place(text: &str, random: &mut Random) -> usize {
    boundary(text, random.below(text.len() + 1))
}

/// Returns the last place up to here that is between two characters.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap()
}

fn mutate(text: &mut String, corpus: &[String], random: &mut Random) {
    let (one, other) = (place(text, random), place(text, random));
    let (start, end) = (one.min(other), one.max(other));
    match random.below(10) {
        0 => text.truncate(one),
        1 => text.replace_range(start..end, ""),
        2 | 3 => {
            let token: &&str = random.pick(TOKENS);
            text.insert_str(one, token);
        }
        4 => {
            let part = text[start..end].repeat(1 + random.below(4));
            text.insert_str(end, &part);
        }
        5 => {
            let donor = random.pick(corpus);
            let from = place(donor, random);
            text.replace_range(start..end, &donor[from..]);
        }
        6 => {
            let mut bytes = text.clone().into_bytes();
            if let Some(byte) = bytes.get_mut(one) {
                *byte ^= 1 << random.below(8);
            }
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        7 => {
            let code = u32::try_from(random.next() % 0x11_0000).unwrap();
            text.insert(one, char::from_u32(code).unwrap_or('\u{fffd}'));
        }
        8 => {
            let shell = ["bash -c ", "ssh h ", "eval ", "watch ", "az vm run-command invoke --scripts "];
            *text = format!("{}'{}'", random.pick(&shell), text.replace('\'', r"'\''"));
        }
        _ => {
            let (open, close) = *random.pick(&[
                ("$(", ")"),
                ("`", "`"),
                ("(", ")"),
                ("{ ", "; }"),
                ("${a:-", "}"),
                ("\"", "\""),
            ]);
            text.insert_str(end, close);
            text.insert_str(start, open);
        }
    }
    if text.len() > LONGEST {
        text.truncate(boundary(text, LONGEST));
    }
}

/// What came out of one batch.
#[derive(Default)]
struct Counts {
    executions: u64,
    safe: u64,
    blocked: u64,
}

fn execute(policy: &Policy, text: &str, counts: &mut Counts, sampled: bool) {
    let ruling = policy.classify(text);
    let has_words = ruling.argv.is_some() || ruling.list.is_some();
    assert!(ruling.verdict != Verdict::Safe || has_words, "SAFE without words: {text:?}");
    counts.executions += 1;
    counts.safe += u64::from(ruling.verdict == Verdict::Safe);
    if ruling.verdict == Verdict::Blocked {
        counts.blocked += 1;
        if sampled {
            let behind = format!("true; {text}");
            let verdict = policy.classify(&behind).verdict;
            assert_eq!(verdict, Verdict::Blocked, "{text:?} is opened by `true; `: {}", ruling.rule);
        }
    }
}

fn fuzz(policy: &Policy, corpus: &[String], random: &mut Random) -> Counts {
    let (mut counts, mut text) = (Counts::default(), String::new());
    for execution in 0..BATCH {
        // Mutations pile up on one text for a while before the next one is drawn.
        if execution % 8 == 0 {
            text.clone_from(random.pick(corpus));
        }
        for _ in 0..=random.below(3) {
            mutate(&mut text, corpus, random);
        }
        execute(policy, &text, &mut counts, execution % 16 == 0);
    }
    counts
}

#[test]
fn no_mutation_stops_the_judge_or_opens_what_is_blocked() {
    let policy = Policy::builtin().unwrap();
    let corpus = Arc::new(corpus(policy));
    let batches = if is_long() { 10_000_000 } else { 200_000 } / BATCH;
    let first_seed = seed("fuzz");
    let (start, next) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let (sender, results) = mpsc::channel();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (corpus, next, sender) = (corpus.clone(), next.clone(), sender.clone());
            std::thread::spawn(move || {
                // A batch has its own seed: it can be repeated alone.
                while let Some(batch) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < batches)
                {
                    let counts = fuzz(policy, &corpus, &mut Random::new(first_seed.wrapping_add(batch)));
                    sender.send((batch, counts)).unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    let (mut open, mut all): (BTreeSet<u64>, _) = ((0..batches).collect(), Counts::default());
    loop {
        match results.recv_timeout(SLOWEST_BATCH) {
            Ok((batch, counts)) => {
                open.remove(&batch);
                all.executions += counts.executions;
                all.safe += counts.safe;
                all.blocked += counts.blocked;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("batch {:?} hangs", open.first()),
        }
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let Counts { executions, safe, blocked } = all;
    println!(
        "{executions} executions from {} texts in {:.1?}: {safe} SAFE, {blocked} BLOCKED",
        corpus.len(),
        start.elapsed()
    );
    assert_eq!(executions, batches * BATCH);
}
