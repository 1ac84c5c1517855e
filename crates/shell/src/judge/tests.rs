//! What must hold for every text, whatever the tables say.

use std::sync::LazyLock;

use proptest::prelude::*;

use crate::permit::{Permit, Reviewer};
use crate::text::{self, Need};
use crate::{Policy, Verdict};

static EXAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    Policy::builtin().unwrap().examples().iter().map(|example| example.command.clone()).collect()
});

/// Policies of sites that only tighten.
static TIGHTENED: LazyLock<Vec<Policy>> = LazyLock::new(|| {
    ["RISKY", "BLOCKED"]
        .iter()
        .flat_map(|verdict| {
            [r#"["ss"]"#, r#"["ip", "route"]"#, r#"["az", "vm"]"#, r#"["sudo"]"#, r#"["rm", "-rf"]"#].map(
                |words| {
                    let rule = format!("{{ words = {words}, verdict = \"{verdict}\", reason = \"x\" }}");
                    Policy::with_site(&format!("tighten = [{rule}]")).unwrap()
                },
            )
        })
        .collect()
});

/// Wrappers in front of words.
const IN_FRONT: [&str; 27] = [
    "sudo ",
    "sudo -n -u root -- ",
    "doas ",
    "env ",
    "env -i A=b ",
    "nohup ",
    "setsid ",
    "timeout 5 ",
    "timeout -s KILL 5 ",
    "nice ",
    "nice -n 5 ",
    "xargs ",
    "xargs -n 1 ",
    "stdbuf -oL ",
    "busybox ",
    "nsenter -t 1 -n ",
    "ip netns exec x ",
    "docker exec c ",
    "docker exec -it -u root c ",
    "kubectl exec p -- ",
    "chroot /mnt ",
    "strace -f ",
    "time ",
    "command ",
    "exec ",
    "unshare -n ",
    "flock /tmp/l ",
];

/// Wrappers whose words a shell joins and reads again.
const JOINED: [&str; 6] =
    ["ssh h ", "ssh -p 22 h -- ", "eval ", "watch ", "watch -n 1 ", "az ssh vm -n x -g y -- "];

/// Wrappers of one quoted text.
const QUOTED: [&str; 12] = [
    "bash -c ",
    "sh -e -c ",
    "/bin/dash -lc ",
    "ssh h ",
    "ssh -i k -p 22 u@h ",
    "eval ",
    "watch ",
    "su - root -c ",
    "sudo bash -c ",
    "az vm run-command invoke -g g -n v --command-id RunShellScript --scripts ",
    "az ssh vm -n x -g y -- ",
    "az aks command invoke -g g -n c --command ",
];

/// Texts around a command that is still run.
const AROUND: [(&str, &str); 22] = [
    ("", "; true"),
    ("", "\ntrue"),
    ("", "\r\ntrue"),
    ("", " && true"),
    ("", " || true"),
    ("", " | cat"),
    ("", " &"),
    ("", " 2>/dev/null"),
    ("true; ", ""),
    ("true\n", ""),
    ("true && ", ""),
    ("true || ", ""),
    ("true | ", ""),
    ("true & ", ""),
    ("echo $(", ")"),
    ("echo \"$(", ")\""),
    ("( ", " )"),
    ("{ ", "; }"),
    ("if true; then ", "; fi"),
    ("while true; do ", "; done"),
    ("f() { ", "; }; f"),
    ("! ", ""),
];

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn double(text: &str) -> String {
    let escaped: String = text
        .chars()
        .flat_map(|char| matches!(char, '"' | '\\' | '$' | '`').then_some('\\').into_iter().chain([char]))
        .collect();
    format!("\"{escaped}\"")
}

fn backticks(text: &str) -> String {
    format!("echo `{}`", text.replace('\\', r"\\").replace('`', r"\`"))
}

/// Tells whether a text begins with a program, so that a wrapper can stand in front of it.
fn begins_with_a_program(text: &str) -> bool {
    let needs = text::read(text).needs;
    let shaped = [Need::Keyword, Need::Function, Need::Group, Need::Assignment, Need::Comment, Need::Tilde]
        .into_iter()
        .any(|need| needs.has(need));
    !shaped && text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '/')
}

/// Returns every disguise of a command that must not make it look more harmless.
fn disguises(command: &str) -> Vec<String> {
    let mut all: Vec<String> =
        AROUND.iter().map(|(before, after)| format!("{before}{command}{after}")).collect();
    all.push(backticks(command));
    all.extend(
        QUOTED
            .iter()
            .flat_map(|front| [single(command), double(command)].map(|quoted| format!("{front}{quoted}"))),
    );
    // Behind a program `cd` moves no shell: what follows it then runs elsewhere.
    let moves = command.split_ascii_whitespace().any(|word| word == "cd");
    if begins_with_a_program(command) && !moves {
        all.extend(IN_FRONT.iter().map(|front| format!("{front}{command}")));
        if !command.contains(['\'', '"', '\\', '*', '$', '`']) {
            all.extend(JOINED.iter().map(|front| format!("{front}{command}")));
        }
    }
    all
}

/// Says which disguises lower the verdict on a command.
///
/// A guest's script may do more than a command line here, such as `sudo` and pipes: it only has to stay blocked.
fn lowered(command: &str) -> Vec<String> {
    let policy = Policy::builtin().unwrap();
    let bare = policy.classify(command);
    disguises(command)
        .into_iter()
        .filter_map(|text| {
            let worn = policy.classify(&text);
            let for_a_guest = bare.verdict == Verdict::Risky && text.starts_with("az vm run-command");
            // Behind a pipe a filter reads no file, and waits for nobody; what goes on without end only asks for an end.
            let filter = bare.verdict == Verdict::Risky && text.starts_with("true | ");
            let bounded = bare.rule == "program.endless" && text.contains("timeout ");
            (worn.verdict < bare.verdict && !for_a_guest && !filter && !bounded).then(|| {
                format!("{command:?} is {} ({}), {text:?} is {}", bare.verdict, bare.rule, worn.verdict)
            })
        })
        .collect()
}

#[test]
fn no_disguise_lowers_the_verdict_on_an_example() {
    let wrong: Vec<String> = EXAMPLES.iter().flat_map(|command| lowered(command)).collect();
    assert!(wrong.is_empty(), "{} are lowered:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn quoting_the_program_of_an_example_lowers_nothing() {
    let policy = Policy::builtin().unwrap();
    let mut wrong = Vec::new();
    for command in EXAMPLES.iter().filter(|command| begins_with_a_program(command)) {
        let verdict = policy.classify(command).verdict;
        let (program, rest) =
            command.split_at(command.find([' ', '\n', ';', '|', '&']).unwrap_or(command.len()));
        if !program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte)) {
            continue;
        }
        let (first, others) = program.split_at(1);
        let forms = [
            format!("{first}''{others}"),
            format!("\\{first}{others}"),
            format!("\"{program}\""),
            format!("'{first}'\"{others}\""),
            format!("$'{program}'"),
            format!("$'\\x{:02x}'{others}", first.as_bytes()[0]),
            format!("{program}\"\""),
        ];
        wrong.extend(
            forms
                .iter()
                .map(|form| format!("{form}{rest}"))
                .filter(|text| policy.classify(text).verdict < verdict),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Words that are near to what the rules speak of.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "-r", "-rf", "-R", "-i", "-c", "-n", "-e", "-z", "--", "-", "/", "/etc", "~", "$HOME", "/usr/", "/tmp/x",
            "/dev/sda", "/dev/null", "of=/dev/sda", "of=/tmp/x", "/etc/shadow", "~/.ssh/id_rsa", ".env", "@/etc/shadow",
            "--cert", "--key", "-E", "ssh", "curl", "reboot", "halt", "1", "-1", "-9", "6", "+x", "eth0", "10.0.0.4",
            "show", "list", "route", "addr", "exec", "get-access-token", "list-keys", "account", "keys", "storage", "vm",
            "http://169.254.169.254/metadata/identity/oauth2/token", "https://h/x", "-H", "a=b", "'a b'", "\"x\"", "*",
            "{a,b}", "?", "[x]", "2>&1", "</etc/shadow", ">/dev/sda", "-delete", "-exec", "rm", "{}", "\\;", "+", "sh",
        ]).prop_map(str::to_owned),
        1 => "[a-z0-9./=@:-]{1,8}",
    ]
}

fn program() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "rm",
        "dd",
        "kill",
        "chmod",
        "mv",
        "cp",
        "find",
        "tee",
        "env",
        "printenv",
        "cat",
        "grep",
        "ip",
        "ss",
        "ping",
        "dig",
        "curl",
        "wget",
        "tc",
        "nft",
        "iptables",
        "sudo",
        "ssh",
        "scp",
        "bash",
        "sh",
        "eval",
        "watch",
        "xargs",
        "timeout",
        "nice",
        "az",
        "az account",
        "az storage account",
        "systemctl",
        "init",
        "mkfs.ext4",
        "echo",
        "true",
        "tcpdump",
        "docker exec c",
        "ip netns exec x",
        "busybox",
        "nohup",
        "find / -exec",
        "exec",
        "tail",
        "wipefs",
        "parted",
    ])
    .prop_map(str::to_owned)
}

/// One to three commands of such words.
fn commands() -> impl Strategy<Value = String> {
    let simple = || {
        (program(), prop::collection::vec(word(), 0..5))
            .prop_map(|(program, words)| [&[program], &words[..]].concat().join(" "))
    };
    let link = prop::sample::select(vec![" ; ", " && ", " || ", " | ", " & ", "\n"]);
    (simple(), prop::collection::vec((link, simple()), 0..2)).prop_map(|(first, more)| {
        more.into_iter().fold(first, |text, (link, next)| format!("{text}{link}{next}"))
    })
}

fn command() -> impl Strategy<Value = String> {
    prop_oneof![prop::sample::select(EXAMPLES.clone()), commands(), commands()]
}

/// Any text at all, and texts of the characters that a shell reads.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        prop::collection::vec(any::<char>(), 0..40).prop_map(|chars| chars.into_iter().collect()),
        "[ \t\n\r'\"\\\\$`(){}<>|&;*?\\[\\]~#!=,.a-c0-2/-]{0,60}",
        "(rm|-rf|/|sudo|\\$\\(|`|'|\"|\\\\| |\n|;|\\{|\\}|\\(|\\)|&|\\||<<<|<<|>|f|eval|bash -c|az|--query){0,30}",
        command(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// No text makes the judge stop, and what it calls SAFE can run without a shell.
    #[test]
    fn every_text_has_one_answer(text in any_text()) {
        let policy = Policy::builtin().unwrap();
        let ruling = policy.classify(&text);
        prop_assert_eq!(&ruling, &policy.classify(&text));
        prop_assert!(ruling.verdict != Verdict::Safe || ruling.argv.is_some() != ruling.list.is_some());
        prop_assert_eq!(ruling.impact.is_some(), ruling.verdict == Verdict::Risky);
    }

    /// Consent never opens what the policy forbids.
    #[test]
    fn no_reviewer_can_permit_what_is_blocked(text in any_text()) {
        let ruling = Policy::builtin().unwrap().classify(&text);
        let permit = Permit::approved(Reviewer::new("ana"), &text, &ruling);
        prop_assert_eq!(permit.is_none(), ruling.verdict == Verdict::Blocked);
        // What may be sent elsewhere by a server is followed by the gate, one judged request after the other.
        let followed = ruling.verdict == Verdict::Safe && ruling.profile.redirected;
        let runs = Permit::for_safe(&ruling).is_some() || ruling.list.is_some() || followed;
        prop_assert_eq!(runs, ruling.verdict == Verdict::Safe);
    }

    #[test]
    fn no_disguise_lowers_the_verdict_on_a_command(command in command()) {
        let wrong = lowered(&command);
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn no_two_disguises_lower_the_verdict(command in command(), first in any::<prop::sample::Index>()) {
        let once = disguises(&command);
        let worn: &String = first.get(&once);
        let wrong = lowered(worn);
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// A site that only tightens never opens anything.
    #[test]
    fn tightening_never_lowers_a_verdict(command in command()) {
        let builtin = Policy::builtin().unwrap().classify(&command).verdict;
        for site in TIGHTENED.iter() {
            prop_assert!(site.classify(&command).verdict >= builtin);
        }
    }
}

/// These clients take the word behind an option that their root does not know for its value, and find the verb further on.
#[test]
fn no_option_of_one_verb_stands_before_the_verb_of_a_client() {
    const CLIENTS: [&str; 10] =
        ["kubectl", "oc", "helm", "docker", "podman", "crictl", "hubble", "cilium", "calicoctl", "antctl"];
    const OPTIONS: [&str; 9] =
        ["-A", "-a", "-q", "-w", "-o wide", "--all", "--watch", "--show-labels", "--selector=app=web"];
    let policy = Policy::builtin().unwrap();
    let examples = policy.examples().iter().filter(|example| example.verdict == Verdict::Safe);
    let mut seen = std::collections::BTreeSet::new();
    for example in examples {
        let Some((client, rest)) = example.command.split_once(' ') else { continue };
        if !CLIENTS.contains(&client) {
            continue;
        }
        seen.insert(client);
        for option in OPTIONS {
            let line = format!("{client} {option} {rest}");
            let ruling = policy.classify(&line);
            assert_ne!(ruling.verdict, Verdict::Safe, "{line}: {}", ruling.rule);
        }
    }
    assert_eq!(seen.len(), CLIENTS.len(), "{seen:?}");
}
