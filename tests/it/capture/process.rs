//! `ghost capture`, as a process at a terminal: killed in every state, and somebody goes on.

use serde_json::Value;

use super::stage::{CONTAINER, Stage};
use crate::random::{Random, is_long, seed};
use crate::terminal::Terminal;

/// So many kills are done in the short run: each waits as a person does.
const SAMPLE: usize = 2;

/// What is shown when it is killed: every state, and every command that changes something.
const MOMENTS: [&str; 16] = [
    "checking · does tf-dest-vm run",
    "checking · which regions have a network watcher?",
    "checking · does anything record on tf-dest-vm?",
    "checking · can the platform write to",
    "checking · is the name ghost-",
    "checking · record all packets of tf-dest-vm",
    "recording · tf-dest-vm records until about",
    "recording · how far is the capture of tf-dest-vm?",
    "downloading · how large is the file of tf-dest-vm?",
    "downloading · fetch the capture of tf-dest-vm",
    "downloading · reading ghost-",
    "analyzing · analyzing what was captured",
    "cleaning_up · remove the capture of tf-dest-vm",
    "cleaning_up · remove the file of tf-dest-vm",
    "cleaning_up · is the capture of tf-dest-vm gone?",
    "cleaning_up · is the file of tf-dest-vm gone?",
];

fn start(stage: &Stage, words: &[&str]) -> Terminal {
    let (config, data) = (stage.config(), stage.data());
    let place = ["--config", config.to_str().unwrap(), "--data-dir", data.to_str().unwrap()];
    Terminal::start_within("dumb", &[&["capture"], words, &place].concat(), "", stage.exports())
}

const START: [&str; 8] =
    ["start", "--target", "tf-dest-vm", "-g", "nw-forensics-rg", "--duration", "1", "--session"];

/// Goes on with the capture, and approves all that is asked.
async fn to_the_end(stage: &Stage, how: &str) -> Value {
    let mut terminal = start(stage, &[how, "s1-1", "--json"]);
    let printed_text = tokio::task::spawn_blocking(move || {
        assert!(!terminal.approve_until("this is never shown"));
        terminal.end()
    });
    let (good, out) = printed_text.await.unwrap();
    assert!(good, "{how}: {out}");
    serde_json::from_str(&out).unwrap()
}

async fn killed(moment: &'static str) {
    let stage = Stage::up(None).await;
    let first = start(&stage, &[&START[..], &["s1"]].concat());
    // The terminal is read on a thread of its own: the lab answers on this one.
    let shown = tokio::task::spawn_blocking(move || {
        let mut first = first;
        let shown = first.approve_until(moment);
        first.kill();
        shown
    });
    assert!(shown.await.unwrap(), "{moment}");
    let begun = stage.ghost(&["capture", "status", "s1-1", "--json"]).await;
    assert_eq!(begun.code, Some(0), "{moment}: {begun:?}");
    let mut printed_text = to_the_end(&stage, "wait").await;
    if printed_text["state"] == "needs_cleanup" {
        // Where nobody knows whether a removal took effect, this is reported; a person asks again.
        printed_text = to_the_end(&stage, "cleanup").await;
    }
    let left = (&printed_text["state"], &printed_text["needs_cleanup"]);
    assert_eq!(left, (&"done".into(), &Value::Array(Vec::new())), "{moment}: {printed_text}");
    let audit = std::fs::read_to_string(stage.data().join("audit/s1.jsonl")).unwrap();
    let begun = audit.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begun = begun.filter(|entry| {
        let command = entry["command"].as_str().unwrap_or_default();
        command.starts_with("az network watcher packet-capture create") && entry["exit_code"] == 0
    });
    assert!(begun.count() <= 1, "{moment}: {audit}");
    assert!(stage.there().await.is_empty() && !stage.stored("ghost-s1-1.cap").await, "{moment}");
    stage.down().await;
}

#[tokio::test]
async fn a_killed_process_is_gone_on_with() {
    let mut random = Random::new(seed("a_killed_process_is_gone_on_with"));
    let mut moments = MOMENTS.to_vec();
    while !is_long() && moments.len() > SAMPLE {
        moments.swap_remove(random.below(moments.len()));
    }
    for moment in moments {
        killed(moment).await;
    }
}

#[tokio::test]
async fn a_plan_shows_every_command_with_its_verdict_and_runs_none() {
    let stage = Stage::up(None).await;
    let words =
        ["capture", "start", "--target", "tf-source-vm,tf-dest-vm", "-g", "nw-forensics-rg", "--plan"];
    let printed_text = stage.ghost(&[&words[..], &["--json"]].concat()).await;
    let plan = printed_text.json["plan"].as_array().unwrap();
    let risky: Vec<&str> = plan
        .iter()
        .filter(|step| step["verdict"] == "RISKY")
        .map(|step| step["command"].as_str().unwrap())
        .filter(|command| !command.contains("blob download"))
        .collect();
    assert_eq!(risky.len(), 8, "two begin, two may be stopped, four are removed: {risky:#?}");
    assert!(plan.iter().all(|step| step["verdict"] != "BLOCKED"), "{plan:#?}");
    let printed_text = stage.ghost(&words).await;
    assert!(printed_text.code == Some(0) && printed_text.out.contains("Nothing was run"), "{printed_text:?}");
    assert!(printed_text.out.contains(CONTAINER) && !stage.data().join("audit").exists());
    stage.down().await;
}

#[tokio::test]
async fn what_is_wrong_is_reported_and_nothing_is_on_standard_output() {
    let stage = Stage::up(None).await;
    let start = ["capture", "start", "-g", "nw-forensics-rg", "--approve", "deny"];
    for (words, code, expected) in [
        (vec!["--target", "a,b,c"], 1, "name one machine, or two"),
        (vec!["--target", "tf-dest-vm,TF-DEST-VM"], 1, "are the same machine"),
        (vec!["--target", "a; rm -rf /"], 1, "error: "),
        (vec!["--target", "tf-dest-vm", "--duration", "0"], 1, "between 1 and 18000"),
        (vec!["--target", "tf-dest-vm", "--filter", "port=1"], 2, "is no part of a filter"),
        (vec!["--target", "nwlogs080613"], 1, "is what is being investigated"),
        (vec!["--target", "nobody-vm"], 1, "looking at nobody-vm"),
        (vec!["--target", "tf-dest-vm"], 1, "no human is there to approve"),
        (vec!["--target", "tf-dest-vm", "--storage-account", "NO_ACCOUNT"], 1, "storage account"),
        (vec![], 2, "--target"),
    ] {
        let printed_text = stage.ghost(&[&start[..], &words].concat()).await;
        assert!(
            printed_text.code == Some(code) && printed_text.out.is_empty(),
            "{words:?}: {printed_text:?}"
        );
        assert!(printed_text.err.contains(expected), "{words:?}: {printed_text:?}");
    }
    for words in [["status", "nobody-1"], ["wait", "nobody-1"], ["stop", "../x"], ["cleanup", "nobody-1"]] {
        let printed_text = stage.ghost(&[&["capture"][..], &words].concat()).await;
        assert!(
            printed_text.code == Some(1)
                && printed_text.out.is_empty()
                && printed_text.err.contains("hint: "),
            "{words:?}: {printed_text:?}"
        );
    }
    assert!(stage.there().await.is_empty());
    stage.down().await;
}

#[tokio::test]
async fn nothing_is_captured_where_no_storage_is_named() {
    let stage = Stage::up(None).await;
    let text = std::fs::read_to_string(stage.config()).unwrap();
    let bare: String = text
        .lines()
        .filter(|line| !line.starts_with("storage_account"))
        .map(|line| format!("{line}\n"))
        .collect();
    let path = stage.folder.path().join("bare.toml");
    std::fs::write(&path, bare).unwrap();
    let words = ["capture", "start", "--target", "tf-dest-vm", "-g", "nw-forensics-rg", "--plan"];
    let printed_text = stage.ghost_with(&path, &words).await;
    assert!(
        printed_text.code == Some(1) && printed_text.err.contains("[capture] storage_account"),
        "{printed_text:?}"
    );
    stage.down().await;
}
