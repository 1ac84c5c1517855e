//! Packets that are recorded on machines: one question for each, both at the same time, and nothing is left there.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::sshd::{Keys, Sshd, skipped};
use crate::terminal::Terminal;

fn left_over() -> BTreeSet<String> {
    let names = std::fs::read_dir("/tmp").unwrap().map(|entry| entry.unwrap().file_name());
    names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with("ghost-capture."))
        .collect()
}

#[test]
fn packets_of_two_machines_are_recorded_at_the_same_time_and_asked_about_once_each() {
    if skipped() {
        return;
    }
    assert!(
        Path::new("/usr/bin/tcpdump").exists(),
        "tcpdump is missing; GHOST_TEST_WITHOUT=sshd runs without"
    );
    let before = left_over();
    let (keys, home) = (Keys::new(), tempfile::tempdir().unwrap());
    let (_server, ports) = Sshd::of_many(&keys, &[None, None]);
    let known = keys.known(&[("127.0.0.1", ports[0]), ("127.0.0.1", ports[1])]);
    let mut table = "name,address,user,port,key\n".to_owned();
    for (name, port) in ["box-a", "box-b"].iter().zip(&ports) {
        table.push_str(&format!("{name},127.0.0.1,root,{port},{}\n", keys.at("user").display()));
    }
    let at = |name: &str| home.path().join(name).display().to_string();
    std::fs::write(at("hosts.csv"), table).unwrap();
    std::fs::write(at("ghost.toml"), format!("[capture]\nfolder = {:?}\n", at("captures"))).unwrap();
    let (inventory, config, data) = (at("hosts.csv"), at("ghost.toml"), at("data"));
    let symptom = "box-a cannot reach box-b, please capture packets at both ends";
    let words = ["investigate", symptom, "--inventory", &inventory, "--known-hosts", known.to_str().unwrap()];
    let more = ["--config", &config, "--data-dir", &data, "--json", "--plain"];
    let words: Vec<&str> = words.into_iter().chain(more).collect();
    let mut terminal = Terminal::start_within("dumb", &words, "", &[("HOME", at(""))]);
    // It ends by itself; whatever is asked before is approved.
    assert!(!terminal.approve_until("no such text"));
    let (_, printed) = terminal.end();
    let events: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["kind"] == kind).map(|event| &event["body"]).collect()
    };
    let asked = of("approval_requested");
    assert_eq!(asked.len(), 2, "{printed}");
    assert!(asked.iter().all(|question| question["impact"] == "measurement"), "{asked:#?}");
    let measured: Vec<&Value> = asked.iter().map(|question| &question["step"]).collect();
    let place = |kind: &str, step: &Value| {
        events.iter().position(|event| event["kind"] == kind && event["body"]["step"] == *step).unwrap()
    };
    // Both run before either is over.
    assert!(place("executing", measured[1]) < place("done", measured[0]), "{printed}");
    assert!(place("executing", measured[0]) < place("done", measured[1]), "{printed}");
    let kept: Vec<String> = std::fs::read_dir(at("captures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for ending in ["-src.cap", "-dst.cap", "-src_forensic_report.md", "_comparison.md"] {
        assert!(kept.iter().any(|name| name.ends_with(ending)), "{ending}: {kept:?} {printed}");
    }
    assert_eq!(left_over(), before);
}
