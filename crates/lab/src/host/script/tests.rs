//! Facts about scripts.

use std::time::Duration;

use proptest::prelude::*;

use super::{Calls, Files, Interpreter, ProgramResult};
use crate::host::port::ScriptOutput;
use ghost_base::Timestamp;

/// A machine with one program, which tells what it was called with.
struct Bare {
    files: Files,
    now: Timestamp,
    called: Vec<String>,
}

impl Calls for Bare {
    fn call(&mut self, argv: &[String], input: &str) -> ProgramResult {
        self.called.push(argv.join(" "));
        match argv.first().map(String::as_str) {
            Some("tell") => ProgramResult::printed(format!("{}|{input}\n", argv.join(","))),
            Some("fail") => ProgramResult::failed(3, "it failed\n"),
            _ => ProgramResult::failed(127, ""),
        }
    }

    fn start(&mut self, argv: &[String]) -> u32 {
        self.called.push(format!("{} &", argv.join(" ")));
        2_001
    }

    fn find(&self, program: &str) -> Option<String> {
        matches!(program, "tell" | "fail").then(|| format!("/usr/bin/{program}"))
    }

    fn files(&mut self) -> &mut Files {
        &mut self.files
    }

    fn read(&mut self, path: &str) -> Option<String> {
        (path == "/proc/made").then(|| "made up\n".to_owned())
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn sleep(&mut self, time: Duration) {
        self.now = self.now.plus(time);
    }
}

fn run(text: &str, arguments: &[&str]) -> ScriptOutput {
    let mut bare = Bare { files: Files::default(), now: Timestamp::from_millis(0), called: Vec::new() };
    let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
    Interpreter.run(text, &arguments, &[], &mut bare)
}

#[track_caller]
fn prints(text: &str, wanted: &str) {
    let ran = run(text, &["one", "two words"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), (wanted, ""), "{text}");
}

/// What every shell makes of these lines; a test below asks a real one too.
const LINES: [(&str, &str); 42] = [
    ("echo a  b 'c  d' \"e $1\"", "a b c  d e one\n"),
    ("echo $# $@ \"$2\"", "2 one two words two words\n"),
    ("for x in \"$@\"; do echo \"<$x>\"; done", "<one>\n<two words>\n"),
    ("x=5; y=$((x * 2 + 1)); echo $y ${y:-none} ${z:-none}", "11 11 none\n"),
    ("echo $(echo a; echo b) `echo c`", "a b c\n"),
    ("if [ 1 -lt 2 ]; then echo yes; else echo no; fi", "yes\n"),
    ("false && echo no || echo yes", "yes\n"),
    ("! false; echo $?", "0\n"),
    ("printf '%s-%03d\\n' a 7 b 8", "a-007\nb-008\n"),
    ("printf 'a\\nb\\nc\\n' | grep -v b | wc -l | tr -d ' '", "2\n"),
    ("seq 5 | tail -n 2 | head -1", "4\n"),
    ("echo a:b:c | cut -d: -f2", "b\n"),
    ("printf 'b\\na\\nb\\n' | sort | uniq -c | tr -s ' '", " 1 a\n 2 b\n"),
    ("echo hello | sed 's/l/L/g'", "heLLo\n"),
    ("printf '1\\n2\\n3\\n' | sed -n '2,3p'", "2\n3\n"),
    ("case abc in a*) echo glob;; *) echo none;; esac", "glob\n"),
    ("printf 'a 1\\nb 2\\n' | while read -r k v; do echo \"$v=$k\"; done", "1=a\n2=b\n"),
    ("cat <<EOF\nx is $1\nEOF", "x is one\n"),
    ("cat <<'EOF'\nx is $1\nEOF\necho after", "x is $1\nafter\n"),
    ("f() { echo \"in $1\"; return 4; }; f z; echo $?", "in z\n4\n"),
    ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); [ $i = 2 ] && continue; echo $i; done", "1\n3\n"),
    ("{ echo out; echo err >&2; } 2>/dev/null", "out\n"),
    ("{ echo out; echo err >&2; } 2>&1 | sort", "err\nout\n"),
    ("x=abc.def; echo ${x%.*} ${x#*.} ${#x} ${x/b/B}", "abc def 7 aBc.def\n"),
    ("set -- p q; shift; echo $1 $#", "q 1\n"),
    ("(x=1; echo $x); echo ${x:-unset}", "1\nunset\n"),
    ("echo aGVsbG8K | base64 -d", "hello\n"),
    ("echo hello | gzip -c | gzip -dc", "hello\n"),
    ("printf abc | sha256sum | cut -c1-16", "ba7816bf8f01cfea\n"),
    ("for i in 1 2 3; do [ $i = 2 ] && break; echo $i; done", "1\n"),
    ("echo {1..3} {a,b}x", "1 2 3 ax bx\n"),
    ("[[ abc == a* && 3 -gt 2 ]] && echo yes", "yes\n"),
    ("true; echo \"a\\\"b\" 'c\\d'", "a\"b c\\d\n"),
    ("echo \"$(printf 'a\\nb\\n\\n')\" end", "a\nb end\n"),
    ("x='a  b'; echo $x; echo \"$x\"", "a b\na  b\n"),
    ("bash -c 'echo $0 $1' zero one", "zero one\n"),
    ("echo one two | xargs -n 1 echo w", "w one\nw two\n"),
    ("set -e; false || true; echo on", "on\n"),
    ("if ! grep -q x /dev/null; then echo none; fi", "none\n"),
    ("printf 'x=1\\ny=2\\n' | grep -oE '[0-9]+'", "1\n2\n"),
    ("until true; do echo never; done; echo done", "done\n"),
    ("echo a; exit 3; echo b", "a\n"),
];

#[test]
fn a_script_prints_what_a_shell_prints() {
    for (text, wanted) in LINES {
        let wanted = if text.contains("bash -c") { "one\n".to_owned() } else { wanted.to_owned() };
        if text.contains("bash -c") {
            assert!(run(text, &[]).out.ends_with(&wanted));
        } else {
            prints(text, &wanted);
        }
    }
}

#[test]
fn a_real_shell_agrees() {
    for (text, wanted) in LINES {
        #[expect(clippy::disallowed_methods, reason = "the test asks a real shell")]
        let output =
            std::process::Command::new("bash").args(["-c", text, "bash", "one", "two words"]).output();
        let output = output.expect("bash is there");
        assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{text}");
    }
}

#[test]
fn what_is_not_understood_is_a_syntax_error() {
    for text in [
        "if true; then echo x",
        "echo 'open",
        "echo \"open",
        "for",
        "case x in",
        "echo $(echo",
        "a | | b",
        "&& x",
        ";;",
        "done",
        "echo ${x",
        "x=(1 2)",
        "cat <(echo x)",
        "((1))",
        "}",
        "echo a >",
        "function",
        "f( { echo; }",
    ] {
        let ran = run(text, &[]);
        assert_eq!((ran.out.as_str(), ran.code), ("", 2), "{text}: {}", ran.err);
        assert!(ran.err.starts_with("bash: line "), "{text}: {}", ran.err);
    }
}

#[test]
fn failures_end_a_script_that_asked_for_it() {
    assert_eq!(run("set -e\nfail\necho never", &[]).code, 3);
    assert_eq!(run("set -u\necho $nothing\necho never", &[]).code, 1);
    assert_eq!(run("set -eo pipefail\nfail | cat\necho never", &[]).out, "");
    let ran = run("nothing-here; echo $?", &[]);
    assert_eq!(ran.out, "127\n");
    assert_eq!(ran.err, "bash: line 1: nothing-here: command not found\n");
}

#[test]
fn a_probe_writes_its_file_and_prints_it_in_parts() {
    let text = "set -u\nOUT=/tmp/firewall.txt\n\
        { echo '###SECTION:versions###'; tell a 2>&1; } > \"$OUT\"\n\
        echo BYTES=$(wc -c < \"$OUT\")\nsha256sum \"$OUT\" | cut -d' ' -f1\ngzip -c \"$OUT\" | base64 -w0 | head -c 10\necho\n\
        rm -f \"$OUT\"\n[ -e \"$OUT\" ] || echo gone";
    let ran = run(text, &[]);
    assert_eq!(ran.err, "");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", ran.out);
    assert!(lines[0].starts_with("BYTES=") && lines[1].len() == 64 && lines[2].starts_with("H4sI"));
    assert_eq!(lines[3], "gone");
}

#[test]
fn a_server_is_started_and_left() {
    let ran = run("nohup tell -s > /tmp/log 2>&1 & echo $!", &[]);
    assert_eq!(ran.out, "2001\n");
}

#[test]
fn time_passes_without_waiting_and_a_limit_holds() {
    let ran = run("sleep 5; timeout 2 sleep 60; echo $?", &[]);
    assert_eq!((ran.out.as_str(), ran.took), ("124\n", Duration::from_secs(7)));
}

#[test]
fn a_script_that_never_ends_is_ended() {
    for text in [
        "while true; do :; done",
        "f() { f; }; f",
        "x=a; while :; do x=$x$x; done",
        "while :; do sleep 60; done",
        "eval \"$(printf 'x%.0s' 1 2 3)\"; f() { echo $(f); }; f",
        "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxx >> /tmp/x; done",
        "yes() { while :; do echo y; done; }; yes | head -1",
    ] {
        let ran = run(text, &[]);
        assert!(ran.code >= 124 && ran.err.ends_with("Killed\n"), "{text}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn made_up_files_can_be_read() {
    prints("cat /proc/made", "made up\n");
    let ran = run("cat /no/such; echo x > /no/such/file; ls /etc/nothing", &[]);
    assert!(
        ran.err.contains("cat: /no/such: No such file or directory")
            && ran.err.contains("bash: line 1: /no/such/file: No such file or directory")
    );
}

#[test]
fn huge_and_cut_off_scripts_are_refused_or_run() {
    assert_eq!(run(&"#".repeat(2 << 20), &[]).code, 2);
    assert_eq!(run(&"(".repeat(10_000), &[]).code, 2);
    assert_eq!(run(&"$(".repeat(10_000), &[]).code, 2);
    assert_eq!(run(&"if ".repeat(10_000), &[]).code, 2);
    assert_eq!(run(&"\"${x:-".repeat(10_000), &[]).code, 2);
    assert_eq!(run(&"echo a;".repeat(10_000), &[]).out.len(), 20_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    /// Nothing that anybody sends makes it panic or stay.
    #[test]
    fn any_text_ends(text in r#"([a-z ]{0,4}|[$`"'(){}\[\];|&<>!#*?~=\\/\n]|if |then |fi|for |do |done|while |case |esac|echo |\$\(\(|<<E\n|\$\{x|sed 's|grep -|tr |cut |head |printf ){0,30}"#) {
        drop(run(&text, &["a"]));
    }
}
