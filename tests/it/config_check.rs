//! `ghost config check` against a real local Slack: what works, and what is wrong, all of it at once.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::lab::stage::{Stage, quick};
use crate::store::server::Server;

/// A place to check in, and what the environment says.
struct Place {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

/// What a check found, and everything that it printed.
struct Checked {
    ok: bool,
    findings: Vec<Value>,
    printed: String,
}

impl Place {
    fn new(slack: &Stage) -> Self {
        let names = ["SLACK_API_URL", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"];
        let variables = names.map(|name| (name, slack.name(name).to_owned())).to_vec();
        Self { folder: tempfile::tempdir().unwrap(), variables }
    }

    fn with(mut self, name: &'static str, value: Option<&str>) -> Self {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.extend(value.map(|value| (name, value.to_owned())));
        self
    }

    fn data(&self) -> &Path {
        self.folder.path()
    }

    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    async fn run(&self, config: &str, more: &[&str]) -> std::process::Output {
        let file = self.folder.path().join("ghost.toml");
        std::fs::write(&file, config).unwrap();
        Command::new(env!("CARGO_BIN_EXE_ghost"))
            .args(["config", "check", "--config"])
            .arg(&file)
            .arg("--data-dir")
            .arg(self.data())
            .args(more)
            .env_clear()
            .envs(self.variables.clone())
            .output()
            .await
            .unwrap()
    }

    async fn check(&self, config: &str) -> Checked {
        let output = self.run(config, &["--json"]).await;
        let printed = String::from_utf8([output.stdout.clone(), output.stderr].concat()).unwrap();
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {printed}"));
        let findings = answer.pointer("/findings").and_then(Value::as_array).unwrap().clone();
        Checked { ok: answer.get("ok") == Some(&Value::Bool(true)), findings, printed }
    }
}

impl Checked {
    /// Returns what was found about something.
    #[track_caller]
    fn about(&self, what: &str) -> &Value {
        let found = self.findings.iter().find(|finding| finding["what"] == what);
        found.unwrap_or_else(|| panic!("nothing about {what}: {}", self.printed))
    }

    #[track_caller]
    fn says(&self, what: &str, state: &str, part: &str) {
        let finding = self.about(what);
        assert_eq!(finding["state"], state, "{finding}");
        assert!(finding["detail"].as_str().unwrap().contains(part), "{finding}");
    }
}

#[tokio::test]
async fn what_works_is_printed_with_the_owner_of_the_token() {
    let slack = Stage::new(quick()).await;
    let place = Place::new(&slack);
    let config =
        "[approval.change]\ngroups = ['S0LABONCAL']\n[approval.measurement]\nusers = ['U0LABBOB01']\n";
    let checked = place.check(config).await;
    checked.says("slack bot", "ok", "U0LABGHOST");
    checked.says("slack scopes", "ok", "16 of the manifest");
    checked.says("slack app", "ok", "none was opened");
    checked.says("approvers", "ok", "S0LABONCAL has");
    for (state, printed) in [
        ("ok", "measurement: in Slack 1 of U0LABBOB01; at a terminal whoever sits there"),
        ("ok", "outage: in Slack nobody, so that it can only be denied; at a terminal whoever sits there"),
        ("ok", "change: in Slack 1 of S0LABONCAL, not whoever asked; at a terminal whoever sits there"),
        ("ok", "a changed command: somebody else has to approve it; at a terminal whoever changed it may"),
    ] {
        let found = |finding: &&Value| finding["what"] == "approval" && finding["detail"] == printed;
        let finding = checked.findings.iter().find(found).unwrap_or_else(|| panic!("{}", checked.printed));
        assert_eq!(finding["state"], state);
    }
    checked.says("model", "skipped", "playbook");
    checked.says("permissions", "skipped", "nobody was asked");
    let connected = slack.person("state", json!({})).await;
    assert_ne!(connected.pointer("/apps/0/connected"), Some(&json!(true)), "a socket was opened");
    for secret in ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"] {
        assert!(!checked.printed.contains(slack.name(secret)), "{}", checked.printed);
    }
    slack.end().await;
}

#[tokio::test]
async fn a_redis_that_may_lose_what_it_acknowledged_is_a_warning_for_each_setting() {
    let Some(careless) = Server::with(&["--appendfsync", "everysec", "--maxmemory-policy", "allkeys-lru"])
    else {
        return;
    };
    let (good, managed) =
        (Server::start().unwrap(), Server::with(&["--rename-command", "CONFIG", ""]).unwrap());
    let slack = Stage::new(quick()).await;
    let place = Place::new(&slack);
    for (server, expected) in [
        (&good, &[][..]),
        (&careless, &["`appendfsync` is `everysec`", "`maxmemory-policy` is `allkeys-lru`"]),
        (&managed, &["does not say"]),
    ] {
        let checked = place.check(&format!("[store]\nurl = '{}'\n", server.url())).await;
        checked.says("store", "ok", "answers");
        let warned = |finding: &&Value| finding["what"] == "store" && finding["state"] == "warning";
        let warnings: Vec<&str> =
            checked.findings.iter().filter(warned).filter_map(|finding| finding["detail"].as_str()).collect();
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        assert!(warnings.iter().zip(expected).all(|(warning, part)| warning.contains(part)), "{warnings:?}");
    }
    slack.end().await;
}

#[tokio::test]
async fn every_problem_is_printed_at_once_without_tokens() {
    let slack = Stage::new(quick()).await;
    let place = Place::new(&slack)
        .with("SLACK_BOT_TOKEN", Some("xoxb-0-wrong-secret"))
        .with("SLACK_APP_TOKEN", None)
        .with("GHOST_REDIS_PASSWORD", Some("hunter2-secret"));
    let checked = place.check("[store]\nurl = 'redis://127.0.0.1:9'\n[model]\nbrain = 'anthropic'\n[model.anthropic]\nmodel = 'some-model'\n").await;
    assert!(!checked.ok);
    checked.says("slack bot", "problem", "invalid_auth");
    checked.says("slack app", "problem", "there is none");
    checked.says("store", "problem", "127.0.0.1:9");
    checked.says("model", "problem", "key");
    checked.says("approvers", "warning", "nobody is named");
    assert!(checked.about("slack app")["hint"].as_str().unwrap().contains("SLACK_APP_TOKEN"));
    assert!(
        !checked.printed.contains("secret") && !checked.printed.contains("hunter2"),
        "{}",
        checked.printed
    );
    let output = place.run("", &["--exit-code"]).await;
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.lines().any(|line| line.starts_with("\u{2718} slack bot")), "{printed}");
    slack.end().await;
}

#[tokio::test]
async fn a_scope_that_is_missing_is_named_with_what_it_is_for() {
    let slack = Stage::new(quick()).await;
    let fewer: Vec<&str> = ghost_agent::bot::SCOPES
        .iter()
        .copied()
        .filter(|scope| !matches!(*scope, "usergroups:read" | "reactions:write"))
        .collect();
    slack.person("app", json!({"scopes": fewer})).await;
    let checked = Place::new(&slack).check("[approval.change]\ngroups = ['S0LABONCAL']\n").await;
    checked.says("slack scopes", "problem", "usergroups:read (who may approve");
    checked.says("slack scopes", "problem", "reactions:write (");
    assert!(!checked.about("slack scopes")["detail"].as_str().unwrap().contains("chat:write"));
    checked.says("approvers", "problem", "missing_scope");
    slack.end().await;
}

#[tokio::test]
async fn offline_asks_nobody() {
    let slack = Stage::new(quick()).await;
    let place = Place::new(&slack).with("SLACK_API_URL", Some("http://127.0.0.1:9/api/"));
    let output = place.run("", &["--offline", "--exit-code"]).await;
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("Slack is not asked"), "{printed}");
    let checked = place.check("").await;
    checked.says("slack bot", "problem", "no connection");
    slack.end().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test owns the server's task and ends it")]
async fn a_key_that_the_provider_refuses_is_a_problem() {
    let slack = Stage::new(quick()).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let refusal =
        json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}});
    let router = axum::Router::new()
        .fallback(move || async move { (StatusCode::UNAUTHORIZED, axum::Json(refusal.clone())) });
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let config = format!(
        "[model]\nbrain = 'anthropic'\n[model.anthropic]\nmodel = 'some-model'\nbase_url = 'http://{address}'\n"
    );
    let place = Place::new(&slack).with("ANTHROPIC_API_KEY", Some("sk-plain-word-key"));
    let checked = place.check(&config).await;
    checked.says("model", "problem", "refuses the key");
    assert!(!checked.printed.contains("plain-word"), "{}", checked.printed);
    server.abort();
    slack.end().await;
}

/// Writes an `az` that notes what it is asked, and answers; in the group `rg` somebody may only read.
fn program(place: &Place, account: &str) -> String {
    let az = place.data().join("az");
    let text = format!(
        r#"#!/bin/sh
[ -n "$AZURE_CONFIG_DIR" ] && echo "$*" >> "$AZURE_CONFIG_DIR/asked"
case "$*" in
version*) echo '{{"azure-cli": "2.70.0"}}';;
"account show --query id"*) echo 00000000-0000-0000-0000-000000000001;;
"account show"*) {account};;
"group list"*) echo '["rg", "NetworkWatcherRG"]';;
rest*/resourceGroups/rg/*) echo '{{"value":[{{"actions":["*/read","Microsoft.Compute/*"]}}]}}';;
rest*) echo '{{"value":[{{"actions":["*"]}}]}}';;
login*) [ -n "$AZURE_CONFIG_DIR" ] && echo '{{}}' > "$AZURE_CONFIG_DIR/azureProfile.json";;
esac
"#
    );
    std::fs::write(&az, text).unwrap();
    std::fs::set_permissions(&az, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("[programs]\naz = {az:?}\n")
}

#[tokio::test]
async fn az_says_through_the_safety_shell_who_is_signed_in() {
    let slack = Stage::new(quick()).await;
    let place = Place::new(&slack);
    let config = program(
        &place,
        r#"echo '{"id": "0000-1", "name": "lab", "user": {"name": "ghost-reader", "type": "servicePrincipal"}}'"#,
    );
    let checked = place.check(&config).await;
    checked.says("az", "ok", "2.70.0, signed in as ghost-reader, subscription lab 0000-1");
    checked.says("identity", "warning", "one for both: whoever az is signed in as");
    checked.says(
        "permissions",
        "problem",
        "in rg: Microsoft.Network/networkInterfaces/effectiveRouteTable/action (reader: ",
    );
    assert!(place.data().join("audit/config-check.jsonl").exists());
    program(&place, "echo 'Please run az login' >&2; exit 1");
    let checked = place.check(&config).await;
    checked.says("az", "problem", "not signed in");
    slack.end().await;
}

#[tokio::test]
async fn each_identity_is_signed_in_and_asked_what_it_is_granted() {
    let slack = Stage::new(quick()).await;
    let place = Place::new(&slack).with("GHOST_AZURE_ACTOR_SECRET", Some("a-Secret-4711"));
    let id = "33333333-3333-3333-3333-333333333333";
    let config = program(&place, r#"echo '{"id": "1", "name": "lab", "user": {"name": "x"}}'"#)
        + &format!(
            "[azure]\nresource_groups = ['other']\n[azure.reader]\nsign_in = 'managed'\n\
             [azure.actor]\nsign_in = 'service_principal'\nclient_id = '{id}'\ntenant = 'contoso.example'\n"
        );
    let checked = place.check(&config).await;
    let about = |what: &str| -> Vec<String> {
        let found = checked.findings.iter().filter(|finding| finding["what"] == what);
        found
            .map(|finding| {
                format!("{}: {}", finding["state"].as_str().unwrap(), finding["detail"].as_str().unwrap())
            })
            .collect()
    };
    let actor = format!("actor (service principal {id})");
    assert_eq!(
        about("identity"),
        ["ok: reader (managed identity of this machine)".to_owned(), format!("ok: {actor}")]
    );
    let permissions = about("permissions");
    assert!(
        permissions[0].starts_with("ok: reader (managed identity of this machine): all 56 actions in other"),
        "{permissions:?}"
    );
    assert!(permissions[1].starts_with(&format!("ok: {actor}: all ")), "{permissions:?}");
    let asked = |who: &str| {
        let folder = place.data().join("identity").join(who);
        assert!(!folder.join("secret").exists());
        std::fs::read_to_string(folder.join(".azure/asked")).unwrap()
    };
    let (reader, actor) = (asked("reader"), asked("actor"));
    assert!(reader.starts_with("login --identity ") && reader.matches("login").count() == 1, "{reader}");
    assert!(
        actor.starts_with(&format!("login --service-principal --output none --username {id}")),
        "{actor}"
    );
    for line in actor.lines().skip(1) {
        assert!(
            line.starts_with("rest --method get ") || line == "account show --query id --output tsv",
            "{line}"
        );
    }
    assert!(!format!("{}{actor}", checked.printed).contains("a-Secret-4711"));
    let broken = place.run("[azure.actor]\nsign_in = 'managed'\nfolder = '/x'\n", &[]).await;
    let printed = String::from_utf8(broken.stderr).unwrap();
    assert!(
        printed.contains("needs [azure.reader]") && printed.contains("folder means nothing"),
        "{printed}"
    );
    slack.end().await;
}

#[tokio::test]
async fn a_failed_check_has_an_exit_code_and_swapped_tokens_are_named() {
    let variables = [("SLACK_BOT_TOKEN", "xapp-1"), ("SLACK_APP_TOKEN", "xoxb-1")]
        .map(|(name, token)| (name, token.to_owned()));
    let place = Place { folder: tempfile::tempdir().unwrap(), variables: variables.to_vec() };
    for (more, wanted) in [(&["--offline"][..], 1), (&["--offline", "--exit-code"][..], 3)] {
        let output = place.run("", more).await;
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(wanted), "{said}");
        for part in ["SLACK_BOT_TOKEN holds an app-level token", "SLACK_APP_TOKEN holds a bot token"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
