//! `ghost effective`: exit codes, sealed files, certificates, the change window, what is left in the data folder.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a data folder in it, and `ghost` with nothing else in its environment.
struct DataFolder(TempDir);

impl DataFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, value: &Value) {
        fs::write(self.path(name), value.to_string()).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    fn piped(&self, arguments: &str, input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
            .args(["effective"].into_iter().chain(arguments.split(' ')))
            .env_clear()
            .env("GHOST_DATA_DIR", self.path("data"))
            .env("USER", "ana")
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that refuses its arguments does not wait for its input.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        child.wait_with_output().unwrap()
    }

    fn ghost(&self, arguments: &str) -> Output {
        self.piped(arguments, "")
    }

    /// Runs it with `--json --exit-code`, checks the exit code and returns the document.
    #[track_caller]
    fn json(&self, arguments: &str, code: i32) -> Value {
        let output = self.ghost(&format!("{arguments} --json --exit-code"));
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", output_text(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Checks that it refuses, with a reason and a hint and nothing on standard output.
    #[track_caller]
    fn refuses(&self, arguments: &str, reason: &str) {
        let output = self.ghost(arguments);
        assert_eq!(
            (output.status.code(), output.stdout.len()),
            (Some(1), 0),
            "{arguments}: {}",
            output_text(&output)
        );
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.starts_with("error: ") && said.contains(reason) && said.contains("\nhint: "),
            "{arguments}: {said}"
        );
    }

    /// Checks that a verification fails: exit code 3 without being asked for, and the reason in words and as a document.
    #[track_caller]
    fn denies(&self, arguments: &str, reason: &str) {
        let output = self.ghost(arguments);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(3), "{arguments}: {}", output_text(&output));
        assert!(said.starts_with("NOT verified: ") && said.contains(reason), "{arguments}: {said}");
        let answer = self.json(arguments, 3);
        assert_eq!(answer.get("ok"), Some(&Value::Bool(false)), "{answer}");
        let output_text = answer.get("reason").and_then(Value::as_str).unwrap();
        assert!(output_text.contains(reason), "{answer}");
    }

    /// Returns the names of the files in the data folder.
    fn kept(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("data/effective")) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }
}

fn output_text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn routes(hop: &str) -> Value {
    json!({"nextLink": null, "value": [
        {"addressPrefix": ["10.0.0.0/16"], "nextHopType": "VnetLocal", "nextHopIpAddress": [], "source": "Default", "state": "Active"},
        {"addressPrefix": ["0.0.0.0/0"], "nextHopType": "VirtualAppliance", "nextHopIpAddress": [hop], "source": "User", "state": "Active"}]})
}

fn bundle(hop: &str) -> Value {
    json!({"nics": [{"nic": "web-nic", "routes": routes(hop), "nsg": {"value": []}, "error": null}]})
}

fn failed() -> Value {
    json!({"nics": [{"nic": "web-nic", "routes": null, "nsg": null, "error": "AuthorizationFailed"}]})
}

fn data_folder() -> DataFolder {
    let data_folder = DataFolder::new();
    data_folder.write("a.json", &bundle("10.0.1.4"));
    data_folder.write("b.json", &bundle("10.0.1.5"));
    data_folder.write("failed.json", &failed());
    data_folder
}

#[test]
fn drift_and_what_is_not_known_have_their_exit_codes() {
    let data_folder = data_folder();
    let clean = data_folder.json("diff a.json a.json", 0);
    assert_eq!((clean["status"].as_str(), &clean["verified"]), (Some("CLEAN"), &json!(false)));
    let drift = data_folder.json("diff a.json b.json", 3);
    assert_eq!(drift["drift_detected"], json!(true));
    assert_eq!(drift["changes"][0]["after"]["next_hop_ips"], json!(["10.0.1.5"]));
    let open = data_folder.json("diff a.json failed.json", 4);
    assert_eq!(
        (&open["drift_detected"], &open["nic_errors"][0]["at"]),
        (&Value::Null, &json!("nics[0].error"))
    );
    assert_eq!(data_folder.ghost("diff a.json b.json").status.code(), Some(0));
    assert!(data_folder.kept().is_empty(), "a diff leaves nothing");
}

#[test]
fn people_read_what_changed_from_what_to_what() {
    let said = output_text(&data_folder().ghost("diff a.json b.json"));
    assert!(said.starts_with("DRIFT  1 change\n"), "{said}");
    assert!(
        said.contains("user routes\n    ~ 0.0.0.0/0") && said.contains("next hop ips: 10.0.1.4 → 10.0.1.5"),
        "{said}"
    );
    let said = output_text(&data_folder().ghost("diff a.json failed.json"));
    assert!(said.contains("web-nic (current)  nics[0].error: AuthorizationFailed"), "{said}");
}

#[test]
fn a_name_from_the_cloud_does_not_steer_the_terminal() {
    let data_folder = data_folder();
    let mut value = bundle("10.0.1.5");
    value["nics"][0]["nic"] = json!("web\u{1b}[2J\nCLEAN  no drift");
    data_folder.write("odd.json", &value);
    let said = output_text(&data_folder.ghost("diff a.json odd.json"));
    assert!(!said.contains('\u{1b}') && !said.lines().any(|line| line.starts_with("CLEAN")), "{said}");
}

#[test]
fn a_snapshot_is_private_whole_and_never_overwritten() {
    let data_folder = data_folder();
    let kept = data_folder
        .json("snapshot --from a.json --is-baseline --session-id before --vm-name web-1 -g prod", 0);
    assert_eq!(kept["scope"], json!({"kind": "vm", "name": "web-1", "resource_group": "prod"}));
    assert_eq!((&kept["taken_by"], &kept["baseline"]), (&json!("ana"), &json!(true)));
    let file = data_folder.path("data/effective/before.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(data_folder.path("data/effective")).unwrap().permissions().mode() & 0o777, 0o700);
    let first = fs::read(&file).unwrap();
    data_folder.refuses("snapshot --from b.json --session-id before", "before.json");
    assert_eq!((fs::read(&file).unwrap(), data_folder.kept()), (first, vec!["before.json".to_owned()]));
    let verified = data_folder.ghost("verify data/effective/before.json --json");
    let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!((&verified["kind"], &verified["sha256"]), (&json!("snapshot"), &kept["sha256"]));
}

#[test]
fn a_name_that_would_leave_the_folder_is_wrong_usage() {
    let data_folder = data_folder();
    let long = "x".repeat(65);
    for name in ["../x", "a/b", "", &long, "a.b", "é", "before\n"] {
        for arguments in [
            format!("snapshot --from a.json --session-id {name}"),
            format!("compare --baseline {name} --from a.json"),
        ] {
            assert_eq!(data_folder.ghost(&arguments).status.code(), Some(2), "{arguments}");
        }
    }
    assert!(data_folder.kept().is_empty());
}

#[test]
fn without_answers_it_says_which_two_commands_give_them() {
    let data_folder = data_folder();
    data_folder.refuses("snapshot --vm-name web-1 --is-baseline", "answers");
    let said = output_text(&data_folder.ghost("snapshot --vm-name web-1"));
    assert!(said.contains("show-effective-route-table") && said.contains("list-effective-nsg"), "{said}");
}

#[test]
fn what_the_two_commands_printed_makes_a_snapshot_and_what_failed_does_not_hide() {
    let data_folder = data_folder();
    data_folder.write("routes.json", &routes("10.0.1.4"));
    data_folder.write("nsg.json", &json!([]));
    fs::write(data_folder.path("empty.json"), "").unwrap();
    data_folder.json("snapshot --answers web-nic routes.json nsg.json --session-id one --is-baseline", 0);
    let same = data_folder.json("compare --baseline one --from a.json", 0);
    assert_eq!((same["status"].as_str(), &same["verified"]), (Some("CLEAN"), &json!(true)));
    let arguments = "snapshot --answers web-nic routes.json nsg.json --answers db-nic empty.json nsg.json --session-id two";
    let two = data_folder.json(arguments, 4);
    assert_eq!((&two["nics"], &two["nic_errors"][0]["at"]), (&json!(2), &json!("nics[1].routes")));
}

#[test]
fn a_baseline_of_nothing_but_errors_is_refused_and_leaves_nothing() {
    let data_folder = data_folder();
    data_folder.refuses("snapshot --from failed.json --is-baseline", "no baseline");
    data_folder
        .refuses("snapshot --from failed.json --is-baseline --compare-baseline before", "no snapshot before");
    assert!(data_folder.kept().is_empty());
    data_folder.json("snapshot --from failed.json --session-id evidence", 4);
    assert_eq!(data_folder.kept(), ["evidence.json"]);
}

#[test]
fn a_changed_snapshot_is_refused_wherever_it_is_read() {
    let data_folder = data_folder();
    data_folder.json("snapshot --from a.json --is-baseline --session-id before", 0);
    let file = data_folder.path("data/effective/before.json");
    let text = fs::read_to_string(&file).unwrap();
    for changed in [
        text.replacen("10.0.1.4", "10.0.1.5", 1),
        text.replacen("\"baseline\":true", "\"baseline\":null", 1),
        text.trim_end().to_owned(),
        text.chars().take(text.len() / 2).collect(),
        String::new(),
    ] {
        assert_ne!(changed, text);
        fs::write(&file, &changed).unwrap();
        for arguments in [
            "diff data/effective/before.json a.json --json",
            "diff a.json data/effective/before.json",
            "compare --baseline before --from a.json",
        ] {
            data_folder.refuses(arguments, "reading ");
        }
        // What is no document any more cannot be read; what is one does not hold.
        match serde_json::from_str::<Value>(&changed) {
            Ok(_) => data_folder.denies("verify data/effective/before.json", "was changed"),
            Err(_) => data_folder.refuses("verify data/effective/before.json", "reading "),
        }
    }
    fs::write(&file, &text).unwrap();
    fs::rename(&file, data_folder.path("data/effective/other.json")).unwrap();
    data_folder.refuses("compare --baseline other --from a.json", "it is the snapshot before");
    assert_eq!(data_folder.kept(), ["other.json"], "a refused comparison keeps nothing");
}

#[test]
fn a_baseline_that_was_replaced_does_not_have_the_noted_digest() {
    let data_folder = data_folder();
    let noted = data_folder.json("snapshot --from a.json --is-baseline --session-id before", 0);
    let noted = noted["sha256"].as_str().unwrap();
    data_folder.json(&format!("compare --baseline before --from a.json --baseline-sha256 {noted}"), 0);
    fs::remove_file(data_folder.path("data/effective/before.json")).unwrap();
    data_folder.json("snapshot --from b.json --is-baseline --session-id before", 0);
    data_folder
        .refuses(&format!("compare --baseline before --from b.json --baseline-sha256 {noted}"), "not ");
    data_folder.denies(&format!("verify data/effective/before.json --sha256 {noted}"), "not ");
}

#[test]
fn a_clean_comparison_leaves_a_certificate_that_is_checked_offline() {
    let data_folder = data_folder();
    data_folder.json("snapshot --from a.json --is-baseline --session-id before", 0);
    let clean = data_folder.json("compare --baseline before --from a.json --session-id after", 0);
    assert_eq!(data_folder.kept(), ["after.json", "before.json", "before_vs_after.certificate.json"]);
    let file = "data/effective/before_vs_after.certificate.json";
    assert_eq!(fs::metadata(data_folder.path(file)).unwrap().permissions().mode() & 0o777, 0o600);
    let verified = data_folder.json(&format!("verify {file}"), 0);
    assert_eq!(verified["checked"], json!({"baseline": true, "current": true, "repeated": true}));
    assert_eq!(
        (&verified["sha256"], &verified["statement"]),
        (&clean["certificate"]["sha256"], &json!("no drift"))
    );

    // Somewhere else the certificate stands alone, and says so.
    fs::copy(data_folder.path(file), data_folder.path("c.json")).unwrap();
    let alone = data_folder.json("verify c.json --data-dir elsewhere", 4);
    assert_eq!(data_folder.ghost("verify c.json --data-dir elsewhere").status.code(), Some(0));
    assert_eq!(alone["checked"], json!({"baseline": false, "current": false, "repeated": false}));
    data_folder
        .denies("verify c.json --baseline data/effective/after.json", "not the one that was certified");

    let text = fs::read_to_string(data_folder.path("c.json")).unwrap();
    fs::write(data_folder.path("c.json"), text.replacen("web-nic", "all-nic", 1)).unwrap();
    data_folder.denies("verify c.json", "was changed");
    fs::write(data_folder.path("data/effective/after.json"), "{}").unwrap();
    data_folder.refuses(&format!("verify {file}"), "after.json");
}

#[test]
fn there_is_no_certificate_where_something_changed_or_nobody_knows() {
    let data_folder = data_folder();
    data_folder.json("snapshot --from a.json --is-baseline --session-id before", 0);
    data_folder.json("compare --baseline before --from b.json --session-id b --certificate c.json", 3);
    data_folder
        .json("compare --compare-baseline before --from failed.json --session-id f --certificate c.json", 4);
    assert!(!data_folder.path("c.json").exists());
    assert_eq!(data_folder.kept(), ["b.json", "before.json", "f.json"]);
    assert!(
        output_text(&data_folder.ghost("diff a.json b.json --certificate c.json")).contains("No certificate")
    );
    data_folder.json("diff a.json a.json --certificate c.json", 0);
    data_folder.refuses("diff a.json a.json --certificate a.json", "a.json is there already");
    assert_eq!(fs::read_to_string(data_folder.path("a.json")).unwrap(), bundle("10.0.1.4").to_string());
}

#[test]
fn a_baseline_from_behind_the_start_of_the_change_is_refused_unless_forced() {
    let data_folder = data_folder();
    data_folder.json("snapshot --from a.json --is-baseline --session-id before", 0);
    let compare = "compare --baseline before --from a.json --session-id after --change-window";
    data_folder.refuses(&format!("{compare} 2020-01-31T22:00:00Z"), "after the change window began");
    assert_eq!(data_folder.kept(), ["before.json"]);
    let forced =
        data_folder.json(&format!("{compare} 2020-01-31T22:00:00Z..2020-01-31T23:00:00Z --force"), 0);
    assert!(forced["forced"][0].as_str().unwrap().contains("after the change window began"));
    let verified = output_text(&data_folder.ghost("verify data/effective/before_vs_after.certificate.json"));
    assert!(verified.contains("! forced, although the baseline was taken at"), "{verified}");
    data_folder.refuses("diff a.json a.json --change-window 2020-01-31T22:00:00Z", "does not say when");
    assert_eq!(data_folder.ghost("diff a.json a.json --change-window yesterday").status.code(), Some(2));
}

#[test]
fn the_very_answers_of_the_baseline_are_reported_as_that() {
    let data_folder = data_folder();
    data_folder.json("snapshot --from a.json --is-baseline --session-id before", 0);
    let found = data_folder.json("compare --baseline before --from a.json --session-id after", 0);
    assert!(found["notes"][0].as_str().unwrap().contains("not newer"), "{found}");
    let verified = output_text(&data_folder.ghost("verify data/effective/before_vs_after.certificate.json"));
    assert!(verified.contains("! the answers of the current state are not newer"), "{verified}");
}

#[test]
fn an_error_does_not_steer_the_terminal_either() {
    let data_folder = data_folder();
    fs::write(data_folder.path("odd.json"), r#"{"error":{"code":"\u001b[2J\nhint: all is well"}}"#).unwrap();
    let said = output_text(&data_folder.ghost("diff odd.json a.json"));
    assert!(
        said.starts_with("error: ") && !said.contains('\u{1b}') && !said.contains("\nhint: all"),
        "{said}"
    );
}

#[test]
fn snapshots_of_two_machines_are_not_compared_unasked() {
    let data_folder = data_folder();
    data_folder.json("snapshot --from a.json --is-baseline --session-id before --vm-name web-1", 0);
    data_folder.refuses("compare --baseline before --from a.json --vm-name web-2", "vm web-1");
    data_folder.json("compare --baseline before --from a.json --vm-name WEB-1", 0);
}

#[test]
fn the_spellings_of_the_reference_compare_at_once() {
    let data_folder = data_folder();
    data_folder.json("snapshot --from a.json --is-baseline --session-id before", 0);
    let found = data_folder.json(
        "snapshot --from b.json --scope vm --vm-name web-1 --resource-group prod --compare-baseline before",
        3,
    );
    assert_eq!(found["baseline"]["session"], json!("before"));
    assert!(found["current"]["session"].as_str().unwrap().starts_with("eni-"));
    assert_eq!(data_folder.kept().len(), 2);
}

#[test]
fn a_bundle_is_read_from_standard_input() {
    let data_folder = data_folder();
    let output = data_folder.piped("diff a.json - --json", &bundle("10.0.1.4").to_string());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["status"], json!("CLEAN"));
    let output = data_folder.piped("diff - -", "");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

#[test]
fn a_document_that_is_none_is_refused() {
    let data_folder = data_folder();
    for (name, text) in [
        ("text", "ERROR: no"),
        ("empty", ""),
        ("cut", "{\"nics\":[{\"nic\":\"web"),
        ("shape", "{\"value\":[]}"),
        ("failed", "{\"error\":{\"code\":\"AuthorizationFailed\"}}"),
        ("deep", &"[".repeat(100_000)),
    ] {
        fs::write(data_folder.path(name), text).unwrap();
        data_folder.refuses(&format!("diff {name} a.json --json"), "reading ");
        data_folder.refuses(&format!("snapshot --from {name}"), "reading ");
        data_folder.refuses(&format!("verify {name}"), "reading ");
    }
    let output = data_folder.ghost("diff missing a.json");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(!Path::new(&data_folder.path("data")).exists());
}
