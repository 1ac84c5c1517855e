//! Loops over literal words run as the commands that they write out: no shell reads them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ghost_shell::{Policy, Ruling, Verdict, plain_commands};

/// Returns a setting of the test run, empty if it is not given.
#[expect(clippy::disallowed_methods, reason = "tests have no configuration but the environment")]
fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// A small generator (xorshift64*) whose seed the test prints.
struct Random(u64);

impl Random {
    #[expect(clippy::print_stdout, reason = "a failure is repeated from its seed")]
    fn new(test: &str) -> Self {
        let seed: u64 = setting("GHOST_TEST_SEED").parse().unwrap_or(20_261_129);
        println!("{test}: GHOST_TEST_SEED={seed}");
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % bound.max(1)
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

fn judged(text: &str) -> Ruling {
    Policy::builtin().unwrap().classify(text)
}

#[track_caller]
fn check(text: &str, verdict: Verdict) {
    let ruling = judged(text);
    assert_eq!(ruling.verdict, verdict, "{text}: {} ({})", ruling.reason, ruling.rule);
}

#[test]
fn a_loop_runs_as_its_commands_with_each_word_in_place() {
    let ruling = judged(
        "for h in a-1 b.2; do ping -c 1 $h 2>/dev/null | head -n 3 && ss -tn dst \"10.0.0.${h}\"; done; ip a",
    );
    assert_eq!(ruling.verdict, Verdict::Safe, "{}", ruling.reason);
    let list = ruling.list.unwrap().to_string();
    assert_eq!(
        list,
        "ping -c 1 a-1 2>/dev/null | head -n 3 && ss -tn dst 10.0.0.a-1; \
         ping -c 1 b.2 2>/dev/null | head -n 3 && ss -tn dst 10.0.0.b.2; ip a"
    );
    assert_eq!((ruling.argv, ruling.pipeline), (None, None));
    assert_eq!(ruling.destinations[..2], ["a-1".to_owned(), "10.0.0.a-1".to_owned()]);
    assert_eq!(judged("for h in a; do ping -c 1 $h; done").pipeline, None);
}

#[test]
fn a_loop_is_as_strict_as_its_strictest_command() {
    for (text, verdict) in [
        ("for h in 10.0.0.4 10.0.0.5; do ping -c 1 $h; done", Verdict::Safe),
        ("for h in 10.0.0.4\ndo\n  ping -c 1 $h\ndone\n", Verdict::Safe),
        ("for h in 10.0.0.4 ; do ping -c 1 \"$h\" ; done ; ip a", Verdict::Safe),
        (
            "ip a; for i in 1 2; do ip link show eth$i; done; for i in 3; do ip link show eth${i}; done",
            Verdict::Safe,
        ),
        ("for o in -s -K; do ss $o; done", Verdict::Risky),
        ("for i in 1 2; do ip link set eth$i down; done", Verdict::Risky),
        ("for d in tmp etc; do rm -rf /$d; done", Verdict::Blocked),
        ("for d in /tmp/x /; do rm -rf $d; done", Verdict::Blocked),
        ("for f in /etc/hosts /etc/shadow; do cat $f; done", Verdict::Blocked),
        ("for c in reboot; do timeout 5 $c; done", Verdict::Blocked),
        ("for i in 1 2; do sleep 1; reboot; done", Verdict::Blocked),
        ("for x in 169.254.169.254; do curl http://$x/; done", Verdict::Risky),
    ] {
        check(text, verdict);
        let quoted = text.replace('\'', "'\\''");
        let guest = judged(&format!(
            "az vm run-command invoke -g g -n v --command-id RunShellScript --scripts '{quoted}'"
        ));
        assert_eq!(guest.verdict, verdict, "in a guest: {text}: {}", guest.reason);
    }
}

#[test]
fn what_is_more_than_a_plain_loop_asks() {
    for text in [
        "for h in $(cat hosts); do ping -c 1 $h; done",
        "for h in $HOSTS; do ping -c 1 $h; done",
        "for f in *.log; do ip a; done",
        "for i in {1..3}; do ip a; done",
        "for i in a?; do ip a; done",
        "for i in '*'; do ls $i; done",
        "for i in 'a b'; do ls $i; done",
        "for i in a=b; do ls $i; done",
        "for i in ~; do ls $i; done",
        "for i in ''; do ls $i; done",
        "for i; do ls $i; done",
        "for i in; do ls $i; done",
        "for i in a b; do $i; done",
        "for i in a b; do ls$i; done",
        "for i in a b; do ls $j; done",
        "for i in a b; do ls $i $j; done",
        "for i in a b; do ls ${i:-c}; done",
        "for i in a b; do ls ${#i}; done",
        "for i in a b; do ls ${\"i\"}; done",
        "for i in a b; do ls $i[1]; done",
        "for i in a b; do ls $i:h; done",
        "for i in a b; do ls $i > $i; done",
        "for i in a b; do ls; done > x",
        "for i in a b; do ls; done | sort",
        "for i in a b; do ls; done && id",
        "for i in a b; do ls; done &",
        "for i in a b; do ls & done",
        "id && for i in a b; do ls; done",
        "id | for i in a b; do ls; done",
        "for i in a b; do i=c; ls $i; done",
        "for i in a b; do read i; done",
        "for i in a b; do for j in c d; do ls $i $j; done; done",
        "for i in a b; do if true; then ls; fi; done",
        "for i in a b; do ; ls; done",
        "for i in a b; do done",
        "for i in a b; ls; do ls; done",
        "for i in a b; do ls; done ls",
        "for i in a b do ls; done",
        "for i in a b; do ls;",
        "for i in a b; ls $i; done",
        "select i in a b; do ls $i; done",
        "while true; do ls; done",
        "for PATH in /tmp; do ip a; done",
        "for path in /tmp; do ip a; done",
        "for http_proxy in http://10.0.0.9:3128; do curl http://10.0.0.5/; done",
        "for IFS in 1; do ip a; done",
        "for LD_PRELOAD in /tmp/x.so; do ip a; done",
        "for \"i\" in a; do ls; done",
        "for i in a; do ls '$i' $x; done",
        "(for i in a b; do ls; done)",
        "{ for i in a b; do ls; done; }",
        "for i in a b; do ls $i; done; echo $i",
    ] {
        check(text, Verdict::Risky);
    }
    let many = |count: usize| {
        let words: Vec<String> = (1..=count).map(|word| word.to_string()).collect();
        format!("for i in {}; do ip link show eth$i; done", words.join(" "))
    };
    check(&many(64), Verdict::Safe);
    check(&many(65), Verdict::Risky);
    assert!(judged(&many(65)).reason.contains("65 commands"), "{}", judged(&many(65)).reason);
}

/// Shells that run loops, and how each runs a text.
const SHELLS: [&[&str]; 5] =
    [&["bash", "-c"], &["dash", "-c"], &["zsh", "-c"], &["ksh", "-c"], &["busybox", "sh", "-c"]];

const NAMES: [&str; 4] = ["i", "h", "port", "x1"];
const WORDS: [&str; 14] =
    ["a", "10.0.0.4", "-n", "fe80::1", "a/b", "%x", "@s", "+t", "a,b", "0", "'q'", "\"d\"", "b\\c", "c\\ d"];
// zsh reads `=x` at the start of a word as a program's path, in a loop or not.
const SAID: [&str; 25] = [
    "$N",
    "${N}",
    "\"$N\"",
    "'$N'",
    "\\$N",
    "\"a ${N} b\"",
    "$N$N",
    "x$N",
    "${N}x",
    "$Nx",
    "\"\\$N\"",
    "$N.$N",
    "$N:$N",
    "$N:h",
    "$N[1]",
    "'a b'",
    "\"c  d\"",
    "e",
    "\\ ",
    "$N=",
    "%$N",
    "-$N",
    "\"$N\"'$N'",
    "$N/",
    "#$N",
];
const JOINTS: [&str; 5] = ["; ", "\n", " ; ", " && ", "\n\n "];

/// Makes up a loop whose body calls `say` with words of every kind.
fn text(random: &mut Random) -> String {
    let name = random.pick(&NAMES);
    let words: Vec<&str> = (0..=random.below(3)).map(|_| random.pick(&WORDS)).collect();
    let mut body = String::new();
    for at in 0..=random.below(2) {
        if at > 0 {
            body.push_str(random.pick(&JOINTS));
        }
        body.push_str("say");
        for _ in 0..=random.below(3) {
            body.push(' ');
            body.push_str(&random.pick(&SAID).replace('N', name));
        }
    }
    let (header, end) =
        (random.pick(&["; do ", "\ndo ", " ; do\n", ";\ndo "]), random.pick(&["; ", "\n", " ; "]));
    format!(
        "for {name} in {}{header}{body}{end}done{}",
        words.join(" "),
        random.pick(&["", "; say end", "\nsay $i", "\n"])
    )
}

/// Finds a shell; the test fails with its name if it is missing.
fn installed(shell: &str) -> PathBuf {
    let found = ["/bin", "/usr/bin", "/usr/local/bin"].map(|folder| Path::new(folder).join(shell));
    let found = found.into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| panic!("missing: {shell}; GHOST_TEST_WITHOUT={shell} runs the test without it"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "real shells are what the words are compared with")]
fn the_words_of_a_loop_are_those_that_every_shell_makes_of_it() {
    let without = setting("GHOST_TEST_WITHOUT");
    let shells: Vec<_> =
        SHELLS.iter().filter(|shell| !without.split(',').any(|name| name == shell[0])).collect();
    let place = tempfile::tempdir().unwrap();
    let say = place.path().join("say");
    std::fs::write(&say, "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\"\n").unwrap();
    std::fs::set_permissions(&say, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut random = Random::new("the_words_of_a_loop_are_those_that_every_shell_makes_of_it");
    let rounds = if setting("GHOST_LONG") == "1" { 10_000 } else { 400 };
    let mut read: BTreeMap<bool, u32> = BTreeMap::new();
    for _ in 0..rounds {
        let text = text(&mut random);
        let commands = plain_commands(&text);
        *read.entry(commands.is_some()).or_default() += 1;
        let Some(commands) = commands else { continue };
        let expected: String = commands
            .iter()
            .map(|words| {
                format!(
                    "{}\n{}",
                    words.len() - 1,
                    words[1..].iter().map(|word| format!("{word}\n")).collect::<String>()
                )
            })
            .collect();
        for shell in &shells {
            let output = Command::new(installed(shell[0]))
                .args(&shell[1..])
                .arg(&text)
                .env_clear()
                .env("PATH", place.path())
                .current_dir(place.path())
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(said, expected, "{}: {text:?}: {}", shell[0], String::from_utf8_lossy(&output.stderr));
        }
    }
    assert!(read.values().all(|count| *count > rounds / 20) && read.len() == 2, "{read:?}");
}
