//! Captures without an owner: what is ours is found and cleaned, what is somebody else's is left alone.

use std::time::{Duration, SystemTime};

use ghost_base::SessionId;
use ghost_cloud::capture::{Instruction, Life, State, left_over, search};
use ghost_cloud::{Name, ResourceGroup};

use super::stage::{ONE, Stage};

fn place() -> ResourceGroup {
    ResourceGroup { subscription: None, group: Name::parse("none").unwrap() }
}

#[tokio::test]
async fn what_a_dead_session_left_is_found_and_cleaned_and_nothing_else() {
    let stage = Stage::up(None).await;
    // A session that died while it recorded, and whose task nobody has any more.
    let executor = stage.executor("");
    executor.says.lock().unwrap().push_back((State::Recording, Instruction::Leave));
    let mut task = stage.task(&ONE);
    drop(executor.drive(&mut task).await);
    assert_eq!(task.state(), State::Recording);
    stage.pass(100).await;
    stage.others("nightly", "tf-source-vm").await;
    stage.finish("nightly").await;
    stage.others("ghost-elsewhere-1", "tf-source-vm").await;

    let storage = task.order.storage.clone();
    let dead = |session: &SessionId| if session.as_str() == "s1" { Life::Dead } else { Life::Unknown };
    let executor = stage.executor("");
    let printed_text =
        search(executor.gate(), &place(), std::slice::from_ref(&task), Some(&storage), &dead).await.unwrap();
    assert_eq!(printed_text.orphans.len(), 0, "its task owns it");
    let alive = |_: &SessionId| Life::Alive;
    assert_eq!(
        search(executor.gate(), &place(), &[], Some(&storage), &alive).await.unwrap().orphans.len(),
        0
    );

    let mut found = search(executor.gate(), &place(), &[], Some(&storage), &dead).await.unwrap();
    let names: Vec<&str> = found.orphans.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, found.orphans[0].orphan.file), (vec!["ghost-s1-1"], true));
    assert_eq!(found.foreign, ["ghost-elsewhere-1"]);

    let denied = stage.executor("delete");
    assert_eq!(found.clean(denied.gate(), &place(), Some(&storage)).await, Vec::<String>::new());
    assert!(found.orphans.len() == 1 && found.warnings[0].contains("keep it"), "{found:?}");
    assert_eq!(found.clean(executor.gate(), &place(), Some(&storage)).await, ["ghost-s1-1"]);
    assert_eq!((found.orphans.len(), executor.asked.lock().unwrap().as_slice()[0].len()), (0, 2));
    let mut there = stage.there().await;
    there.sort();
    assert_eq!(there, ["ghost-elsewhere-1", "nightly"]);
    assert!(!stage.stored("ghost-s1-1.cap").await);
    stage.down().await;
}

#[tokio::test]
async fn a_task_that_nobody_drives_is_left_over_after_its_time() {
    let stage = Stage::up(None).await;
    let task = stage.task(&ONE);
    let tasks = std::slice::from_ref(&task);
    let later = |seconds| task.opened.plus(Duration::from_secs(seconds));
    assert_eq!(left_over(tasks, later(600)), Vec::<String>::new());
    assert_eq!(left_over(tasks, later(4_000)), ["s1-1"]);
    let mut over = task.clone();
    over.cancel();
    assert_eq!(left_over(std::slice::from_ref(&over), later(4_000)), Vec::<String>::new());
    stage.down().await;
}

#[tokio::test]
async fn the_subcommand_goes_by_the_audit_of_a_session() {
    let stage = Stage::up(None).await;
    let executor = stage.executor("");
    executor.says.lock().unwrap().push_back((State::Recording, Instruction::Leave));
    drop(executor.drive(&mut stage.task(&ONE)).await);
    std::fs::remove_file(stage.data().join("captures/s1-1.json")).unwrap();
    let printed_text = stage.ghost(&["capture", "orphans", "--json", "--exit-code"]).await;
    assert_eq!(
        (printed_text.code, &printed_text.json["orphans"]),
        (Some(0), &serde_json::json!([])),
        "{printed_text:?}"
    );
    // It was silent for seven hours.
    let audit = std::fs::File::options().append(true).open(stage.data().join("audit/s1.jsonl")).unwrap();
    audit.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    let printed_text = stage.ghost(&["capture", "orphans", "--json", "--exit-code"]).await;
    assert_eq!(
        (printed_text.code, &printed_text.json["orphans"][0]["name"]),
        (Some(3), &"ghost-s1-1".into()),
        "{printed_text:?}"
    );
    // Nobody is at the terminal: nothing goes.
    let printed_text = stage.ghost(&["capture", "orphans", "--clean", "--approve", "deny", "--json"]).await;
    assert_eq!(printed_text.json["orphans"][0]["name"], "ghost-s1-1", "{printed_text:?}");
    assert_eq!(stage.there().await, ["ghost-s1-1"]);
    stage.down().await;
}
