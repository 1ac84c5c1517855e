//! No program that `awk` may run unasked writes, starts or goes on without end, whichever awk reads it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test may panic, reads its settings and starts what it compares with"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use ghost_shell::{Policy, Verdict};

/// Parts of programs: those of the subset, and those that write, start and read in some awk.
const PARTS: &[&str] = &[
    "BEGIN",
    "END",
    "{",
    "{",
    "}",
    "}",
    "(",
    ")",
    "(",
    ")",
    ";",
    ";",
    ",",
    "print",
    "print",
    "printf",
    "\"%s\\n\"",
    "$1",
    "$2",
    "$NF",
    "$0",
    "NR",
    "NF",
    "n",
    "s",
    "a[$1]",
    "a[n]",
    "k",
    "++",
    "--",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "=",
    "==",
    "!=",
    "+=",
    "<",
    ">",
    ">=",
    "<=",
    "~",
    "!~",
    "!",
    "&&",
    "||",
    "|",
    "|&",
    ">>",
    "?",
    ":",
    "/x/",
    "/[/]/",
    "/=",
    "\"made\"",
    "\"touch made\"",
    "\"sh\"",
    "\"a\"",
    "in a",
    "for (k in a)",
    "if",
    "else",
    "while",
    "do",
    "getline",
    "getline s",
    "< \"/etc/passwd\"",
    "system",
    "close",
    "fflush",
    "length",
    "length($0)",
    "substr($0, 1, 2)",
    "split($0, a)",
    "split($0, a, \":\")",
    "gsub(/x/, \"y\")",
    "sub(/x/, \"\", s)",
    "sprintf(\"%d\", n)",
    "toupper($1)",
    "match($0, /x/)",
    "index($0, \"x\")",
    "int(n)",
    "next",
    "exit",
    "delete a",
    "ENVIRON[\"HOME\"]",
    "ARGV[1]",
    "ARGC",
    "@",
    "func f()",
    "> \"made\"",
    "| \"touch made\"",
    "1",
    "2",
    "0.5",
    " ",
    "\"",
];

const SHAPES: &[&str] = &[
    "%",
    "{%}",
    "{print %}",
    "NR > 1 {%}",
    "/x/ {print %}",
    "% {n++} END {print n}",
    "{a[$1]++} END {for (k in a) %}",
    "{if (%) print}",
    "{s = %; print s}",
    "{print $1 / %}",
    "{print % / $2, /x/}",
    "BEGIN {%}",
];

const INPUT: &str = "x:1 7 touch made\nlo: 2 x\nmade > made\n";

/// A small generator of random numbers (splitmix64).
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (bound as u64)).unwrap()
    }
}

fn program(rng: &mut Rng) -> String {
    let mut inside = String::new();
    for _ in 0..=rng.below(6) {
        let gap = ["", " "][rng.below(2)];
        write!(inside, "{}{gap}", PARTS[rng.below(PARTS.len())]).unwrap();
    }
    SHAPES[rng.below(SHAPES.len())].replace('%', inside.trim_end())
}

/// Runs a program in an empty folder; true if nothing was made and it came to an end.
fn is_harmless(awk: &[&str], program: &str, folder: &Path) -> bool {
    let mut command = Command::new("timeout");
    command.arg("20").args(awk).arg(program).current_dir(folder);
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = streams.spawn().unwrap();
    // One that reads nothing closes its end before all is written.
    let _ = child.stdin.take().unwrap().write_all(INPUT.as_bytes());
    let code = child.wait().unwrap().code();
    assert!(code != Some(127), "{} is needed; GHOST_TEST_WITHOUT={} runs the test without", awk[0], awk[0]);
    code != Some(124) && std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn no_awk_writes_starts_or_hangs_for_a_program_that_runs_unasked() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let is_long = std::env::var_os("GHOST_LONG").is_some();
    let seed = number("GHOST_TEST_SEED").unwrap_or(20_261_129);
    let (count, most) = if is_long { (2_000_000, 20_000) } else { (60_000, 300) };
    let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
    let awks: Vec<&[&str]> = [&["mawk"][..], &["gawk"], &["gawk", "--posix"], &["busybox", "awk"]]
        .into_iter()
        .filter(|awk| !without.split([',', ' ']).any(|name| name == awk[0]))
        .collect();
    let policy = Policy::builtin().unwrap();
    let (mut rng, mut safe) = (Rng(seed), 0);
    for _ in 0..count {
        let program = program(&mut rng);
        let quoted = program.replace('\'', "'\\''");
        if policy.classify(&format!("ss -tan | awk '{quoted}'")).verdict != Verdict::Safe {
            continue;
        }
        safe += 1;
        for awk in &awks {
            let folder = tempfile::tempdir().unwrap();
            assert!(is_harmless(awk, &program, folder.path()), "{awk:?} (seed {seed}): {program}");
        }
        if safe == most {
            break;
        }
    }
    println!("{safe} programs are SAFE (seed {seed})");
    assert!(safe >= 100, "only {safe} programs are SAFE");
}
