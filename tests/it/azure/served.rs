//! The port of a lab: what it lets in, what it answers, what load it takes.

use std::time::Duration;

use ghost_base::Clock as _;
use ghost_lab::azure::{Body, Verb};
use ghost_lab::host::HostError;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::call::document;
use super::raw::{connect, hear, once, request, say, secured};
use super::stage::{Parrot, Stage};

const GROUP: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg";

fn network(rest: &str) -> String {
    format!("{GROUP}/providers/Microsoft.Network/{rest}")
}

#[tokio::test]
async fn the_proxy_refuses_strangers_and_notes_them() {
    let stage = Stage::quiet().await;
    let tunnel = once(&stage, "CONNECT aka.ms:443 HTTP/1.1\r\nHost: aka.ms:443\r\n\r\n").await;
    assert_eq!((tunnel.status, tunnel.body.as_str()), (403, "this lab reaches no other host: aka.ms:443\n"));
    let whole = once(&stage, "GET http://dc.services.visualstudio.com/v2 HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert_eq!(whole.status, 403);
    // The port of a service of this machine is no route out either.
    assert_eq!(once(&stage, "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n").await.status, 403);
    let reported = stage.remote().order("state", &Value::Null).await.unwrap();
    let hosts: Vec<&str> =
        reported["strangers"].as_array().unwrap().iter().map(|one| one["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["aka.ms:443", "dc.services.visualstudio.com", "localhost:22"]);
    stage.down().await;
}

#[tokio::test]
async fn a_tunnel_to_the_clouds_hosts_ends_in_the_lab() {
    let stage = Stage::quiet().await;
    let authority = std::fs::read(stage.export("REQUESTS_CA_BUNDLE")).unwrap();
    for (host, path, status) in [
        ("management.azure.com", "/metadata/endpoints?api-version=2022-09-01", 200),
        ("login.microsoftonline.com", "/t/v2.0/.well-known/openid-configuration", 200),
        ("nobody.blob.core.windows.net", "/c?restype=container&comp=list", 404),
    ] {
        let mut stream = connect(&stage).await;
        let dug = say(&mut stream, &format!("CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n")).await;
        assert_eq!(dug.status, 200);
        let mut inside = secured(stream, &authority, host).await.unwrap();
        let said = say(&mut inside, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        assert_eq!(said.status, status, "{host}: {}", said.body);
        let other = say(&mut inside, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n").await;
        assert_eq!(other.status, 421);
    }
    stage.down().await;
}

#[tokio::test]
async fn only_who_trusts_the_labs_authority_speaks_tls_with_it() {
    let stage = Stage::quiet().await;
    let other = Stage::quiet().await;
    let read = |stage: &Stage| std::fs::read(stage.export("REQUESTS_CA_BUNDLE")).unwrap();
    assert!(secured(connect(&stage).await, &read(&other), "localhost").await.is_err());
    assert!(secured(connect(&stage).await, &read(&stage), "example.com").await.is_err());
    let mut stream = secured(connect(&stage).await, &read(&stage), "localhost").await.unwrap();
    let head = format!("Host: localhost:{}\r\n", stage.port);
    let said = say(&mut stream, &format!("GET /subscriptions HTTP/1.1\r\n{head}\r\n")).await;
    assert_eq!(said.status, 401, "{}", said.body);
    // The lab itself takes no orders over TLS: there they would be a path of blobs.
    let said = say(&mut stream, &format!("GET /lab/state HTTP/1.1\r\n{head}\r\n")).await;
    assert!(said.status >= 400);
    other.down().await;
    stage.down().await;
}

#[tokio::test]
async fn a_connection_carries_many_requests_and_a_cut_off_one_harms_nobody() {
    let stage = Stage::quiet().await;
    let head = format!("Host: 127.0.0.1:{}\r\n", stage.port);
    let mut cut = connect(&stage).await;
    cut.write_all(format!("POST /lab/set HTTP/1.1\r\n{head}Content-Length: 100\r\n\r\n{{").as_bytes())
        .await
        .unwrap();
    drop(cut);
    let mut half = connect(&stage).await;
    half.write_all(b"GET /meta").await.unwrap();
    let mut stream = connect(&stage).await;
    for _ in 0..3 {
        let said = say(&mut stream, &format!("GET /metadata/endpoints HTTP/1.1\r\n{head}\r\n")).await;
        assert_eq!(said.status, 200);
        assert!(said.body.contains(&format!("http://127.0.0.1:{}", stage.port)));
    }
    // The one that was slow is answered, too.
    half.write_all(format!("data/endpoints HTTP/1.1\r\n{head}\r\n").as_bytes()).await.unwrap();
    assert_eq!(hear(&mut half).await.status, 200);
    stage.down().await;
}

#[tokio::test]
async fn what_is_too_large_or_no_request_is_refused() {
    let stage = Stage::quiet().await;
    let head = format!("Host: 127.0.0.1:{}\r\n", stage.port);
    let long = format!("GET / HTTP/1.1\r\n{head}x: {}\r\n\r\n", "y".repeat(1_000_000));
    assert_eq!(once(&stage, &long).await.status, 431);
    let many: String = (0..200).map(|at| format!("x{at}: y\r\n")).collect();
    assert_eq!(once(&stage, &format!("GET / HTTP/1.1\r\n{head}{many}\r\n")).await.status, 431);
    let order = format!("POST /lab/set HTTP/1.1\r\n{head}Content-Length: 5000000000\r\n\r\n");
    assert_eq!(once(&stage, &order).await.status, 413);
    let blob = format!("PUT /acct/c/b HTTP/1.1\r\n{head}Content-Length: 268435457\r\n\r\n");
    let said = once(&stage, &blob).await;
    assert!(said.status == 413 && said.head.contains("x-ms-error-code: requestbodytoolarge"), "{said:?}");
    assert_eq!(once(&stage, "this is no request\r\n\r\n").await.status, 400);
    assert_eq!(once(&stage, &format!("BREW / HTTP/1.1\r\n{head}\r\n")).await.status, 405);
    stage.down().await;
}

#[tokio::test]
async fn names_and_pages_of_others_are_not_let_in() {
    let stage = Stage::quiet().await;
    let token = stage.remote().record().token.clone();
    let port = stage.port;
    let mut asked = Vec::new();
    for head in [
        format!("Host: evil.example:{port}\r\nAuthorization: Bearer {token}\r\n"),
        format!("Host: 127.0.0.1:1\r\nAuthorization: Bearer {token}\r\n"),
        format!(
            "Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nOrigin: http://127.0.0.1:{port}\r\n"
        ),
        format!("Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {}\r\n", "0".repeat(64)),
        format!("Host: 127.0.0.1:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"),
    ] {
        asked.push(once(&stage, &format!("GET /lab/state HTTP/1.1\r\n{head}\r\n")).await.status);
    }
    assert_eq!(asked, [421, 421, 403, 401, 401, 200]);
    let whole = format!(
        "GET http://127.0.0.1:{port}/lab/state HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    assert_eq!(once(&stage, &whole).await.status, 421);
    stage.down().await;
}

#[tokio::test]
async fn a_machine_learns_who_it_is_by_its_header_or_through_the_proxy() {
    let stage = Stage::quiet().await;
    let (port, word) = (stage.port, stage.export("IDENTITY_HEADER").to_owned());
    let resource = "api-version=2019-08-01&resource=https%3A%2F%2Flocalhost%2F";
    let own = |word: &str| {
        format!(
            "GET /msi/token?{resource} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-IDENTITY-HEADER: {word}\r\n\r\n"
        )
    };
    assert_eq!(once(&stage, &own("x")).await.status, 401);
    let said = once(&stage, &own(&word)).await;
    let token: Value = serde_json::from_str(&said.body).unwrap();
    let place = format!("http://169.254.169.254/metadata/identity/oauth2/token?{resource}");
    let through = |head: &str| format!("GET {place} HTTP/1.1\r\nHost: 169.254.169.254\r\n{head}\r\n");
    assert_eq!(once(&stage, &through("")).await.status, 400);
    assert_eq!(once(&stage, &through("Metadata: true\r\n")).await.status, 200);
    let token = token["access_token"].as_str().unwrap();
    let list = |token: &str| {
        format!(
            "GET /subscriptions HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
    };
    assert_eq!(once(&stage, &list(token)).await.status, 200);
    assert_eq!(once(&stage, &list("nonsense")).await.status, 401);
    // 80,000 seconds later it has expired.
    stage.remote().order("pass", &json!({"seconds": 80_001})).await.unwrap();
    let said = once(&stage, &list(token)).await;
    assert!(said.status == 401 && said.body.contains("ExpiredAuthenticationToken"), "{said:?}");
    stage.down().await;
}

#[tokio::test]
async fn what_is_set_happens_and_is_taken_back() {
    let stage = Stage::quiet().await;
    let remote = stage.remote();
    let groups = request(Verb::Get, GROUP, None);
    let status = async || remote.send(None, &groups).await.unwrap();
    let fault = json!([{"token": "expired"}, {"fault": {"match": "GET .*resourceGroups", "status": 429, "headers": {"Retry-After": "7"},
        "body": {"error": {"code": "TooManyRequests", "message": "m"}}, "times": 1}}]);
    remote.order("set", &fault).await.unwrap();
    let answer = status().await;
    assert_eq!(answer.status, 429);
    assert!(answer.headers.contains(&("retry-after".to_owned(), "7".to_owned())));
    assert_eq!(status().await.status, 401);
    remote.order("set", &json!({"clear": true})).await.unwrap();
    assert_eq!(status().await.status, 200);
    // All or nothing: the first of the two is not set.
    let both = json!([{"token": "expired"}, {"power": {"nobody": "running"}}]);
    let refused = remote.order("set", &both).await.unwrap_err().to_string();
    assert!(refused.contains("there is no machine `nobody`"), "{refused}");
    assert_eq!(status().await.status, 200);
    remote.order("set", &json!({"remove": GROUP})).await.unwrap();
    assert_eq!(status().await.status, 404);
    remote.order("reset", &Value::Null).await.unwrap();
    assert_eq!(status().await.status, 200);
    assert!(remote.order("frobnicate", &Value::Null).await.unwrap_err().to_string().contains("no order"));
    stage.down().await;
}

#[tokio::test]
async fn the_same_request_twice_is_the_same_thing_once() {
    let stage = Stage::quiet().await;
    let remote = stage.remote();
    let body = json!({"location": "eastus", "properties": {}});
    let put = request(Verb::Put, &network("networkSecurityGroups/twice"), Some(&body));
    let (first, second) = (remote.send(None, &put).await.unwrap(), remote.send(None, &put).await.unwrap());
    assert_eq!((first.status, second.status), (201, 200));
    let delete = request(Verb::Delete, &network("networkSecurityGroups/twice"), None);
    let (first, second) =
        (remote.send(None, &delete).await.unwrap(), remote.send(None, &delete).await.unwrap());
    assert_eq!((first.status, second.status), (202, 204));
    stage.down().await;
}

/// Runs a script on a machine by the platform's agent and returns what its operation says in the end.
async fn script(stage: &Stage, machine: &str) -> Value {
    let remote = stage.remote();
    let place = format!("{GROUP}/providers/Microsoft.Compute/virtualMachines/{machine}/runCommand");
    let body = json!({"commandId": "RunShellScript", "script": ["hostname"]});
    let answer = remote.send(None, &request(Verb::Post, &place, Some(&body))).await.unwrap();
    assert_eq!(answer.status, 202, "{:?}", answer.body);
    let place = answer.headers.iter().find(|(name, _)| name == "azure-asyncoperation").unwrap().1.clone();
    let path = place.split("/subscriptions").nth(1).unwrap().split('?').next().unwrap().to_owned();
    loop {
        let reported = document(
            &remote.send(None, &request(Verb::Get, &format!("/subscriptions{path}"), None)).await.unwrap(),
        );
        if reported["status"] != "InProgress" {
            return reported;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_script_prints_and_a_silent_machine_fails_after_minutes_of_the_labs_clock() {
    let stage = Stage::up(Parrot(Ok(("tf-dest-vm\n".to_owned(), "oops\n".to_owned())))).await;
    let reported = script(&stage, "tf-dest-vm").await;
    let message = &reported["properties"]["output"]["value"][0]["message"];
    assert_eq!(message, "Enable succeeded: \n[stdout]\ntf-dest-vm\n\n[stderr]\noops\n");
    stage.down().await;

    let stage = Stage::up(Parrot(Err(HostError::Silent("tf-dest-vm".to_owned())))).await;
    let before = stage.lab.clock().now();
    let reported = script(&stage, "tf-dest-vm").await;
    assert_eq!(
        (&reported["status"], &reported["error"]["code"]),
        (&json!("Failed"), &json!("VMAgentStatusCommunicationError"))
    );
    assert!(stage.lab.clock().now().since(before) >= Duration::from_secs(600));
    // It is not busy afterwards.
    assert_eq!(script(&stage, "tf-dest-vm").await["status"], "Failed");
    stage.down().await;
}

#[tokio::test]
async fn a_capture_that_is_stopped_lies_in_the_account() {
    let stage = Stage::quiet().await;
    let remote = stage.remote();
    let watcher = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/NetworkWatcherRG/providers/Microsoft.Network/networkWatchers/NetworkWatcher_eastus/packetCaptures/c1";
    let account = format!("{GROUP}/providers/Microsoft.Storage/storageAccounts/nwlogs080613");
    let body = json!({"properties": {"target": format!("{GROUP}/providers/Microsoft.Compute/virtualMachines/tf-dest-vm"),
        "storageLocation": {"storageId": account, "storagePath": "https://nwlogs080613.blob.core.windows.net/pktcaptures/c1.cap"}}});
    let made = remote.send(None, &request(Verb::Put, watcher, Some(&body))).await.unwrap();
    assert_eq!(made.status, 201, "{:?}", made.body);
    let mut blob = request(Verb::Get, "/pktcaptures/c1.cap", None);
    blob.headers.insert("x-ms-version".to_owned(), "2023-11-03".to_owned());
    assert_eq!(remote.send(Some("nwlogs080613"), &blob).await.unwrap().status, 404);
    let stop = request(Verb::Post, &format!("{watcher}/stop"), None);
    assert!(remote.send(None, &stop).await.unwrap().status < 300);
    let found = remote.send(Some("nwlogs080613"), &blob).await.unwrap();
    assert_eq!((found.status, found.body), (200, Body::Bytes(b"captured".to_vec())));
    stage.down().await;
}
