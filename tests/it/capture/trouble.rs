//! Captures whose cloud is in trouble: throttled, signed out, full, rivals, garbage, files that come in parts.

use ghost_cloud::capture::{CaptureRequestError, CaptureTask, Instruction, State};
use ghost_lab::azure::Verb;
use serde_json::{Value, json};

use super::stage::{ACCOUNT, GROUP, ONE, PAIR, Stage};

fn throttled(pattern: &str, times: u32) -> Value {
    json!({"fault": {"match": pattern, "status": 429, "headers": {"Retry-After": "1"}, "times": times,
        "body": {"error": {"code": "TooManyRequests", "message": "The request is being throttled."}}}})
}

/// What went wrong with the first end.
fn trouble(task: &CaptureTask) -> String {
    let trouble = task.ends[0].trouble.clone().unwrap_or_else(|| panic!("{task:#?}"));
    format!("{} / {}", trouble.text, trouble.hint.unwrap_or_default())
}

#[tokio::test]
async fn throttled_reads_wait_and_go_on() {
    let stage = Stage::up(None).await;
    // More often than `az` itself tries.
    stage.set(throttled("GET .*virtualMachines/tf-dest-vm", 6)).await;
    let executor = stage.executor("");
    let task = executor.end(stage.task(&ONE)).await;
    assert_eq!(task.state(), State::Done, "{task:#?}");
    assert_eq!(executor.count("packet-capture create"), 1);
    stage.down().await;
}

#[tokio::test]
async fn a_throttled_beginning_is_looked_for_and_not_begun_twice() {
    let stage = Stage::up(None).await;
    stage.set(throttled("PUT .*packetCaptures/ghost-s1-1", 9)).await;
    let executor = stage.executor("");
    let task = executor.end(stage.task(&ONE)).await;
    assert_eq!((task.state(), executor.count("packet-capture create")), (State::Failed, 1), "{task:#?}");
    assert!(stage.there().await.is_empty());
    stage.down().await;
}

#[tokio::test]
async fn a_token_that_expires_while_it_records_loses_nothing() {
    let stage = Stage::up(None).await;
    let executor = stage.executor("");
    executor.says.lock().unwrap().push_back((State::Recording, Instruction::Leave));
    let mut task = stage.task(&ONE);
    drop(executor.drive(&mut task).await);
    assert_eq!(task.state(), State::Recording);
    stage.set(json!({"token": "expired"})).await;
    let mut task = executor.end(task).await;
    assert_eq!(task.state(), State::NeedsCleanup, "{task:#?}");
    assert!(task.ends[0].resumable && trouble(&task).contains("sign in"), "{}", trouble(&task));
    stage.set(json!({"token": "good"})).await;
    task.resume();
    let task = executor.end(task).await;
    assert_eq!(task.state(), State::Done, "{task:#?}");
    assert_eq!(executor.count("packet-capture create"), 1);
    stage.down().await;
}

#[tokio::test]
async fn an_expired_token_at_the_beginning_changes_nothing() {
    let stage = Stage::up(None).await;
    stage.set(json!({"token": "expired"})).await;
    let executor = stage.executor("");
    let task = executor.end(stage.task(&PAIR)).await;
    assert_eq!((task.state(), executor.asked.lock().unwrap().len()), (State::Failed, 0), "{task:#?}");
    assert!(trouble(&task).contains("sign in"), "{}", trouble(&task));
    stage.down().await;
}

#[tokio::test]
async fn what_records_there_already_blocks_a_capture_and_stays() {
    let stage = Stage::up(None).await;
    stage.others("nightly", "tf-dest-vm").await;
    let task = stage.executor("").end(stage.task(&ONE)).await;
    assert_eq!(task.state(), State::Failed);
    assert!(trouble(&task).contains("nightly records on tf-dest-vm already"), "{}", trouble(&task));
    assert_eq!(
        (stage.there().await, stage.status("nightly").await),
        (vec!["nightly".to_owned()], "Running".to_owned())
    );
    // On another machine it is nobody's business.
    let task =
        CaptureTask::new("s2".parse().unwrap(), 1, stage.order(&["tf-source-vm"]), stage.now()).unwrap();
    assert_eq!(stage.executor("").end(task).await.state(), State::Done);
    assert_eq!(stage.there().await, ["nightly"]);
    stage.down().await;
}

#[tokio::test]
async fn a_full_region_is_reported() {
    let stage = Stage::up(None).await;
    stage.set(json!({"capture_limit": 0})).await;
    let task = stage.executor("").end(stage.task(&ONE)).await;
    assert_eq!(task.state(), State::Failed);
    assert!(trouble(&task).contains("Cannot create more than"), "{}", trouble(&task));
    stage.down().await;
}

#[tokio::test]
async fn a_machine_without_the_extension_is_reported_with_a_hint() {
    let stage = Stage::up(None).await;
    let id = format!(
        "{GROUP}/providers/Microsoft.Compute/virtualMachines/tf-dest-vm/extensions/NetworkWatcherAgentLinux"
    );
    stage.set(json!({"remove": id})).await;
    let executor = stage.executor("");
    let task = executor.end(stage.task(&PAIR)).await;
    assert!(executor.count("packet-capture create") <= 1, "{task:#?}");
    let printed_text = task.ends[1].trouble.clone().unwrap();
    assert!(
        printed_text.text.contains("lacks the extension")
            && printed_text.hint.unwrap().contains("az vm extension set")
    );
    stage.down().await;
}

#[tokio::test]
async fn a_machine_that_is_off_is_reported() {
    let stage = Stage::up(None).await;
    stage.set(json!({"power": {"tf-dest-vm": "deallocated"}})).await;
    let task = stage.executor("").end(stage.task(&ONE)).await;
    assert!(trouble(&task).contains("VM deallocated / start it: az vm start"), "{}", trouble(&task));
    stage.down().await;
}

#[tokio::test]
async fn garbage_and_half_answers_are_read_again_and_then_reported() {
    // `head` is no program that a command in the cage may start; the shell's own words are.
    for (text, expected) in [
        ("echo garbage; exit 0", "cannot be read"),
        ("echo '{\"location\": \"eas'; exit 0", "cannot be read"),
        ("exit 0", "cannot be read"),
        ("echo '[]'; exit 0", "cannot be read"),
    ] {
        let stage = Stage::up(None).await;
        stage.az(&format!("case \"$*\" in *'vm show'*) {text};; esac"));
        let executor = stage.executor("");
        let task = executor.end(stage.task(&ONE)).await;
        assert_eq!(task.state(), State::Failed);
        assert!(trouble(&task).contains(expected), "{text}: {}", trouble(&task));
        assert!(executor.count("vm show") > 1, "{text}");
        stage.down().await;
    }
}

#[tokio::test]
async fn garbage_in_the_place_of_a_beginning_is_resolved_by_a_read() {
    let stage = Stage::up(None).await;
    stage.az(
        "case \"$*\" in *'packet-capture create'*) \"$az\" \"$@\" > /dev/null; echo garbage; exit 1;; esac",
    );
    let executor = stage.executor("");
    let task = executor.end(stage.task(&ONE)).await;
    assert_eq!((task.state(), executor.count("packet-capture create")), (State::Done, 1), "{task:#?}");
    stage.down().await;
}

#[tokio::test]
async fn a_file_that_was_cut_off_is_fetched_again() {
    let stage = Stage::up(None).await;
    let captures = stage.captures().display().to_string();
    stage.az(&format!(
        "case \"$*\" in *'blob download'*) if [ ! -e {captures}/cut ]; then \"$az\" \"$@\"; : > {captures}/cut; echo x > {captures}/ghost-s1-1.cap; exit 0; fi;; esac"
    ));
    let executor = stage.executor("");
    let task = executor.end(stage.task(&ONE)).await;
    assert_eq!((task.state(), executor.count("blob download")), (State::Done, 2), "{task:#?}");
    stage.down().await;
}

#[tokio::test]
async fn a_file_that_is_cut_off_again_and_again_stays_in_the_cloud() {
    let stage = Stage::up(None).await;
    let captures = stage.captures().display().to_string();
    stage.az(&format!("case \"$*\" in *'blob download'*) echo x > {captures}/ghost-s1-1.cap; exit 0;; esac"));
    let executor = stage.executor("");
    let mut task = executor.end(stage.task(&ONE)).await;
    assert_eq!(task.state(), State::NeedsCleanup, "{task:#?}");
    assert!(trouble(&task).contains("is no whole capture: 2 of"), "{}", trouble(&task));
    assert!(stage.stored("ghost-s1-1.cap").await, "the evidence is still there");
    stage.az("");
    task.resume();
    assert_eq!(executor.end(task).await.state(), State::Done);
    stage.down().await;
}

#[tokio::test]
async fn a_missing_or_closed_account_is_reported_before_anybody_is_asked() {
    let stage = Stage::up(None).await;
    let id = format!("{GROUP}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}");
    stage.set(json!({"remove": id})).await;
    let executor = stage.executor("");
    let task = executor.end(stage.task(&ONE)).await;
    assert_eq!((task.state(), executor.asked.lock().unwrap().len()), (State::Failed, 0));
    assert!(trouble(&task).contains("[capture] storage_group"), "{}", trouble(&task));
    let (status, _) = stage.send(Verb::Get, &id, &Value::Null).await;
    assert_eq!(status, 404);
    stage.down().await;
}

#[tokio::test]
async fn what_is_investigated_is_no_place_for_captures() {
    let stage = Stage::up(None).await;
    let refused = stage.order(&ONE).check(&[ACCOUNT.to_uppercase()]).unwrap_err();
    assert_eq!(refused, CaptureRequestError::Subject(ACCOUNT.to_owned()));
    assert!(refused.to_string().contains("is what is being investigated") && refused.hint().is_some());
    stage.down().await;
}
