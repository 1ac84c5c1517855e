//! What goes wrong on the other side: the facts stay the same, or the failure is clear.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ghost_base::Secret;
use ghost_cloud::sign_in::{Credential, SignInMethod};
use ghost_cloud::{FailureClass, failure};
use ghost_shell::{Cancel, CancelSignal, Problem, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::place::Native;
use crate::azure::stage::Stage;

const MANAGED: SignInMethod = SignInMethod::Managed { client: None };
const NSG: &str = "network nsg show -g nw-forensics-rg -n tf-dest-vm-nsg";
const ROUTES: &str = "network nic show-effective-route-table -g nw-forensics-rg -n tf-source-vm-nic";
const LISTS: [&str; 4] = [
    "network nic list",
    "network nsg list -g nw-forensics-rg",
    "vm list -d -g nw-forensics-rg",
    "group list",
];

async fn set(stage: &Stage, what: Value) {
    stage.remote().order("set", &what).await.unwrap();
}

fn fault(pattern: &str, status: u16, headers: Value, times: u64) -> Value {
    json!({"fault": {"match": pattern, "status": status, "headers": headers, "times": times,
        "body": {"error": {"code": "Injected", "message": "It was asked for."}}}})
}

/// Returns of which kind a failure is.
fn class(response: &Response) -> FailureClass {
    assert_eq!(response.output, "", "{response:?}");
    failure(response.exit_code, &response.stderr).class
}

#[tokio::test]
async fn throttling_outages_and_slow_operations_change_no_fact() {
    let stage = Stage::quiet().await;
    let native = Native::over(&stage);
    let quiet = [native.document(NSG).await, native.document(ROUTES).await];
    for (status, headers) in [
        (429, json!({"Retry-After": "0.05"})),
        (429, json!({"x-ms-retry-after-ms": "40"})),
        (429, json!({})),
        (408, json!({})),
        (500, json!({})),
        (502, json!({})),
        (503, json!({"Retry-After": "0.05"})),
        (504, json!({})),
    ] {
        set(
            &stage,
            json!([fault("networkSecurityGroups/tf-dest-vm-nsg", status, headers.clone(), 2),
            fault("effectiveRouteTable", status, headers.clone(), 1), {"lro_polls": 3}]),
        )
        .await;
        let found = [native.document(NSG).await, native.document(ROUTES).await];
        assert_eq!(found, quiet, "{status} {headers}");
        set(&stage, json!({"clear": true})).await;
    }
    stage.down().await;
}

#[tokio::test]
async fn pages_are_put_together_and_one_that_is_missing_is_a_failure() {
    let stage = Stage::quiet().await;
    let native = Native::over(&stage);
    let mut whole = Vec::new();
    for line in LISTS {
        whole.push(native.document(line).await);
    }
    set(&stage, json!({"page_size": 1})).await;
    for (line, whole) in LISTS.iter().zip(&whole) {
        assert_eq!(&native.document(line).await, whole, "{line}");
    }
    // The second page is answered with another one's address, with none, and not at all.
    let id = "/subscriptions/00000000-0000-0000-0000-000000000001/x";
    for next in [
        "https://management.azure.com/subscriptions/00000000-0000-0000-0000-000000000001/x",
        &format!("https://localhost:{}/subscriptions/other/x", stage.port),
        &format!("http://localhost:{}{id}", stage.port),
        &format!("https://localhost:1{id}"),
        &format!("https://a@localhost:{}{id}", stage.port),
        "/subscriptions/x",
        "nonsense",
    ] {
        let page = json!({"value": [{"name": "one"}], "nextLink": next});
        set(
            &stage,
            json!({"fault": {"match": "GET .*networkInterfaces", "status": 200, "body": page, "times": 1}}),
        )
        .await;
        let response = native.line("network nic list").await;
        assert_eq!(class(&response), FailureClass::Unreadable, "{next}: {response:?}");
        assert!(response.stderr.contains("not followed"), "{response:?}");
    }
    set(&stage, fault("GET .*networkInterfaces.*skiptoken", 403, json!({}), 9)).await;
    let response = native.line("network nic list").await;
    assert_eq!((response.exit_code, response.output.as_str()), (Some(1), ""), "{response:?}");
    set(&stage, json!([{"clear": true}, {"fault": {"match": "GET .*networkInterfaces", "status": 200, "body": {"no": "list"}, "times": 1}}])).await;
    assert_eq!(class(&native.line("network nic list").await), FailureClass::Unreadable);
    stage.down().await;
}

#[tokio::test]
async fn what_does_not_pass_is_said_in_the_words_of_the_service() {
    let stage = Stage::quiet().await;
    let native = Native::over(&stage);
    let coded = |code: &str| json!({"error": {"code": code, "message": "It was asked for."}});
    for (status, body, kind) in [
        (429, coded("TooManyRequests"), FailureClass::Throttled),
        (503, coded("ServiceUnavailable"), FailureClass::Service),
        (502, json!("<html>no</html>"), FailureClass::Service),
        (403, coded("AuthorizationFailed"), FailureClass::Forbidden),
        (404, coded("ResourceNotFound"), FailureClass::NotFound),
        (200, json!("{not json"), FailureClass::Unreadable),
    ] {
        let headers = if status == 200 || status < 429 { json!({}) } else { json!({"Retry-After": "0.02"}) };
        set(&stage, json!({"fault": {"match": "tf-dest-vm-nsg", "status": status, "headers": headers, "body": body, "times": 9}})).await;
        let response = native.line(NSG).await;
        assert_eq!(class(&response), kind, "{status}: {response:?}");
        set(&stage, json!({"clear": true})).await;
    }
    let failed =
        json!({"status": "Failed", "error": {"code": "NetworkInterfaceNotFound", "message": "It is gone."}});
    set(&stage, json!({"fault": {"match": "GET .*/operations/", "status": 200, "body": failed, "times": 1}}))
        .await;
    assert_eq!(class(&native.line(ROUTES).await), FailureClass::NotFound);
    // An operation that lies elsewhere is not asked about.
    let away = json!({"Location": "https://management.azure.com/subscriptions/x/locations/l/operations/y"});
    set(&stage, json!({"fault": {"match": "POST", "status": 202, "headers": away, "times": 1}})).await;
    assert_eq!(class(&native.line(ROUTES).await), FailureClass::Unreadable);
    let inside = format!(
        "https://localhost:{}/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/x",
        stage.port
    );
    set(
        &stage,
        json!({"fault": {"match": "POST", "status": 202, "headers": {"Location": inside}, "times": 1}}),
    )
    .await;
    assert!(native.line(ROUTES).await.stderr.contains("operation"));
    stage.down().await;
}

#[tokio::test]
async fn a_token_that_is_refused_is_renewed_once() {
    let stage = Stage::quiet().await;
    let native = Native::over(&stage);
    let before = native.document(NSG).await;
    // The lab's clock goes on, and the token that is held is over there.
    stage.remote().order("pass", &json!({"seconds": 80_001})).await.unwrap();
    assert_eq!(native.document(NSG).await, before);
    set(&stage, json!({"token": "expired"})).await;
    assert_eq!(class(&native.line(NSG).await), FailureClass::Expired);
    set(&stage, json!({"token": "good"})).await;
    assert_eq!(native.document(NSG).await, before);
    stage.down().await;
}

#[tokio::test]
async fn a_token_that_lacks_what_is_demanded_is_replaced_once_by_one_that_has_it() {
    let stage = Stage::quiet().await;
    let principal = || SignInMethod::Principal {
        client: "22222222-0000-0000-0000-00000000000a".to_owned(),
        tenant: "11111111-1111-1111-1111-111111111111".to_owned(),
        proof: Credential::Secret(Secret::new("word")),
    };
    let native = Native::with(&stage, principal(), &[]);
    let before = native.document(NSG).await;
    let demand = json!({"access_token": {"nbf": {"essential": true, "value": "1764000000"}}});
    set(&stage, json!({"token": {"claims": demand}})).await;
    assert_eq!(native.document(NSG).await, before);
    // Whoever comes later has it from the first.
    assert_eq!(native.document(ROUTES).await["value"].as_array().map(Vec::is_empty), Some(false));
    // Something else is demanded, again and again: that is a refusal, after one more token.
    let other = "Bearer claims=\"eyJhIjp7fX0=\"";
    set(
        &stage,
        json!({"fault": {"match": "tf-dest-vm-nsg", "status": 401, "headers": {"WWW-Authenticate": other}, "times": 9,
            "body": {"error": {"code": "InvalidAuthenticationToken", "message": "More is demanded."}}}}),
    )
    .await;
    let refused = native.line(NSG).await;
    assert_eq!(class(&refused), FailureClass::Expired, "{refused:?}");
    let all = native.audit();
    let last = all.iter().rev().find(|record| record["kind"] == "done").unwrap();
    assert_eq!(last["sandbox"]["details"].to_string().matches("tf-dest-vm-nsg: 401").count(), 2, "{last}");
    stage.down().await;
}

#[tokio::test]
async fn an_identity_endpoint_that_hangs_is_left_at_once_by_whoever_is_canceled() {
    let stage = Stage::quiet().await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/msi/token", silent.local_addr().unwrap());
    let native = Native::with(&stage, MANAGED, &[("IDENTITY_ENDPOINT", &endpoint)]);
    let (cancel, signal) = Cancel::new();
    let line = format!("az {NSG}");
    let running = native.shell.run_until(&line, "why?", signal);
    let other = native.shell.run_until("az group list", "why?", CancelSignal::never());
    tokio::pin!(running, other);
    let connection = tokio::select! {
        biased;
        ended = &mut running => panic!("it ended by itself: {ended:?}"),
        ended = &mut other => panic!("it ended by itself: {ended:?}"),
        connection = silent.accept() => connection.unwrap(),
    };
    cancel.cancel();
    let stopped = tokio::select! {
        biased;
        ended = &mut other => panic!("it ended by itself: {ended:?}"),
        stopped = &mut running => stopped,
    };
    assert_eq!((stopped.exit_code, stopped.error), (None, Some(Problem::Canceled)), "{stopped:?}");
    drop(connection);
    stage.down().await;
}

#[tokio::test]
async fn an_identity_that_gets_no_token_says_so() {
    let stage = Stage::quiet().await;
    for (status, body) in [
        (400, json!({"error": "invalid_request", "error_description": "Identity not found"})),
        (200, json!({})),
    ] {
        set(
            &stage,
            json!({"fault": {"match": "GET /msi/token", "status": status, "body": body, "times": 9}}),
        )
        .await;
        let response = Native::over(&stage).line(NSG).await;
        assert_eq!(class(&response), FailureClass::Expired, "{response:?}");
        set(&stage, json!({"clear": true})).await;
    }
    stage.down().await;
}

/// A proxy in front of the lab that cuts the first connections off.
struct Cutting {
    address: String,
    cut: Arc<AtomicUsize>,
    work: JoinSet<()>,
}

impl Cutting {
    /// Cuts so many connections after so many bytes of answers.
    async fn up(stage: &Stage, count: usize, after: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (cut, port) = (Arc::new(AtomicUsize::new(count)), stage.port);
        let left = Arc::clone(&cut);
        let mut work = JoinSet::new();
        work.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let ends =
                    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
                open.spawn(async move {
                    let mut lab = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                    if !ends {
                        drop(copy_bidirectional(&mut client, &mut lab).await);
                        return;
                    }
                    let (mut from, mut to) = lab.split();
                    let (mut read, mut write) = client.split();
                    let answers = async {
                        let (mut left, mut bytes) = (after, vec![0; 4_096]);
                        while left > 0 {
                            let room = left.min(bytes.len());
                            let count = from.read(&mut bytes[..room]).await.unwrap_or_default();
                            if count == 0 || write.write_all(&bytes[..count]).await.is_err() {
                                return;
                            }
                            left -= count;
                        }
                    };
                    tokio::select! {
                        () = answers => {}
                        _ = tokio::io::copy(&mut read, &mut to) => {}
                    }
                });
            }
        });
        Self { address, cut, work }
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_is_made_anew_and_an_outage_says_so() {
    let stage = Stage::quiet().await;
    let whole = Native::over(&stage).document("network nsg list").await;
    for after in [0, 60, 2_500] {
        let mut proxy = Cutting::up(&stage, 2, after).await;
        let names =
            [("https_proxy", proxy.address.as_str()), ("no_proxy", "127.0.0.1"), ("NO_PROXY", "127.0.0.1")];
        let native = Native::with(&stage, MANAGED, &names);
        assert_eq!(native.document("network nsg list").await, whole, "{after}");
        assert_eq!(proxy.cut.load(Ordering::SeqCst), 0, "{after}: nothing was cut");
        proxy.cut.store(1_000, Ordering::SeqCst);
        let native = Native::with(&stage, MANAGED, &names);
        assert_eq!(class(&native.line("network nsg list").await), FailureClass::Unreachable, "{after}");
        proxy.work.shutdown().await;
    }
    stage.down().await;
}

#[tokio::test]
async fn a_line_that_takes_too_long_or_is_canceled_ends() {
    let stage = Stage::quiet().await;
    set(&stage, json!({"lro_polls": 1_000_000})).await;
    let native = Native::within(&stage, MANAGED, &[], Duration::from_secs(1));
    let late = native.line(ROUTES).await;
    assert_eq!((late.exit_code, late.error), (None, Some(Problem::Timeout)), "{late:?}");
    let native = Native::over(&stage);
    let (cancel, signal) = Cancel::new();
    let line = format!("az {ROUTES}");
    let running = native.shell.run_until(&line, "why?", signal);
    tokio::pin!(running);
    let begun = async {
        while !native.audit().iter().any(|record| record["kind"] == "intent") {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = &mut running => panic!("it ended by itself: {ended:?}"),
        () = begun => cancel.cancel(),
    }
    let stopped = running.await;
    assert_eq!((stopped.exit_code, stopped.error), (None, Some(Problem::Canceled)), "{stopped:?}");
    stage.down().await;
}
