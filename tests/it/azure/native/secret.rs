//! What the native reader leaves behind: what was asked, and no token.

use std::path::{Path, PathBuf};

use ghost_base::Secret;
use ghost_cloud::sign_in::{Credential, SignInMethod};
use serde_json::{Value, json};

use super::place::Native;
use crate::azure::stage::Stage;

const SECRET: &str = "lab-Secret-4711";
const FEDERATED: &str = "federated-Token-4711";
const CLIENT: &str = "22222222-0000-0000-0000-00000000000a";
const TENANT: &str = "11111111-1111-1111-1111-111111111111";

/// How every token of the lab begins: `{"alg":"none"`.
pub(super) const TOKEN: &str = "eyJhbGciOiJub25l";

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Searches whatever was written for secrets.
#[track_caller]
fn holds_none(native: &Native, secrets: &[&str]) {
    let all = files(native.data.path());
    assert!(all.iter().any(|path| path.ends_with("audit/s1.jsonl")), "{all:?}");
    for path in all {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for secret in secrets {
            assert!(!text.contains(secret), "{} holds {secret}", path.display());
        }
    }
}

#[tokio::test]
async fn a_record_names_each_request_and_who_answered_and_no_token() {
    let stage = Stage::quiet().await;
    let native = Native::over(&stage);
    let line = "vm show -g nw-forensics-rg -n tf-source-vm -d";
    drop(native.document(line).await);
    let remote = stage.remote();
    for fault in [
        json!({"token": "expired"}),
        json!({"fault": {"match": "GET .*virtualMachines", "status": 403, "times": 9,
            "body": {"error": {"code": "AuthorizationFailed", "message": "no"}}}}),
    ] {
        remote.order("set", &fault).await.unwrap();
        let response = native.line(line).await;
        assert!(!format!("{response:?}").contains(TOKEN), "{response:?}");
    }
    let left = native.shell.run("az network nsg list -o table", "what is there?").await;
    assert_eq!(left.stderr, "left to az");
    let done: Vec<Value> = native.audit().into_iter().filter(|record| record["kind"] == "done").collect();
    let details = |command: &str| {
        let is = |record: &&Value| record["command"].as_str().is_some_and(|text| text.contains(command));
        done.iter().find(is).unwrap()["sandbox"]["details"].to_string()
    };
    let read = details("vm show");
    for part in [
        "(the native reader)",
        "GET /subscriptions: 200",
        "virtualMachines/tf-source-vm: 200",
        "networkInterfaces/tf-source-vm-nic: 200",
    ] {
        assert!(read.contains(part), "{part}: {read}");
    }
    let left = details("-o table");
    assert!(left.contains("left to az by the native reader: the output has another form"), "{left}");
    let intents = native.audit().iter().filter(|record| record["kind"] == "intent").count();
    assert_eq!(intents, done.len(), "what is not on record is not asked");
    holds_none(&native, &[TOKEN, stage.export("IDENTITY_HEADER")]);
    stage.down().await;
}

#[tokio::test]
async fn a_service_principal_gets_in_by_its_secret_its_certificate_and_another_ones_token() {
    let stage = Stage::quiet().await;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (secret, token) = (write("secret", SECRET), write("token", FEDERATED));
    for proof in
        [Credential::Secret(Secret::new(SECRET)), Credential::SecretFile(secret), Credential::Token(token)]
    {
        let method = SignInMethod::Principal { client: CLIENT.to_owned(), tenant: TENANT.to_owned(), proof };
        let native = Native::with(&stage, method, &[]);
        assert!(native.document("network nic list").await.as_array().is_some_and(|all| !all.is_empty()));
        holds_none(&native, &[TOKEN, SECRET, FEDERATED]);
        // The authority refuses, and repeats what it was sent.
        let refusal = json!({"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided: lab-Secret-4711\r\nTrace ID: x"});
        stage
            .remote()
            .order(
                "set",
                &json!({"fault": {"match": "POST .*/oauth2/", "status": 401, "body": refusal, "times": 1}}),
            )
            .await
            .unwrap();
        let method = SignInMethod::Principal {
            client: CLIENT.to_owned(),
            tenant: TENANT.to_owned(),
            proof: Credential::Secret(Secret::new(SECRET)),
        };
        let native = Native::with(&stage, method, &[]);
        let refused = native.line("network nic list").await;
        assert!(refused.stderr.contains("AADSTS7000215") && refused.exit_code == Some(1), "{refused:?}");
        assert!(!format!("{refused:?}").contains(SECRET), "{refused:?}");
        holds_none(&native, &[TOKEN, SECRET, FEDERATED]);
    }
    let missing = Credential::Token(folder.path().join("missing"));
    let method =
        SignInMethod::Principal { client: CLIENT.to_owned(), tenant: TENANT.to_owned(), proof: missing };
    let response = Native::with(&stage, method, &[]).line("network nic list").await;
    assert!(response.stderr.contains("missing"), "{response:?}");
    stage.down().await;
}

#[tokio::test]
async fn what_runs_as_somebody_else_or_changes_something_is_left_to_az() {
    let stage = Stage::quiet().await;
    let native = Native::over(&stage);
    for line in [
        "network nsg rule delete -g nw-forensics-rg --nsg-name tf-dest-vm-nsg -n allow-iperf",
        "vm deallocate -g nw-forensics-rg -n tf-dest-vm",
        "account get-access-token",
        "network nic list -o table",
        "network nic list -o tsv --query [].{a:name}",
        "rest --method get --url /subscriptions?api-version=2022-12-01",
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert!(native.read(&words).await.is_none(), "{line}");
    }
    stage.down().await;
}
