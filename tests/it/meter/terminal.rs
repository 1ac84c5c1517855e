//! `ghost meter` at a real terminal.

use serde_json::Value;

use super::place::{Lab, ghost};
use crate::terminal::Terminal;

const PROMPT: &str = "[A]pprove  [D]eny  [M]odify";

/// Writes a configuration with the lab's `az`, and returns the words that name it and the data folder.
fn global(lab: &Lab) -> Vec<String> {
    let data = lab.data();
    std::fs::create_dir_all(&data).unwrap();
    let config = data.with_file_name("ghost.toml");
    let text = format!(
        "[programs]\naz = \"{}\"\n[meter]\nsource = \"tf-source-vm\"\ndestination = \"10.0.1.5\"\nresource_group = \"nw-forensics-rg\"\niterations = 2\n",
        lab.az.display()
    );
    std::fs::write(&config, text).unwrap();
    [("--config", config), ("--data-dir", data)]
        .into_iter()
        .flat_map(|(name, path)| [name.to_owned(), path.display().to_string()])
        .collect()
}

fn words<'a>(own: &[&'a str], global: &'a [String]) -> Vec<&'a str> {
    own.iter().copied().chain(global.iter().map(String::as_str)).collect()
}

#[test]
fn a_run_asks_once_tells_its_progress_and_ends_in_one_document() {
    let lab = Lab::up("simulated");
    let global = global(&lab);
    let run = ["meter", "run", "--test-type", "latency", "--session-id", "pmeter_t", "--json"];
    let mut terminal = Terminal::start("dumb", &words(&run, &global), "");
    let shown = terminal.wait_for(PROMPT);
    assert!(shown.contains("3 times:") && shown.contains("qperf 10.0.1.5"), "{shown}");
    terminal.type_in("a\n");
    terminal.wait_for("iteration 2/2");
    terminal.wait_for("end the servers on tf-dest-vm");
    let (well, out) = terminal.end();
    let result: Value = serde_json::from_str(&out).unwrap();
    assert!(well && result["status"] == "success", "{out}");
    #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ghost"));
    let output = command.args(words(&["meter", "history"], &global)).output().unwrap();
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(reported.contains("pmeter_t") && reported.contains("STABLE"), "{reported}");
}

#[test]
fn ctrl_c_ends_the_servers_without_another_question() {
    let lab = Lab::up("simulated");
    let global = global(&lab);
    let run = ["meter", "run", "--session-id", "pmeter_c"];
    let mut terminal = Terminal::start("dumb", &words(&run, &global), "");
    terminal.wait_for(PROMPT);
    terminal.type_in("a\n");
    terminal.wait_for("iteration 1/2");
    terminal.type_in("\u{3}");
    terminal.wait_for("end the servers on tf-dest-vm");
    terminal.wait_for("(canceled)");
    let (well, out) = terminal.end();
    assert!(!well && out.is_empty(), "{out}");
    assert_eq!(lab.listeners("tf-dest-vm"), 0);
}

#[test]
fn a_plan_shows_every_command_with_its_verdict_and_runs_none() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.env");
    std::fs::write(&pipe, "SOURCE_IP=10.0.1.4\nDEST_IP='10.0.1.5' # there\nRESOURCE_GROUP=nw-forensics-rg\nSSH_USER=ops\nVNET_NAME=v\n").unwrap();
    let pipe = pipe.to_string_lossy();
    let output = ghost(folder.path(), &["meter", "run", "--plan", "--config", &pipe]).output().unwrap();
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!reported.contains("BLOCKED"), "{reported}");
    for line in [
        "SAFE  az network nic list",
        "(script meter-look)",
        "(script meter-report)",
        "RISKY az vm run-command invoke",
    ] {
        assert!(reported.contains(line), "{line}: {reported}");
    }
    let safe: Vec<&str> = reported.lines().filter(|line| line.starts_with("SAFE")).collect();
    assert!(safe.iter().all(|line| !line.contains("kill") && !line.contains("setsid")), "{safe:#?}");
    let output = ghost(folder.path(), &["meter", "run", "--config", &pipe, "--provider", "carrier-pigeon"])
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}
