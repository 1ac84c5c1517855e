//! `ghost netfilter`: exit codes, streams, bundles, snapshots, and the collecting script against a real kernel.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const NATIVE: &str = r#"{"nftables":[{"metainfo":{"version":"1.0.6","json_schema_version":1}}]}"#;

/// Runs a program with nothing in its environment but a path.
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test, and real tools")]
fn run(program: &str, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments does not wait for its input.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    child.wait_with_output().unwrap()
}

fn ghost(arguments: &[&str], input: &str) -> Output {
    let all: Vec<&str> = ["netfilter"].iter().chain(arguments).copied().collect();
    run(env!("CARGO_BIN_EXE_ghost"), &all, input)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn save(rules: &str) -> String {
    format!("*filter\n:INPUT ACCEPT [0:0]\n{rules}\nCOMMIT\n")
}

fn bundle(rules: &str) -> Value {
    json!({
        "iptables-legacy": "", "ip6tables-legacy": "", "ip6tables-nft": "", "iptables-nft": save(rules),
        "nft": NATIVE, "ipset": "", "alternatives": "", "tables": "", "tables6": "",
    })
}

/// Writes a file and returns its path as text.
fn put(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_comparison_of_bundles_has_its_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let a = put(folder.path(), "a", &bundle("").to_string());
    let b = put(folder.path(), "b", &bundle("-A INPUT -j DROP").to_string());
    let mut broken = bundle("");
    broken["nft"] = json!({ "error": "denied" });
    let broken = put(folder.path(), "c", &broken.to_string());
    let mut worse = bundle("-A INPUT -j DROP");
    worse["nft"] = json!({ "error": "denied" });
    let worse = put(folder.path(), "d", &worse.to_string());
    for (x, y, code, status) in [
        (&a, &a, 0, "CLEAN"),
        (&a, &b, 3, "DRIFT"),
        (&a, &broken, 4, "INCONCLUSIVE"),
        (&a, &worse, 3, "DRIFT"),
    ] {
        let output = ghost(&["diff", x, y, "--json", "--exit-code"], "");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), answer["status"].as_str()), (Some(code), Some(status)), "{answer}");
        assert_eq!(ghost(&["diff", x, y], "").status.code(), Some(0));
    }
    let printed = stdout(&ghost(&["diff", &a, &broken], ""));
    assert!(
        printed.starts_with("INCONCLUSIVE")
            && printed.contains("UNREAD: after: nft: could not be read: denied"),
        "{printed}"
    );
}

#[test]
fn a_bundle_is_recognized_by_every_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "b.json", &bundle("-A INPUT -p tcp -m tcp --dport 23 -j DROP").to_string());
    let parsed: Value = serde_json::from_slice(&ghost(&["parse", &path, "--json"], "").stdout).unwrap();
    assert_eq!(
        (&parsed["format"], &parsed["framework"], &parsed["rules"]),
        (&json!("bundle"), &json!("iptables-nft"), &json!(1))
    );
    assert!(stdout(&ghost(&["parse", &path], "")).contains("== iptables-nft"));
    assert!(stdout(&ghost(&["explain", &path], "")).contains("- tcp/23: DROP by filter/INPUT rule 1"));
    let described =
        "--hook input --protocol tcp --src 10.0.0.2 --dst 10.0.0.1 --dport 23 --state new --exit-code";
    let arguments: Vec<&str> = ["walk", &path].into_iter().chain(described.split(' ')).collect();
    let output = ghost(&arguments, "");
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).starts_with("DROP by iptables-nft"), "{}", stdout(&output));
}

#[test]
fn a_ruleset_and_a_bundle_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let a = put(folder.path(), "a", &bundle("").to_string());
    for command in ["diff", "explain"] {
        let output = ghost(&[command, &a, "-"], &save(""));
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{printed}");
        assert!(printed.contains("compare like with like"), "{printed}");
    }
}

#[test]
fn a_change_is_explained_in_both_forms() {
    let folder = tempfile::tempdir().unwrap();
    let a = put(folder.path(), "a", &save("-A INPUT -s 10.0.0.0/8 -j ACCEPT"));
    let b = put(
        folder.path(),
        "b",
        &save("-A INPUT -p tcp -m tcp --dport 5001 -j DROP\n-A INPUT -s 10.0.0.0/8 -j ACCEPT"),
    );
    let printed = stdout(&ghost(&["explain", &a, &b], ""));
    assert!(printed.starts_with("# What changed: DRIFT, critical"), "{printed}");
    assert!(printed.contains("- iptables input, new: tcp/5001"), "{printed}");
    let document: Value = serde_json::from_slice(&ghost(&["explain", &a, &b, "--json"], "").stdout).unwrap();
    assert_eq!(document["change"]["traffic"][0]["after"], json!("DROP"));
    assert_eq!(stdout(&ghost(&["explain", &a, &b], "")), printed);
    let code = |files: &[&str]| ghost(&[&["explain", "--exit-code"], files].concat(), "").status.code();
    assert_eq!((code(&[&a, &b]), code(&[&a, &a]), code(&[&a])), (Some(3), Some(0), Some(0)));
}

#[test]
fn a_difference_names_the_packets_with_another_outcome_in_every_form_of_output() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (
        "-A INPUT -s 10.0.0.0/8 -j ACCEPT",
        "-A INPUT -p tcp -m tcp --dport 5001 -j DROP\n-A INPUT -s 10.0.0.0/8 -j ACCEPT",
    );
    let a = put(folder.path(), "a", &save(before));
    let b = put(folder.path(), "b", &save(after));
    let printed = stdout(&ghost(&["diff", &a, &b], ""));
    assert!(printed.contains("traffic   iptables input, new: tcp/5001"), "{printed}");
    assert!(printed.contains("ACCEPT by ") && printed.contains("→ DROP by filter/INPUT rule 1"), "{printed}");
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_slice(&ghost(&[arguments, &["--json"]].concat(), "").stdout).unwrap()
    };
    let (diff, explained) = (json(&["diff", &a, &b]), json(&["explain", &a, &b]));
    assert_eq!(diff["traffic"], explained["change"]["traffic"]);
    assert_eq!((&diff["traffic_limits"], &diff["drift"]), (&json!([]), &json!(true)));
    assert_eq!(json(&["diff", &a, &a])["traffic"], json!([]));
    // Two hosts, and the same two as a look against a baseline.
    let a = put(folder.path(), "a.json", &bundle(before).to_string());
    let b = put(folder.path(), "b.json", &bundle(after).to_string());
    let data = folder.path().join("data").display().to_string();
    let keep = |file: &str, more: &[&str]| {
        json(&[&["snapshot", file, "--scope", "vm-1", "--data-dir", &data], more].concat())
    };
    keep(&a, &["--session-id", "before", "--is-baseline"]);
    let kept = keep(&b, &["--session-id", "after", "--compare-baseline", "before"]);
    let diff = json(&["diff", &a, &b]);
    assert_eq!(diff["traffic"][0]["after"], json!("DROP"), "{diff}");
    assert_eq!((&kept["traffic"], &kept["changes"]), (&diff["traffic"], &diff["changes"]));
}

#[test]
fn a_file_that_was_cut_off_is_refused_where_its_end_could_decide() {
    let folder = tempfile::tempdir().unwrap();
    let whole = put(folder.path(), "w", &save("-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT"));
    let cut = put(
        folder.path(),
        "c",
        "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n",
    );
    let described = ["--hook", "input", "--protocol", "tcp", "--src", "10.0.0.2", "--dst", "10.0.0.1"];
    let walk: Vec<&str> = ["walk", &cut].iter().chain(&described).copied().collect();
    for arguments in
        [walk.as_slice(), &["explain", &cut], &["explain", &whole, &cut], &["diff", &whole, &cut]]
    {
        let output = ghost(arguments, "");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?} {printed}");
        assert!(printed.contains("cut off") && printed.contains("hint: "), "{printed}");
    }
    // To be read, it is read as far as it goes.
    let parsed: Value = serde_json::from_slice(&ghost(&["parse", &cut, "--json"], "").stdout).unwrap();
    assert_eq!((&parsed["rules"], &parsed["cut_off"]), (&json!(1), &json!(true)));
}

#[test]
fn an_answer_carries_what_was_odd_about_its_rules() {
    let folder = tempfile::tempdir().unwrap();
    let odd = put(folder.path(), "o", &save("-I INPUT -j DROP"));
    let mut host = bundle("-I INPUT -j DROP");
    host["nft"] = json!({ "error": "denied" });
    let host = put(folder.path(), "h", &host.to_string());
    for (path, place) in [(&odd, "line 3"), (&host, "iptables-nft, line 3")] {
        let described = "--hook input --protocol tcp --src 10.0.0.2 --dst 10.0.0.1 --json --exit-code";
        let arguments: Vec<&str> = ["walk", path].into_iter().chain(described.split(' ')).collect();
        let output = ghost(&arguments, "");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (output.status.code(), &answer["verdict"]),
            (Some(4), &json!("INDETERMINATE")),
            "{answer}"
        );
        assert_eq!(answer["warnings"][0]["place"], json!(place), "{answer}");
    }
}

#[test]
fn sets_beside_rules_decide_a_walk() {
    let folder = tempfile::tempdir().unwrap();
    let rules = put(folder.path(), "r", &save("-A INPUT -m set --match-set bad src -j DROP"));
    let sets = put(folder.path(), "s", "create bad hash:ip family inet\nadd bad 10.6.6.6\n");
    let verdict = |source: &str, sets: &[&str]| {
        let described =
            ["--hook", "input", "--protocol", "tcp", "--dst", "10.0.0.1", "--json", "--src", source];
        let arguments: Vec<&str> = ["walk", &rules].iter().chain(&described).chain(sets).copied().collect();
        let answer: Value = serde_json::from_slice(&ghost(&arguments, "").stdout).unwrap();
        answer["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("10.6.6.6", &["--sets", &sets]), "DROP");
    assert_eq!(verdict("10.6.6.7", &["--sets", &sets]), "ACCEPT");
    assert_eq!(verdict("10.6.6.7", &[]), "INDETERMINATE");
}

#[test]
fn a_snapshot_is_kept_compared_and_refused_where_it_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let keep = |session: &str, more: &[&str], bundle: &Value| {
        let arguments = ["snapshot", "-", "--data-dir", data, "--session-id", session, "--scope", "vm-1"];
        let arguments: Vec<&str> = arguments.iter().chain(more).copied().collect();
        ghost(&arguments, &bundle.to_string())
    };
    let output = keep("before", &["--is-baseline"], &bundle(""));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout(&output).starts_with("baseline before of vm-1"), "{}", stdout(&output));
    let same = keep("same", &["--compare-baseline", "before", "--exit-code", "--json"], &bundle(""));
    let answer: Value = serde_json::from_slice(&same.stdout).unwrap();
    assert_eq!(
        (same.status.code(), &answer["status"], &answer["verified"]),
        (Some(0), &json!("CLEAN"), &json!(true))
    );
    let after = keep("after", &["--compare-baseline", "before", "--exit-code"], &bundle("-A INPUT -j DROP"));
    assert_eq!(after.status.code(), Some(3));
    // The same name twice, and a baseline that is not there.
    assert_eq!(keep("before", &[], &bundle("")).status.code(), Some(1));
    assert_eq!(keep("x", &["--compare-baseline", "nowhere"], &bundle("")).status.code(), Some(1));
    assert_eq!(keep("../x", &[], &bundle("")).status.code(), Some(2));
    let path = format!("{data}/netfilter/before_snapshot.json");
    let changed = fs::read_to_string(&path).unwrap().replace("INPUT ACCEPT", "INPUT DROP");
    fs::write(&path, changed).unwrap();
    let refused = keep("y", &["--compare-baseline", "before"], &bundle(""));
    let printed = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    assert!(printed.contains("was changed since it was taken"), "{printed}");
    assert!(!Path::new(&format!("{data}/netfilter/y_snapshot.json")).exists());
}

#[test]
fn a_bundle_of_which_nothing_could_be_read_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let output = ghost(&["snapshot", "-", "--data-dir", data], r#"{"nft":{"error":"denied"}}"#);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_dir(data).unwrap().count(), 0);
}

#[test]
fn a_live_inspection_without_a_key_says_where_to_name_one() {
    let output = ghost(&["inspect", "--provider", "ssh", "--target-vm-ip", "10.0.0.1"], "");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(printed.contains("[ssh] key"), "{printed}");
}

#[test]
fn a_document_does_not_steer_the_terminal() {
    let rules = save("-A INPUT -m comment --comment \"\u{1b}[2J\u{202e}\" -j DROP");
    for command in ["parse", "explain"] {
        let printed = stdout(&ghost(&[command, "-"], &rules));
        assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed:?}");
    }
}

/// The script is run by a real shell on a real kernel, in a network of its own.
#[test]
fn the_script_gathers_what_a_kernel_holds() {
    let script = stdout(&ghost(&["collect"], ""));
    let allowed = run("unshare", &["-n", "iptables", "-L"], "");
    if !allowed.status.success() {
        let why = String::from_utf8_lossy(&allowed.stderr).into_owned();
        println!("skipped: no network with a packet filter of its own can be made here: {why}");
        return;
    }
    let rules = "iptables -A INPUT -m comment --comment 'a \"q\" \\ b' -p tcp --dport 23 -j DROP && nft add table inet own && nft 'add chain inet own in { type filter hook input priority 5; policy drop; }'";
    let output = run("unshare", &["-n", "sh", "-c", &format!("{{ {rules}; }} >&2 && exec sh")], &script);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let gathered = stdout(&output);
    let bundle: Value = serde_json::from_str(&gathered).unwrap();
    assert!(
        bundle["iptables-nft"].as_str().unwrap().contains(r#"--comment "a \"q\" \\ b""#),
        "{errors}\n{gathered}"
    );
    let printed = stdout(&ghost(&["explain", "-"], &gathered));
    assert!(printed.starts_with("Framework: mixed") || printed.contains("\nFramework: mixed"), "{printed}");
    assert!(printed.contains("- tcp/23: DROP by filter/INPUT rule 1"), "{printed}");
    assert!(printed.contains("DROP by the policy of inet own/in"), "{printed}");
}
