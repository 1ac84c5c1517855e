//! The commands of the documents that need nothing but the program are run, page by page, in the order in which they stand there.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::document::{commands, fences, of_ghost};
use crate::project::{documents, none, root};

/// What some commands need beside the program, by words that stand in them in this order. None of these is here for nothing.
const NEEDS: [(&[&str], &str); 33] = [
    (&["-g"], "a cloud"),
    (&["host"], "a network around the machine"),
    (&["investigate", "--host"], "machines that take ssh"),
    (&["--inventory"], "an inventory of yours"),
    (&["capture", "orphans"], "a cloud"),
    (&["subscriptions"], "a cloud"),
    (&["--bastion-public-ip"], "a machine behind a bastion"),
    (&["bot"], "a workspace"),
    (&["init"], "somebody who answers"),
    (&["mcp"], "a client"),
    (&["hook", "doctor"], "an installed hook"),
    (&["hook", "install", "--config"], "an administrator's file"),
    (&["config", "check", "--config"], "an administrator's file"),
    (&["--brain"], "a model's key"),
    (&["--resume"], "a session of yours"),
    (&["--recheck"], "a session of yours"),
    (&["ask"], "a session of yours"),
    (&["sessions", "show"], "a session of yours"),
    (&["sessions", "export"], "a session of yours"),
    (&["export", "postmortem"], "a session of yours"),
    (&["replay"], "a session of yours"),
    (&["audit", "verify"], "an audit file of yours"),
    (&["audit", "show"], "an audit file of yours"),
    (&["--bundle"], "an estate of yours"),
    (&["path", "diff"], "an estate of yours"),
    (&["change", "review"], "a plan of yours"),
    (&["effective", "verify"], "a certificate of yours"),
    (&["--change-window"], "a baseline from before it"),
    (&["--execpolicy"], "public corpora"),
    (&["--follow"], "a minute"),
    (&["lab", "eval", "--net"], "namespaces"),
    (&["lab", "eval", "--random"], "minutes"),
    (&["lab", "eval", "--scoreboard"], "minutes"),
];

/// No command takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(180);

/// Subcommands of `ghost lab` that speak with a lab that runs, or are one.
const OF_A_LAB: [&str; 10] = ["net", "up", "down", "set", "reset", "az", "inject", "check", "slack", "exec"];

/// Returns what a command needs beside the program.
fn need(words: &[String], used: &mut BTreeSet<usize>) -> Option<&'static str> {
    if let [lab, sub, ..] = words
        && lab == "lab"
        && OF_A_LAB.contains(&sub.as_str())
    {
        return Some("a lab that runs");
    }
    // What only shows its plan reaches nothing.
    if words.iter().any(|word| word == "--plan") {
        return None;
    }
    let has = |wanted: &[&str]| {
        let mut rest = words.iter();
        wanted.iter().all(|word| rest.any(|there| there == word))
    };
    let (at, (_, need)) = NEEDS.iter().enumerate().find(|(_, (wanted, _))| has(wanted))?;
    used.insert(at);
    Some(need)
}

/// Puts the files there that the pages speak of.
fn files(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let route = json!({"addressPrefix": ["10.0.0.0/8"], "nextHopType": "VnetLocal", "nextHopIpAddress": [],
        "source": "Default", "state": "Active", "name": null});
    let rule = json!({"name": "allow-app", "priority": 100, "direction": "Inbound", "access": "Allow",
        "protocol": "Tcp", "sourceAddressPrefix": "*", "destinationAddressPrefix": "*",
        "sourcePortRange": "0-65535", "destinationPortRange": "5001-5001"});
    let group = json!({"networkSecurityGroup": {"id": "/x/networkSecurityGroups/n"},
        "effectiveSecurityRules": [rule], "association": {"networkInterface": {"id": "/x/networkInterfaces/n"}}});
    let (routes, rules) = (json!({"value": [route]}), json!({"value": [group]}));
    write("routes.json", &routes.to_string());
    write("nsg.json", &rules.to_string());
    write("nics.json", "[]");
    write("log.json", "[]");
    write("PT1H.json", r#"{"records":[]}"#);
    let pod = |name: &str, address: &str| {
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop"}, "spec": {},
            "status": {"phase": "Running", "podIP": address}})
    };
    let service = json!({"kind": "Service", "apiVersion": "v1", "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"clusterIP": "10.0.0.10", "ports": [{"name": "sql", "port": 5432}]}});
    let list =
        |items: &[serde_json::Value]| json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string();
    write("cluster.json", &list(&[pod("web-1", "10.244.0.4"), pod("db-0", "10.244.0.6"), service]));
    write("policies.json", &list(&[]));
    write("node.rules", "*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n");
    write("tc.txt", "qdisc netem 8001: dev eth0 root refcnt 2 limit 1000 delay 30ms\n");
    let state = json!({"nics": [{"nic": "web", "routes": routes, "nsg": rules, "error": null}]}).to_string();
    let filter = "*filter\n:INPUT DROP [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n";
    for name in ["before", "after"] {
        write(&format!("{name}.json"), &state);
        write(&format!("{name}.rules"), filter);
    }
    let pcap = root().join("tests/fixtures/pcap");
    for (name, from) in [
        ("trouble.pcapng.gz", "packed.pcap.gz"),
        ("source.pcap", "tcp.pcap"),
        ("destination.pcap", "tcp_trouble.pcap"),
    ] {
        fs::copy(pcap.join(from), folder.join(name)).unwrap();
    }
    fs::create_dir(folder.join(".claude")).unwrap();
    write(".claude/settings.json", r#"{"permissions": {"deny": ["Bash(git push:*)"]}}"#);
    write("ghost.toml", "[capture]\nstorage_account = 'captures'\nstorage_container = 'packets'\n");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test runs the program under test")]
fn what_needs_nothing_but_the_program_runs_as_the_documents_show_it() {
    let (mut problems, mut used, mut ran) = (Vec::new(), BTreeSet::new(), 0);
    for (page, text) in documents() {
        let folder = tempfile::tempdir().unwrap();
        files(folder.path());
        let lines = fences(&text).into_iter().flat_map(|code| {
            let whole = code.replace("\\\n", " ");
            whole.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        for line in lines {
            // What is piped, redirected or chained needs a shell, and whatever else stands there.
            let [command] = commands(&line).try_into().unwrap_or_else(|_| [Vec::new()]);
            let Some(words) =
                of_ghost(&command).filter(|_| command.first().is_some_and(|word| word == "ghost"))
            else {
                continue;
            };
            if need(words, &mut used).is_some() {
                continue;
            }
            let words = words.iter().map(|word| match word.strip_prefix("/usr/local") {
                Some(rest) => format!("{}{rest}", folder.path().display()),
                None => word.clone(),
            });
            let output = folder.path().join("output");
            let log = File::create(&output).unwrap();
            let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
                .args(words)
                .current_dir(folder.path())
                .env_clear()
                .env("HOME", folder.path())
                .env("GHOST_CONFIG", folder.path().join("ghost.toml"))
                .stdin(Stdio::null())
                .stdout(log.try_clone().unwrap())
                .stderr(log)
                .spawn()
                .unwrap();
            ran += 1;
            let began = Instant::now();
            let status = loop {
                match child.try_wait().unwrap() {
                    Some(status) => break Some(status),
                    // What does not end by itself needs somebody who ends it.
                    None if began.elapsed() > PATIENCE => break None,
                    None => std::thread::park_timeout(Duration::from_millis(20)),
                }
            };
            if !status.is_some_and(|status| status.success()) {
                drop(child.kill());
                drop(child.wait());
                let said = fs::read_to_string(&output).unwrap_or_default();
                problems.push(format!("{page}: {line}: {status:?}: {said}"));
            }
        }
    }
    let idle = NEEDS.iter().enumerate().filter(|(at, _)| !used.contains(at));
    problems.extend(idle.map(|(_, (words, need))| format!("no command with {words:?} needs {need}")));
    assert!(ran >= 25, "only {ran} commands were run");
    none(problems);
}
