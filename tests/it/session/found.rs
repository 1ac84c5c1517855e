//! What only the machine of the gate can tell about a command: somebody is asked with what was found, and the record says it.

use std::path::Path;

use ghost_investigate::event::{Event, Reply};
use ghost_session::{DriveOutcome, export};
use ghost_shell::Support;

use super::replay::{decide, known, seal};
use super::world::{World, conclude, run, suppose, times};
use ghost_investigate::replay::Wording;

const KEY: &str = "-----BEGIN PRIVATE KEY-----";
const CAPTURE: [u8; 24] =
    [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];

/// Makes a world whose model reads a file that is named as a capture and is a key.
fn reading() -> (World, String) {
    let path = tempfile::tempdir().unwrap().keep().join("key.pcap");
    std::fs::write(&path, KEY).unwrap();
    let path = path.to_string_lossy().into_owned();
    (World::new(&[suppose(), run(&format!("capinfos {path}")), conclude("REFUTED")]), path)
}

fn deny() -> Reply {
    Reply::Deny { reason: "it is a key".to_owned() }
}

/// Returns rule and reason of what a session asks.
async fn asks(world: &World) -> (String, String, String) {
    let question = world.question().await;
    let state = world.state().await;
    let asked = &state.approvals.get(&question).unwrap().requested;
    let judged = &state.step(asked.step).unwrap().round().unwrap().classified;
    assert_eq!((judged.verdict.as_str(), judged.round), ("RISKY", asked.round));
    (question, judged.rule.clone(), judged.reason.clone())
}

async fn ended(world: &World) -> (String, String, Option<i32>) {
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let state = world.state().await;
    let done = state.steps.first().unwrap().done.clone().unwrap();
    (done.status, done.action, done.exit_code)
}

#[tokio::test]
async fn what_was_found_is_asked_and_runs_exactly_once_when_it_is_approved() {
    let (world, path) = reading();
    world.mention("look at 5001").await;
    let (question, rule, reason) = asks(&world).await;
    assert_eq!(rule, "file.capture");
    assert!(reason.contains(&path) && reason.contains("does not begin as one"), "{reason}");
    times(&world.recorded().await, "executing", 0);
    world.answer(&question, "ben", Reply::Approve).await;
    let (status, action, exit_code) = ended(&world).await;
    assert_eq!((status.as_str(), action.as_str()), ("completed", "user_approved"));
    assert!(exit_code.is_some_and(|code| code != 0), "a key is no capture: {exit_code:?}");
    let events = world.recorded().await;
    for (kind, wanted) in [("classified", 2), ("approval_requested", 1), ("intent", 1), ("executing", 1)] {
        times(&events, kind, wanted);
    }
    let audit = std::fs::read_to_string(world.path("data/audit/ghost-test.jsonl")).unwrap();
    assert!(audit.contains(r#""rule":"file.capture""#), "{audit}");
}

#[tokio::test]
async fn a_no_is_a_no_although_the_file_is_a_capture_by_then() {
    let (world, path) = reading();
    world.mention("look at 5001").await;
    let (question, ..) = asks(&world).await;
    world.answer(&question, "ben", deny()).await;
    std::fs::write(&path, CAPTURE).unwrap();
    let (status, action, exit_code) = ended(&world).await;
    assert_eq!((status.as_str(), action.as_str(), exit_code), ("denied", "user_denied", None));
    times(&world.recorded().await, "executing", 0);
    let results = world.results().await;
    assert_eq!(results.get(1).unwrap()["_meta"]["denial_reason"], "it is a key");
}

#[tokio::test]
async fn a_yes_is_used_although_the_file_is_a_capture_by_then() {
    let (world, path) = reading();
    world.mention("look at 5001").await;
    let (question, ..) = asks(&world).await;
    world.answer(&question, "ben", Reply::Approve).await;
    std::fs::write(&path, CAPTURE).unwrap();
    let (status, action, exit_code) = ended(&world).await;
    assert_eq!((status.as_str(), action.as_str(), exit_code), ("completed", "user_approved", Some(0)));
}

#[tokio::test]
async fn whoever_approved_one_thing_is_asked_again_about_another() {
    let (world, path) = reading();
    world.mention("look at 5001").await;
    let (first, ..) = asks(&world).await;
    world.answer(&first, "ben", Reply::Approve).await;
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/shadow", &path).unwrap();
    let (second, rule, reason) = asks(&world).await;
    assert_ne!(first, second);
    assert!(rule == "file.capture" && reason.contains("is a link"), "{rule}: {reason}");
    times(&world.recorded().await, "executing", 0);
    world.answer(&second, "ben", deny()).await;
    let (status, action, _) = ended(&world).await;
    assert_eq!((status.as_str(), action.as_str()), ("denied", "user_denied"));
    times(&world.recorded().await, "executing", 0);
}

#[tokio::test]
async fn a_changed_command_is_looked_at_too() {
    let (world, path) = reading();
    let other = Path::new(&path).with_file_name("other.pcap");
    std::fs::write(&other, KEY).unwrap();
    world.mention("look at 5001").await;
    let (first, ..) = asks(&world).await;
    world.answer(&first, "ben", Reply::Modify { command: format!("capinfos {}", other.display()) }).await;
    let (second, rule, reason) = asks(&world).await;
    assert!(rule == "file.capture" && reason.contains("other.pcap"), "{rule}: {reason}");
    world.answer(&second, "cem", Reply::Approve).await;
    let (status, action, _) = ended(&world).await;
    assert_eq!((status.as_str(), action.as_str()), ("completed", "user_modified"));
    times(&world.recorded().await, "executing", 1);
}

#[tokio::test]
async fn what_a_server_may_send_on_is_asked_about() {
    let command = "curl -sSL --max-redirs 2 http://127.0.0.1:1/a http://127.0.0.1:1/b";
    let world = World::new(&[suppose(), run(command), conclude("REFUTED")]);
    world.mention("look at 5001").await;
    let (question, rule, _) = asks(&world).await;
    assert_eq!(rule, "redirect.followed");
    world.answer(&question, "ben", Reply::Approve).await;
    assert_eq!(ended(&world).await.0, "completed");
    times(&world.recorded().await, "executing", 1);
}

#[tokio::test]
async fn a_machine_without_a_sandbox_asks_in_a_session_that_was_opened_with_one() {
    let mut world = World::new(&[suppose(), run("uname -s"), conclude("REFUTED")]);
    world.support = Some(Support { landlock: None, seccomp: true, processes: true, ping_unconfined: false });
    world.mention("look at 5001").await;
    let (question, rule, _) = asks(&world).await;
    assert_eq!(rule, "sandbox.missing");
    world.answer(&question, "ben", Reply::Approve).await;
    let (status, action, exit_code) = ended(&world).await;
    assert_eq!((status.as_str(), action.as_str(), exit_code), ("completed", "user_approved", Some(0)));
}

#[tokio::test]
async fn without_a_sandbox_the_question_names_the_file_as_well() {
    let (mut world, path) = reading();
    world.without_sandbox = true;
    world.mention("look at 5001").await;
    let (question, rule, reason) = asks(&world).await;
    assert_eq!(rule, "file.capture");
    assert!(reason.contains(&path) && reason.contains("no sandbox"), "{reason}");
    world.answer(&question, "ben", Reply::Approve).await;
    assert_eq!(ended(&world).await.1, "user_approved");
    times(&world.recorded().await, "approval_requested", 1);
}

#[tokio::test]
async fn the_record_replays_where_the_file_is_not_and_shows_what_was_made_up() {
    let (world, path) = reading();
    world.mention("look at 5001").await;
    let (question, ..) = asks(&world).await;
    world.answer(&question, "ben", Reply::Approve).await;
    ended(&world).await;
    let text = world.exported().await;
    std::fs::remove_file(&path).unwrap();
    let export = export::read(text.as_bytes()).unwrap();
    let recorded = world.recorded().await;
    let replayed = decide(&export.session, &recorded, &export, Wording::Same);
    assert_eq!(replayed.unwrap().events, u64::try_from(recorded.len()).unwrap());
    type Change = fn(&mut Event);
    let changes: [(&str, Change); 4] = [
        ("a rule of the words", |event| {
            if let Event::Classified(judged) = event {
                judged.rule = judged.rule.replace("file.capture", "program.unknown");
            }
        }),
        ("another command", |event| {
            if let Event::Classified(judged) = event
                && judged.rule == "file.capture"
            {
                judged.command.push('x');
            }
        }),
        ("a milder impact", |event| {
            if let Event::Classified(judged) = event
                && judged.rule == "file.capture"
            {
                judged.impact = Some(ghost_investigate::event::Impact::Measurement);
            }
        }),
        ("that it is SAFE", |event| {
            if let Event::Classified(judged) = event
                && judged.rule == "file.capture"
            {
                judged.verdict = "SAFE".to_owned();
            }
        }),
    ];
    for (what, change) in changes {
        let mut events = known(&recorded);
        events.iter_mut().for_each(|(_, event)| change(event));
        let found = decide(&export.session, &seal(&export.session, &events), &export, Wording::Free);
        assert!(found.is_err(), "{what}");
    }
    // Without what was found nobody would have been asked.
    let mut events = known(&recorded);
    events.retain(|(_, event)| !matches!(event, Event::Classified(judged) if judged.rule == "file.capture"));
    assert!(decide(&export.session, &seal(&export.session, &events), &export, Wording::Free).is_err());
}
