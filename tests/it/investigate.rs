//! `ghost investigate`, as whoever sits at the terminal meets it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::session::world::waived;
use crate::terminal::Terminal;

const PROMPT: &str = "[A]pprove  [D]eny  [M]odify";

fn turn(calls: &[(&str, Value)]) -> String {
    let calls: Vec<Value> =
        calls.iter().map(|(tool, arguments)| json!({"tool": tool, "arguments": arguments})).collect();
    json!({"text": "", "calls": calls}).to_string()
}

fn suppose() -> String {
    turn(&[("manage_hypotheses", json!({"add": [{"id": "H1", "description": "the link is down"}]}))])
}

fn run(command: &str) -> String {
    turn(&[("run_shell_cmd", json!({"command": command, "reasoning": "to know", "hypothesis_id": "H1"}))])
}

fn conclude() -> String {
    turn(&[
        ("manage_hypotheses", json!({"update": [{"id": "H1", "state": "REFUTED"}]})),
        (
            "complete_investigation",
            json!({"confidence": "low", "root_cause_summary": "it is not the link", "waived": waived()}),
        ),
    ])
}

/// A data folder, a script in it, and a place where a command that asks leaves a line.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(turns: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("turns.jsonl"), turns.join("\n")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    fn arguments(&self, first: &[&str]) -> Vec<String> {
        let common =
            ["--brain", "scripted", "--script", &self.path("turns.jsonl"), "--data-dir", &self.path("data")]
                .map(str::to_owned);
        ["investigate"].iter().chain(first).map(|word| (*word).to_owned()).chain(common).collect()
    }

    fn terminal(&self, first: &[&str]) -> Terminal {
        let arguments = self.arguments(first);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Terminal::start("dumb", &arguments, "")
    }

    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    fn alone(&self, first: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
        command.args(self.arguments(first)).stdin(Stdio::null()).output().unwrap()
    }

    fn session(&self) -> String {
        let mut files = std::fs::read_dir(self.path("data/audit")).unwrap();
        let name = files.next().unwrap().unwrap().file_name().to_string_lossy().into_owned();
        name.trim_end_matches(".jsonl").to_owned()
    }
}

fn lines(path: &str) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

fn append(path: &str) -> String {
    format!("sh -c 'echo ran >> {path}'")
}

fn asking() -> (Place, String) {
    let place = Place::new(&[]);
    let path = place.path("ran");
    let turns = [suppose(), run(&append(&path)), conclude()];
    std::fs::write(place.path("turns.jsonl"), turns.join("\n")).unwrap();
    (place, path)
}

#[test]
fn an_investigation_ends_in_a_report_on_standard_output() {
    let place = Place::new(&[suppose(), run("uname -s"), conclude()]);
    let output = place.alone(&["5001 hangs"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.starts_with("# Inconclusive"), "{report}");
    let file = place.path(&format!("data/reports/{}/rca.md", place.session()));
    assert_eq!(std::fs::read_to_string(file).unwrap(), report);
}

#[test]
fn events_are_lines_of_json_and_nothing_else() {
    let place = Place::new(&[suppose(), run("uname -s"), conclude()]);
    let output = place.alone(&["5001 hangs", "--json"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (event, seq) in events.iter().zip(1_u64..) {
        assert_eq!(event["seq"], seq);
        assert_eq!(event["session"], place.session());
        assert!(event["at"].as_str().unwrap().ends_with('Z') && event["kind"].is_string());
    }
    assert_eq!(events.first().unwrap()["kind"], "opened");
    assert_eq!(events.last().unwrap()["kind"], "delivered");
}

#[test]
fn a_session_is_exported_into_the_folder_where_one_stands() {
    let place = Place::new(&[suppose(), run("uname -s"), conclude()]);
    assert!(place.alone(&["5001 hangs"]).status.success());
    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    let export = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args([
            "sessions",
            "export",
            &place.session(),
            "--out",
            "here.jsonl",
            "--data-dir",
            &place.path("data"),
        ])
        .current_dir(place.folder.path())
        .output()
        .unwrap();
    assert!(export.status.success(), "{}", String::from_utf8_lossy(&export.stderr));
    let same = ghost(&["replay", &place.path("here.jsonl")], &place.path("data"));
    assert_eq!(same.status.code(), Some(0));
}

#[test]
fn a_case_is_investigated_in_a_cloud_of_this_process_and_never_goes_on_elsewhere() {
    let place = Place::new(&[suppose(), run("az network nsg list -g nw-forensics-rg -o json")]);
    let data = place.path("data");
    let found = ghost(&["investigate", "--case", "E", "--approve", "deny", "--exit-code", "--json"], &data);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("Case e: a cloud in this process answers"), "{stderr}");
    let text = String::from_utf8(found.stdout).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["body"]["origin"]["place"], "lab case e");
    let accepted = events.iter().filter(|event| event["kind"] == "finding_accepted");
    let objects: Vec<&str> = accepted.map(|event| event["body"]["object"].as_str().unwrap()).collect();
    assert_eq!(objects, ["route/ghost-demo-blackhole-rt/ghost-demo-nva-redirect"]);
    // Its report stays; what it wrote for the cloud does not.
    let session = events[0]["session"].as_str().unwrap();
    assert!(ghost(&["investigate", "--resume", session], &data).stdout.starts_with(b"# "));
    assert_eq!(std::fs::read_dir(place.path("data/lab-cases")).unwrap().count(), 0);
    // One that was cut off has no cloud any more.
    let script = place.path("turns.jsonl");
    let words = ["investigate", "x", "--case", "j", "--brain", "scripted", "--script", &script, "--json"];
    let cut = ghost(&words, &data);
    let session = String::from_utf8_lossy(&cut.stdout)
        .lines()
        .next()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let session = session.unwrap()["session"].as_str().unwrap().to_owned();
    let again = ghost(&["investigate", "--resume", &session], &data);
    assert!(String::from_utf8_lossy(&again.stderr).contains("begin again with `ghost investigate --case`"));
    assert_eq!(ghost(&["investigate", "--case", "zz"], &data).status.code(), Some(2));
}

#[test]
fn what_was_not_decided_exits_with_4_where_that_is_asked_for() {
    let place = Place::new(&[suppose(), run("uname -s"), conclude()]);
    assert_eq!(place.alone(&["5001 hangs", "--exit-code"]).status.code(), Some(4));
    assert_eq!(place.alone(&["5001 hangs"]).status.code(), Some(0));
}

#[test]
fn who_sits_at_the_terminal_may_approve_what_they_changed_and_is_shown_no_old_reason() {
    let (place, path) = asking();
    let mut terminal = place.terminal(&["5001 hangs"]);
    let shown = terminal.wait_for(PROMPT);
    assert!(shown.contains("Why:  to know") && shown.contains("may change something"), "{shown}");
    terminal.type_in("m\n");
    terminal.wait_for("New command, in one line > ");
    terminal.type_in(&format!("sh -c 'echo changed >> {path}'\n"));
    let shown = terminal.wait_for(PROMPT);
    assert!(shown.contains("no reason was given for the command as it is now"), "{shown}");
    assert!(!shown.contains("to know"), "{shown}");
    terminal.type_in("a\n");
    assert!(terminal.end().0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "changed\n");
}

#[test]
fn what_the_gate_found_stands_on_the_card_at_the_terminal_and_replays_without_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pcap");
    std::fs::write(&key, "-----BEGIN PRIVATE KEY-----").unwrap();
    let place = Place::new(&[suppose(), run(&format!("capinfos {}", key.display())), conclude()]);
    let mut terminal = place.terminal(&["port 5001 is dead"]);
    let shown = terminal.wait_for(PROMPT);
    assert!(shown.contains("file.capture") && shown.contains("does not begin as one"), "{shown}");
    terminal.type_in("a\n");
    assert!(terminal.end().0);
    let session = place.session();
    let export = ghost(&["sessions", "export", &session], &place.path("data"));
    std::fs::write(place.path("export"), export.stdout).unwrap();
    std::fs::remove_file(&key).unwrap();
    let replayed = ghost(&["replay", &place.path("export")], &place.path("elsewhere"));
    assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stdout));
}

#[test]
fn nobody_at_the_terminal_means_no() {
    let (place, path) = asking();
    let output = place.alone(&["5001 hangs"]);
    assert!(output.status.success());
    assert_eq!(lines(&path), 0);
}

#[test]
fn an_approval_that_was_typed_behind_the_prompt_runs_the_command_once() {
    let (place, path) = asking();
    let mut terminal = place.terminal(&["5001 hangs"]);
    let shown = terminal.wait_for(PROMPT);
    assert!(shown.contains(&append(&path)) && shown.contains("to know"), "{shown}");
    terminal.type_in("a\n");
    let (ended_well, report) = terminal.end();
    assert!(ended_well && report.contains("approved by"), "{report}");
    assert_eq!(lines(&path), 1);
}

#[test]
fn a_session_that_was_interrupted_goes_on_exactly_there() {
    let (place, path) = asking();
    let mut terminal = place.terminal(&["5001 hangs"]);
    terminal.wait_for(PROMPT);
    terminal.type_in("\u{3}");
    let hint = terminal.wait_for("--resume ");
    assert!(hint.contains("paused"), "{hint}");
    let session = terminal.wait_for(" ").trim().to_owned();
    assert_eq!(terminal.end(), (false, String::new()));
    let mut terminal = place.terminal(&["--resume", &session]);
    let shown = terminal.wait_for(PROMPT);
    assert!(!shown.contains("outcome unknown"), "{shown}");
    terminal.type_in("approve\n");
    assert!(terminal.end().0);
    assert_eq!(lines(&path), 1);
    // Once more: it is over, and its report is printed.
    let again = place.alone(&["--resume", &session]);
    assert!(again.status.success() && again.stdout.starts_with(b"# Inconclusive"));
    assert_eq!(lines(&path), 1);
}

#[test]
fn a_command_that_was_cut_off_is_asked_about_and_not_run_by_itself() {
    let place = Place::new(&[]);
    let path = place.path("ran");
    let slow = format!("sh -c 'echo ran >> {path}; exec sleep 60'");
    let turns = [suppose(), run(&slow), conclude()];
    std::fs::write(place.path("turns.jsonl"), turns.join("\n")).unwrap();
    let mut terminal = place.terminal(&["5001 hangs"]);
    terminal.wait_for(PROMPT);
    terminal.type_in("a\n");
    wait_for_line(Path::new(&path));
    terminal.kill();
    let session = place.session();
    let mut terminal = place.terminal(&["--resume", &session]);
    let shown = terminal.wait_for(PROMPT);
    assert!(shown.contains("outcome unknown"), "{shown}");
    terminal.type_in("d\n");
    terminal.wait_for("Reason");
    terminal.type_in("it ran\n");
    let (ended_well, report) = terminal.end();
    assert!(ended_well && report.contains("Outcome unknown"), "{report}");
    assert_eq!(lines(&path), 1);
}

/// Waits until a file has a line.
fn wait_for_line(path: &Path) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while lines(&path.to_string_lossy()) == 0 {
        assert!(std::time::Instant::now() < deadline, "the command never ran");
        std::thread::yield_now();
    }
}

#[test]
fn words_that_are_typed_steer_and_an_order_stops() {
    let (place, path) = asking();
    let slow =
        turn(&[("run_shell_cmd", json!({"command": "ping -c 50 -i 1 127.0.0.1", "reasoning": "to know"}))]);
    std::fs::write(place.path("turns.jsonl"), [suppose(), slow, run(&append(&path))].join("\n")).unwrap();
    let mut terminal = place.terminal(&["5001 hangs"]);
    terminal.wait_for("ping -c 50");
    terminal.type_in("also look at the source\n");
    terminal.type_in("stop\n");
    let (ended_well, report) = terminal.end();
    assert!(ended_well && report.contains("it was stopped before that"), "{report}");
    assert_eq!(lines(&path), 0);
}

#[test]
fn wrong_usage_and_missing_input_print_nothing_on_standard_output() {
    let place = Place::new(&[suppose()]);
    std::fs::write(place.path("none.jsonl"), "").unwrap();
    let nothing = place.path("none.jsonl");
    for (arguments, code, word) in [
        (vec!["investigate"], 2, "required"),
        (vec!["investigate", "x", "--brain", "scripted"], 2, "--script"),
        (vec!["investigate", "  ", "--script", &nothing], 1, "empty"),
        (vec!["investigate", "x", "--script", "/nonexistent"], 1, "/nonexistent"),
        (vec!["investigate", "x", "--script", &nothing], 1, "no turn"),
        (vec!["investigate", "--resume", "nobody", "--script", &place.path("turns.jsonl")], 1, "no session"),
        (vec!["investigate", "--resume", "../x", "--script", &nothing], 2, "id"),
    ] {
        let output = ghost(&arguments, &place.path("data"));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(word) && output.stdout.is_empty(), "{arguments:?}: {stderr}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn ghost(arguments: &[&str], data: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
    command.args(arguments).args(["--data-dir", data]).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn sections_of_the_sites_runbooks_that_name_what_was_found_stand_below_the_report() {
    let place = Place::new(&[]);
    let (data, folder) = (place.path("data"), place.path("runbooks"));
    std::fs::create_dir(&folder).unwrap();
    let text = "# The hardening run\nIt writes rules on tf-dest-vm; ask the platform team.\n\n# Nothing here\nabout web-9\n";
    std::fs::write(Path::new(&folder).join("hosts.md"), text).unwrap();
    let config = place.path("ghost.toml");
    std::fs::write(&config, format!("[site]\nrunbooks = {folder:?}\n")).unwrap();
    let found = ghost(&["investigate", "--case", "j", "--approve", "deny", "--config", &config], &data);
    let said = String::from_utf8(found.stderr).unwrap();
    assert!(said.contains("from your runbooks, The hardening run (hosts.md):"), "{said}");
    assert!(said.contains("ask the platform team") && !said.contains("web-9"), "{said}");
    let checked = ghost(&["config", "check", "--offline", "--config", &config], &data);
    let printed = String::from_utf8(checked.stdout).unwrap();
    assert!(printed.contains("2 sections"), "{printed}");
    // A folder that is gone keeps no report back.
    std::fs::remove_dir_all(&folder).unwrap();
    let found = ghost(&["investigate", "--case", "j", "--approve", "deny", "--config", &config], &data);
    let said = String::from_utf8(found.stderr).unwrap();
    assert!(found.status.success() && said.contains("runbooks not shown"), "{said}");
}
