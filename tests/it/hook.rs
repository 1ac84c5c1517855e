//! `ghost hook` as clients run it: a process that gets a call and answers with a document, a line and an exit code.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn start(program: &str, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses at once reads nothing.
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap()
}

fn ghost(data: &Path, arguments: &[&str], input: &str) -> Output {
    let data = data.to_str().unwrap();
    start(env!("CARGO_BIN_EXE_ghost"), &[arguments, &["--data-dir", data]].concat(), input.as_bytes())
}

fn call(command: &str) -> String {
    json!({
        "session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command},
    })
    .to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Calls in the forms of Claude Code 2.1.197 and 2.1.330 and of Codex 0.169.0, each with its answer.
#[test]
fn every_kind_of_call_gets_its_answer() {
    let lines = fs::read_to_string("tests/fixtures/hook/calls.jsonl").unwrap();
    let (data, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut problems = Vec::new();
    for line in lines.lines() {
        let line = line.replace("PROJECT", project.path().to_str().unwrap());
        let sample: Value = serde_json::from_str(&line).unwrap();
        let client = sample["client"].as_str().unwrap();
        let output = ghost(data.path(), &["hook", client], &sample["input"].to_string());
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        let says = sample["says"].as_str().unwrap();
        let code = output.status.code().map(i64::from);
        let fits = code == sample["code"].as_i64()
            && (if says.is_empty() { out.is_empty() } else { format!("{out}{errors}").contains(says) })
            && (code != Some(2) || (out.is_empty() && !errors.is_empty()))
            && (out.is_empty() || serde_json::from_str::<Value>(&out).is_ok());
        problems.extend((!fits).then(|| format!("{client}, {}: {code:?} {out} {errors}", sample["case"])));
    }
    assert!(problems.is_empty(), "{problems:#?}");
    for file in fs::read_dir(data.path().join("audit")).unwrap() {
        let path = file.unwrap().path();
        let output = ghost(data.path(), &["audit", "verify", path.to_str().unwrap()], "");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    }
}

#[test]
fn whatever_goes_wrong_ends_with_exit_code_2_and_a_line() {
    let data = tempfile::tempdir().unwrap();
    let broken = data.path().join("broken.toml");
    fs::write(&broken, "[hook]\nwrite = 'allow'\n").unwrap();
    let safe = call("uname -s");
    let cases: [(&[&str], &str); 8] = [
        (&["hook", "claude"], ""),
        (&["hook", "codex"], "{"),
        (&["hook", "codex", "--config", "/nonexistent.toml"], &safe),
        (&["hook", "claude", "--config", broken.to_str().unwrap()], &safe),
        (&["hook", "claude", "--approve", "perhaps"], &safe),
        (&["hook", "nobody"], &safe),
        (&["hook", "codex", "--approve", "ask"], &call("touch x")),
        (&["hook", "generic"], "[]"),
    ];
    for (arguments, input) in cases {
        let output = ghost(data.path(), arguments, input);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    // No place for the audit.
    let output = start(env!("CARGO_BIN_EXE_ghost"), &["hook", "codex"], safe.as_bytes());
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--data-dir"));
}

#[test]
fn the_environment_does_not_choose_the_rules() {
    let data = tempfile::tempdir().unwrap();
    let loose = data.path().join("loose.toml");
    fs::write(&loose, "[hook]\nother = 'pass'\nread_outside = 'pass'\n").unwrap();
    let input = call("x").replace("\"Bash\"", "\"Unheard\"");
    let line = format!(
        "GHOST_CONFIG={0} {1} hook claude --data-dir {2}",
        loose.display(),
        env!("CARGO_BIN_EXE_ghost"),
        data.path().display()
    );
    let output = start("/bin/sh", &["-c", &line], input.as_bytes());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let named = line.replace("--data-dir", &format!("--config {} --data-dir", loose.display()));
    assert_eq!(start("/bin/sh", &["-c", &named], input.as_bytes()).status.code(), Some(0));
}

/// Writes settings into a folder in place of `/etc` and returns them.
fn installed(client: &str, data: &Path, etc: &Path) -> String {
    let output = ghost(data, &["hook", "install", client, "--etc", etc.to_str().unwrap()], "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file =
        if client == "claude" { "claude-code/managed-settings.json" } else { "codex/requirements.toml" };
    fs::read_to_string(etc.join(file)).unwrap()
}

/// Returns the line that a client would run.
fn line_of(client: &str, settings: &str) -> String {
    let settings: Value = match client {
        "claude" => serde_json::from_str(settings).unwrap(),
        _ => toml::from_str(settings).unwrap(),
    };
    settings.pointer("/hooks/PreToolUse/0/hooks/0/command").unwrap().as_str().unwrap().to_owned()
}

#[test]
fn an_installed_line_stops_the_call_whatever_becomes_of_the_program() {
    for client in ["claude", "codex"] {
        let (data, etc) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let line = line_of(client, &installed(client, data.path(), etc.path()));
        let run = |line: &str, command: &str| start("/bin/sh", &["-c", line], call(command).as_bytes());
        assert_eq!(run(&line, "uname -s").status.code(), Some(0));
        assert_eq!(run(&line, "reboot").status.code(), Some(2));
        // A program that is not there, fails, dies or says nothing.
        let other = etc.path().join("program");
        for script in ["", "exit 1", "exit 2", "kill -9 $$", "kill -6 $$"] {
            if !script.is_empty() {
                fs::write(&other, format!("#!/bin/sh\n{script}\n")).unwrap();
                fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
            }
            let (program, rest) = line.split_once(" hook ").unwrap();
            assert!(program.ends_with("ghost"));
            let output = run(&format!("{} hook {rest}", other.display()), "uname -s");
            assert_eq!(output.status.code(), Some(2), "{script}: {:?}", output.status.signal());
            assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{script}");
        }
    }
}

#[test]
fn installing_keeps_what_stands_there_and_the_doctor_proves_it() {
    let (data, etc, home) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = etc.path().join("claude-code");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("managed-settings.json");
    fs::write(&file, "{\n  \"zeta\": 1,\n  \"env\": {\n    \"A\": \"b\"\n  }\n}\n").unwrap();
    let options = ["--etc", etc.path().to_str().unwrap()];
    let printed = ghost(data.path(), &[&["hook", "install", "claude", "--print"][..], &options].concat(), "");
    assert!(!fs::read_to_string(&file).unwrap().contains("ghost"));
    let settings = installed("claude", data.path(), etc.path());
    assert_eq!(text(&printed.stdout), settings);
    assert!(settings.starts_with("{\n  \"zeta\": 1,\n  \"env\": {\n    \"A\": \"b\"\n  },\n"), "{settings}");
    assert_eq!(installed("claude", data.path(), etc.path()), settings);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
    let doctor = |project: &Path| {
        let project = ["--project", project.to_str().unwrap(), "--json"];
        let output = ghost(data.path(), &[&["hook", "doctor"][..], &options, &project].concat(), "");
        (output.status.code(), text(&output.stdout))
    };
    let (code, said) = doctor(home.path());
    assert!(code == Some(0) && said.contains("is stopped") && said.contains("is allowed"), "{said}");
    // A line that stops nothing is found out, and one that `install` did not write is not run.
    fs::write(&file, settings.replace("exit 2; }", "exit 0; }")).unwrap();
    let (code, said) = doctor(home.path());
    assert!(code == Some(3) && said.contains("not run here"), "{said}");
    fs::write(&file, settings.replace("\"onFailure\": \"block\"", "\"onFailure\": \"go\"")).unwrap();
    assert_eq!(doctor(home.path()).0, Some(3));
    // What cannot be read is left alone.
    fs::write(&file, "{ broken").unwrap();
    let output = ghost(data.path(), &[&["hook", "install", "claude"][..], &options].concat(), "");
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("hint: "));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ broken");
}

#[test]
fn sixty_calls_in_a_row_are_one_chain() {
    let data = tempfile::tempdir().unwrap();
    for number in 0..60 {
        let output = ghost(data.path(), &["hook", "claude"], &call(&format!("ss -tln 'sport = :{number}'")));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let file = fs::read_dir(data.path().join("audit")).unwrap().next().unwrap().unwrap().path();
    let output = ghost(data.path(), &["audit", "verify", file.to_str().unwrap(), "--json"], "");
    let verified: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&verified["ok"], &verified["records"]), (&json!(true), &json!(60)));
}

#[test]
fn calls_at_the_same_moment_are_all_on_record() {
    let data = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let output = ghost(data.path(), &["hook", "codex"], &call("uname -s"));
                assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            });
        }
    });
    let file = fs::read_dir(data.path().join("audit")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 8);
}
