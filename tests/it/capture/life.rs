//! Captures on the served lab, from the first look to what is cleaned up.

use ghost_cloud::capture::{
    Analysis, CaptureRequest, CaptureTask, Instruction, Left, Phase, RequestedState, State,
};

use super::stage::{CONTAINER, ONE, PAIR, Stage};
use crate::azure::real_az::program;
use crate::random::is_long;

/// Nothing of a task is left in the cloud, and exactly one capture of each end was begun.
async fn is_clean(stage: &Stage, task: &CaptureTask) {
    assert_eq!(stage.there().await, Vec::<String>::new());
    for end in &task.ends {
        assert!(!stage.stored(&end.file()).await, "{}", end.file());
    }
}

async fn one(stage: Stage) {
    let executor = stage.executor("");
    let task = executor.end(stage.task(&ONE)).await;
    assert_eq!(task.state(), State::Done, "{task:#?}");
    let Phase::Kept { packets, cut_off, .. } = task.ends[0].phase else { panic!("{task:#?}") };
    assert!(packets > 0 && !cut_off, "{task:#?}");
    assert_eq!(task.ends[0].stop_reason.as_deref(), Some("TimeExceeded"));
    let asked: Vec<usize> = executor.asked.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(asked, [1, 2], "once to begin, once to clean up");
    assert_eq!((executor.count("packet-capture create"), executor.count("packet-capture stop")), (1, 0));
    for file in [".cap", "_semantic.json", "_forensic_report.md"] {
        let path = stage.captures().join(format!("ghost-s1-1{file}"));
        assert!(path.is_file(), "{}", path.display());
    }
    is_clean(&stage, &task).await;
    assert!(stage.stored("older.cap").await, "what was there before stays");
    stage.down().await;
}

async fn pair(stage: Stage) {
    let executor = stage.executor("");
    let filters = vec!["protocol=tcp,remote-port=5001".parse().unwrap()];
    let order = CaptureRequest { filters, ..stage.order(&PAIR) };
    let task = CaptureTask::new("s1".parse().unwrap(), 1, order.check(&[]).unwrap(), stage.now()).unwrap();
    let task = executor.end(task).await;
    assert_eq!(task.state(), State::Done, "{task:#?}");
    let asked: Vec<usize> = executor.asked.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(asked, [2, 4], "both ends under one consent each");
    let text = std::fs::read_to_string(stage.captures().join("ghost-s1-1_comparison.md")).unwrap();
    let place = |end: &str| text.find(&format!("ghost-s1-1-{end}.cap")).unwrap();
    assert!(place("src") < place("dst"));
    let Analysis { findings, .. } = task.analysis.clone().unwrap();
    assert!(findings[0].starts_with("between both ends: "), "{findings:?}");
    let ran = executor.ran.lock().unwrap().clone();
    let create = |end: &str| ran.iter().find(|line| line.contains("create") && line.contains(end)).unwrap();
    assert!(create("-src").contains("remotePort") && create("-src").contains("tf-source-vm"));
    assert!(create("-dst").contains("localPort") && create("-dst").contains("tf-dest-vm"));
    is_clean(&stage, &task).await;
    stage.down().await;
}

#[tokio::test]
async fn a_capture_goes_from_the_first_look_to_done() {
    one(Stage::up(None).await).await;
}

#[tokio::test]
async fn a_pair_is_captured_together_and_compared() {
    pair(Stage::up(None).await).await;
}

/// In the long run alone: two ends take the same lines, and more.
#[tokio::test]
async fn a_capture_goes_from_the_first_look_to_done_with_the_real_az() {
    let Some(az) = program().filter(|_| is_long()) else { return };
    one(Stage::up(Some(&az)).await).await;
}

#[tokio::test]
async fn a_pair_is_captured_together_and_compared_with_the_real_az() {
    let Some(az) = program() else { return };
    pair(Stage::up(Some(&az)).await).await;
}

#[tokio::test]
async fn a_canceled_capture_is_stopped_on_the_platform_and_keeps_nothing() {
    let stage = Stage::up(None).await;
    let executor = stage.executor("");
    executor.says.lock().unwrap().push_back((State::Recording, Instruction::Cancel));
    let task = executor.end(stage.task(&PAIR)).await;
    assert_eq!((task.state(), task.wish), (State::Canceled, RequestedState::Cancel), "{task:#?}");
    assert_eq!(executor.count("packet-capture stop"), 2);
    assert_eq!(executor.count("blob download"), 0);
    is_clean(&stage, &task).await;
    stage.down().await;
}

#[tokio::test]
async fn a_capture_that_is_stopped_early_keeps_what_it_has() {
    let stage = Stage::up(None).await;
    let executor = stage.executor("");
    executor.says.lock().unwrap().push_back((State::Recording, Instruction::Stop));
    let task = executor.end(stage.task(&ONE)).await;
    assert_eq!(task.state(), State::Done, "{task:#?}");
    assert_eq!(task.ends[0].stop_reason.as_deref(), Some("Manual"));
    is_clean(&stage, &task).await;
    stage.down().await;
}

#[tokio::test]
async fn a_denied_stop_lets_it_run_to_its_end() {
    let stage = Stage::up(None).await;
    let executor = stage.executor("packet-capture stop");
    executor.says.lock().unwrap().push_back((State::Recording, Instruction::Cancel));
    let task = executor.end(stage.task(&ONE)).await;
    assert_eq!(task.state(), State::Canceled, "{task:#?}");
    assert!(task.ends[0].notes.iter().any(|note| note.contains("was denied: keep it")), "{task:#?}");
    is_clean(&stage, &task).await;
    stage.down().await;
}

async fn denied(stage: Stage) {
    let task = stage.executor(" delete ").end(stage.task(&ONE)).await;
    assert_eq!(task.state(), State::NeedsCleanup, "{task:#?}");
    assert!(stage.there().await.contains(&"ghost-s1-1".to_owned()) && stage.stored("ghost-s1-1.cap").await);
    // It stays so however often it is read, and nobody is asked again by itself.
    let executor = stage.executor("");
    let task = executor.end(stage.store().load("s1-1").unwrap()).await;
    assert_eq!((task.state(), executor.ran.lock().unwrap().len()), (State::NeedsCleanup, 0));
    let mut task = stage.store().load("s1-1").unwrap();
    task.clean_up();
    let task = executor.end(task).await;
    assert_eq!(task.state(), State::Done, "{task:#?}");
    is_clean(&stage, &task).await;
    stage.down().await;
}

#[tokio::test]
async fn a_denied_clean_up_needs_cleanup_until_a_later_one_is_done() {
    denied(Stage::up(None).await).await;
}

#[tokio::test]
async fn a_denied_clean_up_needs_cleanup_with_the_real_az_too() {
    let Some(az) = program() else { return };
    denied(Stage::up(Some(&az)).await).await;
}

#[tokio::test]
async fn a_file_whose_removal_is_denied_alone_is_what_needs_cleanup() {
    let stage = Stage::up(None).await;
    let mut task = stage.executor(" delete ").end(stage.task(&ONE)).await;
    task.clean_up();
    stage.az("case \"$*\" in *'blob delete'*) echo 'ERROR: (AuthorizationFailed) The client does not have authorization to perform action Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete over scope /s.' >&2; exit 1;; esac");
    let task = stage.executor("").end(task).await;
    assert_eq!(task.state(), State::NeedsCleanup);
    assert_eq!((task.ends[0].capture.left, task.ends[0].blob.left), (Left::Gone, Left::There));
    assert!(stage.stored("ghost-s1-1.cap").await && stage.there().await.is_empty());
    stage.down().await;
}

#[tokio::test]
async fn only_the_configured_container_is_written_to() {
    let stage = Stage::up(None).await;
    let executor = stage.executor("");
    executor.end(stage.task(&ONE)).await;
    let ran = executor.ran.lock().unwrap().clone();
    let storage: Vec<&String> = ran.iter().filter(|line| line.contains("az storage blob")).collect();
    assert!(!storage.is_empty() && storage.iter().all(|line| line.contains(CONTAINER)), "{storage:?}");
    stage.down().await;
}
