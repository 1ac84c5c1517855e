//! Whole investigations by a model of each provider, played back: four turns for each of two cases, written in the form that the
//! provider documents, against the real client and a lab. No provider can be reached from here.
//!
//! What a model says is in `tests/fixtures/model`: a stream a turn, behind a comment that numbers it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::model::server::{Reply, Rules, Seen, Server};
use crate::model::{anthropic, gemini, openai};

/// What every provider is shown as a key. It has to be found nowhere else.
const KEY: &str = "plain-word-key-9";

/// A wire format.
struct Format {
    /// Where what the model says is.
    folder: &'static str,
    /// As it is named on the command line, and by which variable its key comes.
    brain: &'static str,
    variable: &'static str,
    /// What the configuration says of it; `{url}` is where the server is.
    config: &'static str,
    /// What its documentation says about requests.
    rules: Rules,
}

fn formats() -> [Format; 4] {
    [
        Format {
            folder: "tests/fixtures/model/anthropic",
            brain: "anthropic",
            variable: "ANTHROPIC_API_KEY",
            config: "model = 'claude-test-1'\nbase_url = '{url}'",
            rules: anthropic::rules_of,
        },
        Format {
            folder: "tests/fixtures/model/gemini",
            brain: "gemini",
            variable: "GEMINI_API_KEY",
            config: "model = 'gemini-3-test'\nbase_url = '{url}/v1beta'",
            rules: gemini::rules::rules,
        },
        Format {
            folder: "tests/fixtures/model/openai-chat",
            brain: "openai",
            variable: "OPENAI_API_KEY",
            config: "model = 'gpt-test'\nbase_url = '{url}/v1'\ndialect = 'chat'",
            rules: openai::rules::chat_rules,
        },
        Format {
            folder: "tests/fixtures/model/openai-responses",
            brain: "openai",
            variable: "OPENAI_API_KEY",
            config: "model = 'gpt-5'\nbase_url = '{url}/v1'\ndialect = 'responses'",
            rules: openai::rules::response_rules,
        },
    ]
}

/// Returns the turns of a transcript, each as it goes over the wire.
fn turns(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.split(": turn ").skip(1).map(|turn| format!(": turn {turn}")).collect()
}

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn eval(folder: &Path, format: &Format, url: &str, case: &str) -> Output {
    let config = folder.join("ghost.toml");
    let text = format!("[model.{}]\n{}\n", format.brain, format.config.replace("{url}", url));
    std::fs::write(&config, text).unwrap();
    Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["--config", config.to_str().unwrap(), "lab", "eval", case, "--brain", format.brain, "--json"])
        .arg("--keep")
        .arg(folder.join("kept"))
        .env_clear()
        .env("HOME", folder)
        .env(format.variable, KEY)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Investigates a case with a model that says what the transcript says. Returns the line of the evaluation, and what the server saw.
async fn investigated(format: &'static Format, case: &'static str) -> (Value, Vec<Seen>) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(format.folder).join(format!("{case}.sse"));
    let turns = turns(&place);
    assert_eq!(turns.len(), 4, "{}", place.display());
    // The network cuts wherever it likes.
    let replies = turns.iter().zip([7, 61, 1_000, 65_536]).map(|(turn, bytes)| Reply::events(turn, bytes));
    let server = Server::start(format.rules, replies).await;
    let url = server.url();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let done = tokio::task::spawn_blocking(move || eval(&path, format, &url, case)).await.unwrap();
    let turn_of = String::from_utf8_lossy(&done.stderr).into_owned();
    let seen = server.finish();
    assert!(done.status.success(), "{}: {turn_of}", format.folder);
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(!text.contains(KEY) && !turn_of.contains(KEY));
    let row: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let report = std::fs::read_to_string(row["report"].as_str().unwrap()).unwrap();
    assert!(!report.contains(KEY) && report.contains(format.brain), "{report}");
    (row, seen)
}

async fn both_cases(at: usize) {
    let format: &'static Format = &Box::leak(Box::new(formats()))[at];
    let wall = json!([{"fault": "nsg_deny", "object": "nsg/tf-dest-vm-nsg/ghost-demo-block-8080"}]);
    let shadow = json!([
        {"fault": "guest_firewall_drop", "object": "netfilter/tf-dest-vm/filter/INPUT/tcp/5001"},
        {"fault": "netem_delay", "object": "qdisc/tf-source-vm/eth0"},
    ]);
    for (case, found) in [("a", wall), ("j", shadow)] {
        let (row, seen) = investigated(format, case).await;
        // It reads layer by layer, and never has the flow judged: so it may be right, and is not certain.
        assert_eq!((&row["found"], &row["outcome"]), (&found, &json!("LIKELY")), "{} {case}", format.folder);
        assert_eq!((&row["f1"], &row["turns"]), (&json!(1.0), &json!(4)), "{} {case}", format.folder);
        // Each question tells all of it: what tools said in the third turn stands in the fourth question.
        let last = seen.last().unwrap().body.to_string();
        assert!(seen.len() == 4 && last.contains("inspect_qdisc") && last.contains("suspects"), "{last}");
    }
}

#[tokio::test]
async fn anthropic_finds_what_is_wrong_in_two_cases() {
    both_cases(0).await;
}

#[tokio::test]
async fn gemini_finds_what_is_wrong_in_two_cases() {
    both_cases(1).await;
}

#[tokio::test]
async fn openai_by_chat_completions_finds_what_is_wrong_in_two_cases() {
    both_cases(2).await;
}

#[tokio::test]
async fn openai_by_responses_finds_what_is_wrong_in_two_cases() {
    both_cases(3).await;
}
