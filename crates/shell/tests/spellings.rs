//! What never runs stays BLOCKED inside every compound command that bash takes.
//!
//! A few hundred texts in the short run, 20,000 with `GHOST_LONG=1`; `GHOST_TEST_SEED` repeats a run, `GHOST_TEST_WITHOUT=bash` skips it.

#![expect(clippy::unwrap_used, reason = "a test")]
#![expect(
    clippy::disallowed_methods,
    reason = "bash is the judge of what it takes, and settings choose the run"
)]

use std::io::Write as _;
use std::process::{Command, Stdio};

use ghost_shell::{Policy, Verdict};

/// What never runs.
const LEAVES: [&str; 10] = [
    "reboot",
    "rm -rf /",
    "shutdown -h now",
    "dd if=/dev/zero of=/dev/sda",
    "kubectl delete ns x",
    "psql -c 'DROP DATABASE x'",
    "env -i reboot",
    "cat /etc/shadow",
    "terraform destroy",
    "lvremove -f vg0/x",
];

/// What may stand around a simple command.
const SIMPLE: [&str; 11] = [
    "@",
    "time @",
    "time -p @",
    "! @",
    "time ! @",
    "coproc @",
    "{fd}>/dev/null @",
    "X=1 @",
    "$unset @",
    "2>/dev/null @",
    "\\\n@",
];

/// What may stand around commands.
const COMPOUND: [&str; 46] = [
    "{ @; }",
    "( @ )",
    "time { @; }",
    "time -p { @; }",
    "time -- { @; }",
    "! { @; }",
    "time ! { @; }",
    "time ( @ )",
    "coproc { @; }",
    "coproc X { @; }",
    "coproc X ( @ )",
    "coproc X if true; then @; fi",
    "time if @; then true; fi",
    "if @; then true; fi",
    "if true; then @; fi",
    "if false; then true; elif @; then true; fi",
    "if false; then true; else @; fi",
    "while @; do break; done",
    "while true; do @; done",
    "until @; do break; done",
    "for x in a b; do @; done",
    "for x in a\ndo\n@\ndone",
    "for x do @; done",
    "for ((i=0;i<2;i++)); do @; done",
    "for ((;;)) { @; }",
    "for x in a; { @; }",
    "select x in a; do @; done",
    "case x in x) @;; esac",
    "case x in (x|y) @;; z) true;; esac",
    "case x in y) true;; x) @;& z) true;; esac",
    "case in in in) @;; esac",
    "f() { @; }; f",
    "function f { @; }",
    "f() ( @ )",
    "[[ -n x ]] && @",
    "[[ -n $( @ ) ]]",
    "echo $( @ )",
    "echo \"$( @ )\"",
    "cat <( @ )",
    "x=$( @ )",
    "echo ${x:-$( @ )}",
    "echo $(( $( @ ) + 1 ))",
    "cat <<E\nit's (\nE\n@",
    "cat <<-'E' && @\n\t\"(\n\tE\n",
    "echo 'a # )' # ) } done '\n@",
    "true | @ &",
];

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        let at = self.below(texts.len());
        texts.get(at).unwrap()
    }
}

fn text(random: &mut Random) -> String {
    let mut text = random.pick(&SIMPLE).replace('@', random.pick(&LEAVES));
    for _ in 0..1 + random.below(4) {
        text = random.pick(&COMPOUND).replace('@', &text);
    }
    text
}

/// Returns true if bash can parse a text.
fn bash_takes(text: &str) -> bool {
    let mut bash = Command::new("bash")
        .args(["-n", "-s"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("bash cannot be started ({error}); GHOST_TEST_WITHOUT=bash skips this")
        });
    bash.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    bash.wait().unwrap().success()
}

#[test]
fn a_blocked_command_stays_blocked_inside_every_compound_command() {
    let setting = |name: &str| std::env::var(name).unwrap_or_default();
    if setting("GHOST_TEST_WITHOUT").split(',').any(|name| name == "bash") {
        return;
    }
    let seed = setting("GHOST_TEST_SEED").parse().unwrap_or(20_261_129);
    let wanted = if setting("GHOST_LONG") == "1" { 20_000 } else { 400 };
    let policy = Policy::builtin().unwrap();
    let mut random = Random(seed);
    let once = COMPOUND.iter().chain(&SIMPLE).map(|around| around.replace('@', "reboot"));
    let drawn: Vec<String> = once.chain((0..wanted).map(|_| text(&mut random))).collect();
    let mut taken = 0;
    let mut wrong = Vec::new();
    for text in &drawn {
        let verdict = policy.classify(text).verdict;
        // What bash refuses runs nothing; what it takes has to be blocked.
        if verdict != Verdict::Blocked && bash_takes(text) {
            wrong.push(text.clone());
        }
        taken += usize::from(verdict == Verdict::Blocked);
    }
    assert!(wrong.is_empty(), "seed {seed}, {} of {}:\n{}", wrong.len(), drawn.len(), wrong.join("\n---\n"));
    assert!(taken * 10 > drawn.len() * 9, "{taken} of {} were blocked", drawn.len());
}
