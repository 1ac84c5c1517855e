//! Calls as clients send them, hostile ones, and what comes back.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::answer::{Answer, Written, stop};
use super::call::{self, Client, HookEvent};
use super::decide::Deciding;
use crate::config::AskWhom;
use crate::global::Global;
use crate::setup::Setup;
use ghost_shell::{CancelSignal, audit};

fn setup(data: &Path, config: &str) -> Setup {
    let file = data.join("ghost.toml");
    std::fs::write(&file, config).unwrap();
    let global = Global { config: Some(file), data_dir: Some(data.to_owned()), destinations: Vec::new() };
    Setup::of_line(&global).unwrap()
}

/// Answers bytes as the subcommand does.
fn answer(client: Client, whom: AskWhom, data: &Path, config: &str, bytes: &[u8]) -> Written {
    let call = match call::parse(client, bytes) {
        Ok(call) => call,
        Err(error) => return stop(&error.to_string()),
    };
    let setup = setup(data, config);
    let deciding = Deciding { setup: &setup, client, whom };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(deciding.decide(&call, CancelSignal::never()));
    answer.written(client, call.event, &call.input)
}

fn sent(tool: &str, input: &Value, folder: &Path) -> Vec<u8> {
    json!({
        "session_id": "s", "cwd": folder, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
    })
    .to_string()
    .into_bytes()
}

fn is_allowed(client: Client, written: &Written) -> bool {
    match client {
        Client::Claude => written.code == 0 && written.stdout.contains(r#""permissionDecision":"allow""#),
        Client::Codex | Client::Generic => written.code == 0,
    }
}

#[track_caller]
fn check(client: Client, tool: &str, input: &Value, expected: (u8, &str)) {
    let data = tempfile::tempdir().unwrap();
    let project = tempfile::tempdir().unwrap();
    let written = answer(client, AskWhom::Deny, data.path(), "", &sent(tool, input, project.path()));
    let text = format!("{}{}", written.stdout, written.stderr);
    assert!(written.code == expected.0 && text.contains(expected.1), "{written:?}");
    assert_eq!(written.code == 2, !written.stderr.is_empty(), "{written:?}");
    // What was answered is on record.
    let files: Vec<_> = std::fs::read_dir(data.path().join("audit")).unwrap().collect();
    let [Ok(file)] = files.as_slice() else { panic!("{files:?}") };
    let verified = audit::verify(audit::for_reading(&file.path()).unwrap(), None).unwrap();
    assert!(verified.ok && verified.records == 1, "{verified:?}");
}

#[test]
fn what_is_safe_is_allowed_and_everything_else_is_stopped_with_a_reason() {
    for (client, allowed) in [(Client::Claude, "\"allow\""), (Client::Codex, "")] {
        check(client, "Bash", &json!({"command": "ss -tln"}), (0, allowed));
        check(client, "Bash", &json!({"command": "rm -rf /"}), (2, "BLOCKED"));
        check(client, "Bash", &json!({"command": "touch x"}), (2, "nobody is asked here"));
        check(client, "Bash", &json!({"command": ""}), (2, "ghost: "));
        check(client, "mcp__x__y", &json!({"a": 1}), (2, "MCP server"));
        check(client, "Unheard", &json!({}), (2, "nobody here knows"));
    }
    check(Client::Claude, "Read", &json!({"file_path": "a"}), (0, ""));
    check(Client::Claude, "Read", &json!({"file_path": "/etc/hosts"}), (2, "outside of the project"));
    check(Client::Claude, "Write", &json!({"file_path": "a", "content": "x"}), (0, ""));
    check(
        Client::Claude,
        "Write",
        &json!({"file_path": ".claude/settings.json", "content": "x"}),
        (2, "set up"),
    );
    check(Client::Claude, "Glob", &json!({"pattern": "/etc/*"}), (2, "outside"));
    check(Client::Claude, "Glob", &json!({"pattern": "**/*.rs"}), (0, ""));
    check(
        Client::Claude,
        "WebFetch",
        &json!({"url": "http://169.254.169.254/latest/meta-data/iam/security-credentials/x", "prompt": ""}),
        (2, "BLOCKED"),
    );
    check(Client::Claude, "TodoWrite", &json!({"todos": []}), (0, ""));
    let patch = |file: &str| json!({"command": format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch\n")});
    check(Client::Codex, "apply_patch", &patch("a"), (0, ""));
    check(Client::Codex, "apply_patch", &patch("../a"), (2, "outside"));
    check(Client::Codex, "apply_patch", &json!({"command": "x"}), (2, "nobody here knows"));
}

#[test]
fn a_member_that_is_not_known_or_of_another_form_asks() {
    for (client, tool, input) in [
        (Client::Claude, "Bash", json!({"command": "ss -s", "dangerouslyDisableSandbox": true})),
        (Client::Claude, "Bash", json!({"command": "ss -s", "dangerouslyDisableSandbox": "false"})),
        (Client::Claude, "Bash", json!({"command": "ss -s", "shell": "/bin/zsh"})),
        (Client::Claude, "Bash", json!({"command": "ss -s", "Command": "reboot"})),
        (Client::Claude, "Bash", json!({"command": "ss -s", "timeout": "1; reboot"})),
        (Client::Claude, "Bash", json!({"command": "ss -s", "run_in_background": null})),
        (Client::Claude, "Bash", json!({"command": "ss -s", "description": ["x"]})),
        (Client::Claude, "Read", json!({"file_path": "a", "path": "/etc/shadow"})),
        (Client::Claude, "Write", json!({"file_path": "a", "content": "x", "mode": "0777"})),
        (Client::Claude, "Grep", json!({"pattern": "x", "-f": "/etc/shadow"})),
        (Client::Claude, "Agent", json!({"description": "d", "prompt": "p", "mode": "bypassPermissions"})),
        (Client::Codex, "Bash", json!({"command": "ss -s", "workdir": "/"})),
        (Client::Codex, "Bash", json!({"command": "ss -s", "sandbox_permissions": "require_escalated"})),
        (Client::Codex, "update_plan", json!({"plan": [], "x": 1})),
    ] {
        check(client, tool, &input, (2, "hook.member"));
    }
    let blocked = json!({"command": "reboot", "env": {}});
    check(Client::Claude, "Bash", &blocked, (2, "BLOCKED"));
    for (tool, input) in [
        ("Bash", json!({"command": "ss -s", "description": "d", "timeout": 5000, "run_in_background": true})),
        ("Bash", json!({"command": "ss -s", "dangerouslyDisableSandbox": false})),
        ("Grep", json!({"pattern": "x", "glob": "*.rs", "-n": true, "-C": 3, "output_mode": "content"})),
        ("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": false})),
        ("Agent", json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"})),
    ] {
        check(Client::Claude, tool, &input, (0, ""));
    }
}

#[test]
fn a_script_that_sends_a_member_that_is_not_known_is_asked_about_it() {
    let data = tempfile::tempdir().unwrap();
    let call =
        json!({"tool": "shell", "cwd": "/tmp", "input": {"command": "ss -s", "env": {"A": "b"}}}).to_string();
    let written = answer(Client::Generic, AskWhom::Ask, data.path(), "", call.as_bytes());
    assert!(written.code == 4 && written.stderr.contains("hook.member"), "{written:?}");
    let text = std::fs::read_dir(data.path().join("audit")).unwrap().next().unwrap().unwrap().path();
    // The whole call is on record, not the command alone.
    assert!(std::fs::read_to_string(text).unwrap().contains("env"));
}

#[test]
fn what_holds_a_credential_is_no_file_for_any_tool() {
    for (client, tool, input) in [
        (Client::Claude, "Read", json!({"file_path": ".env"})),
        (Client::Claude, "Read", json!({"file_path": "sub/../.env.production"})),
        (Client::Claude, "Read", json!({"file_path": "~/.ssh/id_ed25519"})),
        (Client::Claude, "Read", json!({"file_path": "/etc/shadow"})),
        (Client::Claude, "Read", json!({"file_path": "/proc/self/environ"})),
        (Client::Claude, "NotebookRead", json!({"notebook_path": ".netrc"})),
        (Client::Claude, "LS", json!({"path": "~/.azure"})),
        (Client::Claude, "Glob", json!({"pattern": "**/.env"})),
        (Client::Claude, "Grep", json!({"pattern": "KEY", "path": ".env"})),
        (Client::Claude, "Grep", json!({"pattern": "KEY", "glob": "{a,.env}"})),
        (Client::Claude, "Write", json!({"file_path": ".env", "content": "x"})),
        (
            Client::Claude,
            "Edit",
            json!({"file_path": ".git-credentials", "old_string": "a", "new_string": "b"}),
        ),
        (Client::Codex, "view_image", json!({"path": ".env"})),
        (
            Client::Codex,
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch\n"}),
        ),
    ] {
        check(client, tool, &input, (2, "BLOCKED"));
    }
    for pattern in [".env*", ".e*", "src/**/.en?", "*.env", ".[e]nv"] {
        check(Client::Claude, "Grep", &json!({"pattern": "KEY", "glob": pattern}), (2, "hook.credential"));
    }
    for pattern in ["*.rs", "**/*", "!.env", "{a,b}*.toml"] {
        check(Client::Claude, "Grep", &json!({"pattern": "KEY", "glob": pattern}), (0, ""));
    }
    check(Client::Claude, "Read", &json!({"file_path": "environment.rs"}), (0, ""));
}

#[test]
fn a_link_to_a_credential_is_one() {
    let (data, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(project.path().join(".env"), "KEY=x").unwrap();
    std::os::unix::fs::symlink(".env", project.path().join("notes.txt")).unwrap();
    let call = sent("Read", &json!({"file_path": "notes.txt"}), project.path());
    let written = answer(Client::Claude, AskWhom::Deny, data.path(), "", &call);
    assert!(written.code == 2 && written.stderr.contains("BLOCKED"), "{written:?}");
}

#[test]
fn what_the_shell_of_a_client_would_read_otherwise_asks() {
    for (command, rule) in [
        ("nft list ruleset ? flush ruleset", "hook.expansion"),
        ("iptables-nft -L [-]Z", "hook.expansion"),
        ("kubectl get pods [-]-server=127.0.0.1:18081", "hook.expansion"),
        ("printf '%d' 'path[$(touch X)1]'", "hook.builtin"),
        ("az vm list --query \"[?name==`touch`]\"", "text.substitution"),
    ] {
        for client in [Client::Claude, Client::Codex] {
            check(client, "Bash", &json!({"command": command}), (2, rule));
        }
    }
    check(
        Client::Claude,
        "Bash",
        &json!({"command": "ss -tn state established | grep -c '10[.]0'"}),
        (0, "allow"),
    );
}

#[test]
fn what_a_client_types_later_passes_no_hook_and_so_asks() {
    let command = json!({"command": "openssl s_client -connect 10.0.0.1:443"});
    check(Client::Codex, "Bash", &command, (2, "no hook sees that"));
    check(Client::Claude, "Bash", &command, (0, "allow"));
}

#[test]
fn what_only_the_sandbox_keeps_from_writing_asks() {
    for client in [Client::Claude, Client::Codex] {
        for command in ["nstat", "nstat -az TcpExtListenDrops", "uname; nstat -s | head -3", "top -b -n 1"] {
            check(client, "Bash", &json!({"command": command}), (2, "writes a file of its own"));
        }
        check(client, "Bash", &json!({"command": "nstat -as | head -3"}), (0, ""));
    }
}

#[test]
fn where_the_client_can_ask_it_asks() {
    let data = tempfile::tempdir().unwrap();
    let call = sent("Bash", &json!({"command": "touch x"}), data.path());
    let written = answer(Client::Claude, AskWhom::Ask, data.path(), "", &call);
    assert!(written.code == 0 && written.stdout.contains(r#""permissionDecision":"ask""#), "{written:?}");
    let written = answer(Client::Codex, AskWhom::Ask, data.path(), "", &call);
    assert!(written.code == 2 && written.stderr.contains("nobody is asked here"), "{written:?}");
}

#[test]
fn a_site_that_forbids_a_tool_forbids_it() {
    let data = tempfile::tempdir().unwrap();
    let call = sent("Bash", &json!({"command": "ss -s"}), data.path());
    let written = answer(Client::Claude, AskWhom::Deny, data.path(), "[hook.tools]\nBash = 'deny'", &call);
    assert!(written.code == 2 && written.stderr.contains("[hook.tools]"), "{written:?}");
}

#[test]
fn an_audit_that_cannot_be_written_stops_everything() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("audit"), "no folder").unwrap();
    for client in [Client::Claude, Client::Codex] {
        let call = sent("Bash", &json!({"command": "ss -s"}), data.path());
        let written = answer(client, AskWhom::Deny, data.path(), "", &call);
        assert!(written.code == 2 && !written.stderr.is_empty(), "{written:?}");
    }
}

#[test]
fn a_permission_request_is_answered_in_its_own_form() {
    let data = tempfile::tempdir().unwrap();
    let call = |command: &str| {
        json!({"session_id": "s", "cwd": "/tmp", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
            "tool_input": {"command": command}, "permission_suggestions": []})
        .to_string()
        .into_bytes()
    };
    let of = |client, command: &str| answer(client, AskWhom::Deny, data.path(), "", &call(command));
    assert!(of(Client::Claude, "ss -s").stdout.contains(r#""behavior":"allow""#));
    assert!(of(Client::Claude, "reboot").stdout.contains(r#""behavior":"deny""#));
    assert!(of(Client::Codex, "ss -s").stdout.contains(r#""behavior":"allow""#));
    assert_eq!(of(Client::Codex, "reboot").code, 2);
}

#[test]
fn what_is_no_call_is_stopped_with_a_line() {
    let data = tempfile::tempdir().unwrap();
    let whole = String::from_utf8(sent("Bash", &json!({"command": "ss -s"}), data.path())).unwrap();
    let event = |name: &str| whole.replace("PreToolUse", name);
    let mut hostile: Vec<Vec<u8>> = (0..whole.len()).map(|end| whole[..end].into()).collect();
    hostile.extend(
        [
            "null".to_owned(),
            "[]".to_owned(),
            r#"["s","/tmp","PreToolUse",null,"Bash",{"command":"ss -s"}]"#.to_owned(),
            "{}".to_owned(),
            format!("{whole}{whole}"),
            format!("x{whole}"),
            event("PostToolUse"),
            event("pretooluse"),
            event(""),
            whole.replace("\"Bash\"", "7"),
            whole.replace("\"Bash\"", "\"\""),
            whole.replace("\"ss -s\"", "[\"ss\"]"),
            whole.replace("\"ss -s\"", "null"),
            whole.replace("\"command\":", "\"cmd\":"),
            whole.replace("\"command\":", "\"command\":\"rm -rf /\",\"command\":"),
            whole.replace("\"tool_name\":", "\"tool_name\":\"Read\",\"tool_name\":"),
            whole.replace("\"cwd\":\"", "\"cwd\":\"relative"),
            format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        ]
        .map(String::into_bytes),
    );
    hostile.push(b"\xff\xfe".to_vec());
    hostile.push(whole.replace("ss -s", "\u{0}").into_bytes());
    for bytes in hostile {
        for client in [Client::Claude, Client::Codex, Client::Generic] {
            let written = answer(client, AskWhom::Deny, data.path(), "", &bytes);
            let text = String::from_utf8_lossy(&bytes);
            assert!(written.code >= 2 && !written.stderr.is_empty(), "{client:?} {written:?}: {text:.200}");
        }
    }
}

#[test]
fn a_call_that_never_ends_is_refused_at_its_limit() {
    let error = call::read(Client::Claude, std::io::repeat(b' ')).unwrap_err();
    assert!(matches!(error, call::CallError::TooLong), "{error}");
}

#[test]
fn a_script_is_answered_by_exit_codes() {
    let data = tempfile::tempdir().unwrap();
    let ask = |tool: &str, input: Value, whom| {
        let call = json!({"tool": tool, "cwd": "/tmp", "input": input, "later": 1}).to_string();
        answer(Client::Generic, whom, data.path(), "", call.as_bytes()).code
    };
    assert_eq!(ask("shell", json!({"command": "ss -s"}), AskWhom::Deny), 0);
    assert_eq!(ask("shell", json!({"command": "touch x"}), AskWhom::Deny), 3);
    assert_eq!(ask("shell", json!({"command": "touch x"}), AskWhom::Ask), 4);
    assert_eq!(ask("shell", json!({"command": "reboot"}), AskWhom::Ask), 3);
    assert_eq!(ask("fetch", json!({"url": "https://example.com"}), AskWhom::Deny), 3);
}

#[test]
fn two_calls_are_never_recorded_as_the_same_text() {
    let data = tempfile::tempdir().unwrap();
    for content in ["a".repeat(5_000), "b".repeat(5_000)] {
        let call = sent("Write", &json!({"file_path": "/etc/x", "content": content}), data.path());
        answer(Client::Claude, AskWhom::Deny, data.path(), "", &call);
    }
    let file = std::fs::read_dir(data.path().join("audit")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    let commands: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["command"].clone()).collect();
    assert!(commands.len() == 2 && commands[0] != commands[1] && text.len() < 4_000, "{commands:?}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        "[a-zA-Z_/. -]{0,12}",
        prop::sample::select(vec!["Bash", "PreToolUse", "command", "tool_name", "allow", "/tmp", "touch x"])
            .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let key = prop_oneof![
            prop::sample::select(vec![
                "session_id",
                "cwd",
                "hook_event_name",
                "tool_name",
                "tool_input",
                "command",
                "tool",
                "input",
            ])
            .prop_map(str::to_owned),
            word.clone(),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..7)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever is sent: it is allowed only where it is a call of a shell tool with a SAFE command, or passes by the table.
    #[test]
    fn random_json_never_allows(value in any_json()) {
        for client in [Client::Claude, Client::Codex, Client::Generic] {
            let data = tempfile::tempdir().unwrap();
            let bytes = value.to_string().into_bytes();
            let written = answer(client, AskWhom::Deny, data.path(), "", &bytes);
            let understood = call::parse(client, &bytes).is_ok();
            prop_assert!(!is_allowed(client, &written) || understood, "{written:?}");
        }
    }

    /// A well-formed call whose command is random text is allowed only where the policy says SAFE.
    #[test]
    fn a_random_command_is_allowed_only_where_the_policy_says_so(command in "[ -~\u{0}-\u{1f}é\u{202e}]{0,30}") {
        let policy = ghost_shell::Policy::embedded().unwrap();
        let trimmed = command.trim_matches([' ', '\t', '\n', '\r']);
        let safe = policy.for_caller(trimmed, policy.classify(trimmed)).verdict == ghost_shell::Verdict::Safe;
        for client in [Client::Claude, Client::Codex] {
            let data = tempfile::tempdir().unwrap();
            let written = answer(client, AskWhom::Deny, data.path(), "", &sent("Bash", &json!({"command": command}), data.path()));
            prop_assert!(safe || !is_allowed(client, &written), "{command:?} {written:?}");
            prop_assert!(written.code == 0 || !written.stderr.is_empty());
        }
    }
}

/// Every answer stops Codex or is consent: there is nothing between.
#[test]
fn no_refusal_is_silent_in_any_client() {
    let refuse = Answer::Refuse { reason: String::new(), audit_id: String::new() };
    for client in [Client::Claude, Client::Codex, Client::Generic] {
        for event in [HookEvent::PreToolUse, HookEvent::PermissionRequest] {
            let written = refuse.written(client, event, &serde_json::Map::new());
            let said = !written.stderr.is_empty() || written.stdout.contains("deny");
            assert!(said, "{client:?} {event:?} {written:?}");
        }
    }
}
