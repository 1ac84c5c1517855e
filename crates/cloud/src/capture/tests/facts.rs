//! Facts over scripted answers.

use serde_json::Value;

use super::world::{BROKEN, FORBIDDEN, THROTTLED, World, analysis, at, denied, failed, printed, task};
use crate::capture::{
    CaptureStep, CaptureTask, CommandOutcome, Left, NextStep, Phase, Role, State, StepKind,
};

const ONE: [&str; 1] = ["tf-dest-vm"];
const PAIR: [&str; 2] = ["tf-source-vm", "tf-dest-vm"];

fn nothing(_: &mut World, _: &CaptureStep) -> Option<CommandOutcome> {
    None
}

fn run(task: &mut CaptureTask) -> World {
    let mut world = World::new();
    world.drive(task, &mut nothing);
    world
}

#[test]
fn a_capture_goes_from_checks_to_done_and_leaves_nothing() {
    let mut task = task(&ONE);
    let world = run(&mut task);
    assert_eq!((task.state(), world.holds_ours()), (State::Done, false));
    assert_eq!(world.changes(), [StepKind::Create, StepKind::Delete, StepKind::DeleteBlob]);
    assert!(world.captures.contains_key("nightly") && world.blobs.contains("nightly.cap"));
}

#[test]
fn it_is_looked_at_soon_and_then_when_it_should_be_over() {
    let mut task = task(&ONE);
    let world = run(&mut task);
    let polls = world.ran.iter().filter(|(what, _)| *what == StepKind::Status).count();
    assert_eq!(polls, 3, "after 5 s, after 30 s, and when it is over");
}

#[test]
fn both_ends_begin_after_all_checks_and_under_one_consent() {
    let (mut world, mut task) = (World::new(), task(&PAIR));
    let mut plans = Vec::new();
    loop {
        match task.next(world.now) {
            NextStep::Run(step) => {
                if step.line.changes() {
                    plans.push((step.what.clone(), task.plan(&step).len()));
                }
                assert!(task.begin(&step));
                let answer = world.run(&step);
                task.on_result(&step.what, step.end, &answer, world.now);
            }
            NextStep::Verify { end, .. } => task.verified(end, Ok((7, false)), world.now),
            NextStep::Analyze(work) => {
                assert_eq!(
                    work.iter().map(|one| one.role).collect::<Vec<_>>(),
                    [Role::Source, Role::Destination]
                );
                task.analyzed(analysis(Vec::new()));
            }
            NextStep::Wait { until, .. } => world.now = until,
            NextStep::Over => break,
        }
    }
    let create = [(StepKind::Create, 2), (StepKind::Create, 1)];
    let remove =
        [(StepKind::Delete, 4), (StepKind::DeleteBlob, 3), (StepKind::Delete, 2), (StepKind::DeleteBlob, 1)];
    assert_eq!(
        plans.iter().filter(|(what, _)| *what == StepKind::Create).cloned().collect::<Vec<_>>(),
        create
    );
    assert!(plans.iter().any(|plan| *plan == remove[0]) && task.state() == State::Done, "{plans:?}");
}

#[test]
fn a_machine_that_does_not_run_is_reported_with_what_to_do() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.power = "VM deallocated";
    world.drive(&mut task, &mut nothing);
    let trouble = task.ends[0].trouble.clone().unwrap();
    assert_eq!(task.state(), State::Failed);
    assert_eq!(trouble.text, "tf-dest-vm does not run: VM deallocated");
    assert!(trouble.hint.unwrap().starts_with("start it: az vm start"));
    assert!(world.changes().is_empty());
}

#[test]
fn a_capture_that_runs_on_the_machine_already_is_a_conflict() {
    let (mut world, mut task) = (World::new(), task(&["other-vm"]));
    world.drive(&mut task, &mut nothing);
    assert!(task.ends[0].trouble.as_ref().unwrap().text.contains("nightly records on other-vm already"));
    assert!(world.changes().is_empty());
}

#[test]
fn a_name_that_is_taken_is_never_used() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.blobs.insert("ghost-s1-1.cap".to_owned());
    world.drive(&mut task, &mut nothing);
    assert_eq!(task.state(), State::Failed);
    assert!(world.changes().is_empty() && world.blobs.contains("ghost-s1-1.cap"));
}

#[test]
fn a_denied_beginning_changes_nothing() {
    let (mut world, mut task) = (World::new(), task(&PAIR));
    world.drive(&mut task, &mut |_, step| (step.what == StepKind::Create).then(|| denied(true)));
    assert_eq!((task.state(), world.holds_ours()), (State::Failed, false));
    assert!(task.ends.iter().all(|end| end.trouble.as_ref().unwrap().text.contains("was denied: not now")));
}

#[test]
fn one_end_that_fails_does_not_lose_the_other() {
    let (mut world, mut task) = (World::new(), task(&PAIR));
    world.drive(&mut task, &mut |_, step| {
        (step.what == StepKind::Create && step.end == 1).then(|| denied(false))
    });
    assert_eq!(task.state(), State::Done);
    assert!(matches!(task.ends[0].phase, Phase::Kept { packets: 7, .. }));
    assert_eq!((&task.ends[1].phase, task.ends[1].capture.left), (&Phase::Failed, Left::Never));
}

#[test]
fn a_clean_up_that_was_denied_stays_visible_until_it_is_done() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.drive(&mut task, &mut |_, step| (step.what == StepKind::Delete).then(|| denied(true)));
    assert_eq!(task.state(), State::NeedsCleanup);
    assert!(world.holds_ours());
    task = CaptureTask::from_json(&task.to_json()).unwrap();
    assert_eq!(task.next(world.now), NextStep::Over, "nobody is asked again by itself");
    task.clean_up();
    world.drive(&mut task, &mut nothing);
    assert_eq!((task.state(), world.holds_ours()), (State::Done, false));
}

#[test]
fn only_a_read_says_that_it_is_gone() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.drive(&mut task, &mut |_, step| (step.what == StepKind::DeleteBlob).then(|| printed("")));
    assert_eq!(task.state(), State::NeedsCleanup);
    assert_eq!((task.ends[0].capture.left, task.ends[0].blob.left), (Left::Gone, Left::There));
}

#[test]
fn a_beginning_that_was_cut_off_is_looked_for_and_not_begun_again() {
    for took_effect in [true, false] {
        let (mut world, mut task) = (World::new(), task(&ONE));
        world.drive(&mut task, &mut |world, step| {
            (step.what == StepKind::Create).then(|| {
                if took_effect {
                    world.run(step);
                }
                CommandOutcome::Unknown { reason: "it took too long".to_owned() }
            })
        });
        let expected = if took_effect { State::Done } else { State::Failed };
        assert_eq!((task.state(), world.holds_ours()), (expected, false));
        assert!(world.created.values().all(|times| *times == 1));
    }
}

#[test]
fn found_executing_after_a_takeover_it_is_looked_for() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    loop {
        let NextStep::Run(step) = task.next(world.now) else { panic!("{task:#?}") };
        assert!(task.begin(&step));
        let answer = world.run(&step);
        if step.what == StepKind::Create {
            break;
        }
        task.on_result(&step.what, step.end, &answer, world.now);
    }
    let mut task = CaptureTask::from_json(&task.to_json()).unwrap();
    let NextStep::Run(step) = task.next(world.now) else { panic!("no read") };
    assert_eq!((step.what.clone(), step.line.changes()), (StepKind::Look, false));
    world.drive(&mut task, &mut nothing);
    assert_eq!((task.state(), world.created["ghost-s1-1"]), (State::Done, 1));
}

#[test]
fn throttling_waits_and_goes_on() {
    let (mut world, mut task, mut left) = (World::new(), task(&ONE), 3);
    world.drive(&mut task, &mut |_, step| {
        let throttles = step.what == StepKind::Machine && left > 0;
        left -= i32::from(throttles);
        throttles.then(|| failed(THROTTLED))
    });
    assert_eq!((task.state(), left), (State::Done, 0));
    assert!(world.now > at(120), "20, 40 and 60 seconds were waited");
}

#[test]
fn what_may_not_be_read_is_reported_with_the_action() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.drive(&mut task, &mut |_, step| (step.what == StepKind::Captures).then(|| failed(FORBIDDEN)));
    let trouble = task.ends[0].trouble.clone().unwrap();
    assert!(trouble.text.contains("Microsoft.Network/networkWatchers/packetCaptures/read"), "{trouble:?}");
}

#[test]
fn a_capture_that_is_stopped_early_is_kept() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    let mut asked = false;
    for _ in 0..200 {
        match task.next(world.now) {
            NextStep::Run(step) => {
                assert!(task.begin(&step));
                let answer = world.run(&step);
                task.on_result(&step.what, step.end, &answer, world.now);
            }
            NextStep::Verify { end, .. } => task.verified(end, Ok((7, false)), world.now),
            NextStep::Analyze(_) => task.analyzed(analysis(Vec::new())),
            NextStep::Wait { until, .. } if asked => world.now = until,
            NextStep::Wait { .. } => {
                asked = true;
                task.stop();
                assert_eq!(task.state(), State::Stopping);
            }
            NextStep::Over => break,
        }
    }
    assert_eq!(world.changes(), [StepKind::Create, StepKind::Stop, StepKind::Delete, StepKind::DeleteBlob]);
    assert_eq!((task.state(), world.holds_ours()), (State::Done, false));
    assert!(world.now < at(40));
}

#[test]
fn what_is_canceled_before_it_began_asks_nobody() {
    let (mut world, mut task) = (World::new(), task(&PAIR));
    task.cancel();
    world.drive(&mut task, &mut nothing);
    assert_eq!((task.state(), world.ran.len()), (State::Canceled, 0));
}

#[test]
fn an_error_of_the_platform_is_reported_and_what_it_wrote_is_kept() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.drive(&mut task, &mut |world, step| {
        let due = step.what == StepKind::Status && world.now > at(60);
        due.then(|| printed(r#"{"packetCaptureStatus":"Error","packetCaptureError":["AgentStopped"]}"#))
    });
    assert!(
        task.ends[0]
            .trouble
            .as_ref()
            .unwrap()
            .text
            .contains("the extension on the machine stopped (AgentStopped)")
    );
    assert_eq!(task.state(), State::Done);
}

#[test]
fn a_file_that_was_never_written_is_a_failure_with_a_hint() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.writes = false;
    world.drive(&mut task, &mut nothing);
    assert_eq!((task.state(), world.holds_ours()), (State::Failed, false));
    assert!(task.ends[0].trouble.as_ref().unwrap().text.contains("wrote no file"));
}

#[test]
fn evidence_that_could_not_be_fetched_is_not_removed() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.drive(&mut task, &mut |_, step| (step.what == StepKind::Fetch).then(|| failed(FORBIDDEN)));
    assert_eq!(task.state(), State::NeedsCleanup);
    assert!(world.blobs.contains("ghost-s1-1.cap") && task.ends[0].resumable);
    task.resume();
    world.drive(&mut task, &mut nothing);
    assert_eq!((task.state(), world.holds_ours()), (State::Done, false));
}

#[test]
fn an_empty_capture_is_a_result_with_a_hint() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    for _ in 0..200 {
        match task.next(world.now) {
            NextStep::Run(step) => {
                assert!(task.begin(&step));
                let answer = world.run(&step);
                task.on_result(&step.what, step.end, &answer, world.now);
            }
            NextStep::Verify { end, .. } => task.verified(end, Ok((0, false)), world.now),
            NextStep::Analyze(_) => task.analyzed(analysis(Vec::new())),
            NextStep::Wait { until, .. } => world.now = until,
            NextStep::Over => break,
        }
    }
    assert_eq!(task.state(), State::Done);
    assert!(
        task.ends[0].notes.iter().any(|note| note.contains("it holds no packet")),
        "{:?}",
        task.ends[0].notes
    );
}

#[test]
fn a_capture_that_outlives_its_time_is_ended_with_consent() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.drive(&mut task, &mut |world, step| {
        let runs = step.what == StepKind::Status && world.changes().len() < 2;
        runs.then(|| {
            world.advance(1);
            printed(r#"{"packetCaptureStatus":"Running","packetCaptureError":[]}"#)
        })
    });
    assert_eq!(world.changes()[..2], [StepKind::Create, StepKind::Stop]);
    assert_eq!(task.state(), State::Done);
}

#[test]
fn a_sign_in_that_expires_meanwhile_loses_nothing() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.drive(&mut task, &mut |_, step| {
        (step.what == StepKind::Status)
            .then(|| failed("ERROR: (ExpiredAuthenticationToken) The access token has expired."))
    });
    assert_eq!(task.state(), State::NeedsCleanup);
    assert!(
        task.ends[0].resumable
            && task.ends[0].trouble.as_ref().unwrap().hint.as_ref().unwrap().contains("sign in")
    );
    task.resume();
    world.drive(&mut task, &mut nothing);
    assert_eq!((task.state(), world.holds_ours()), (State::Done, false));
}

#[test]
fn a_capture_of_our_name_on_another_machine_is_not_ours() {
    let (mut world, mut task) = (World::new(), task(&ONE));
    world.drive(&mut task, &mut |world, step| {
        (step.what == StepKind::Create).then(|| {
            let mut theirs = world.captures["nightly"].clone();
            theirs.machine = "another-vm".to_owned();
            world.captures.insert("ghost-s1-1".to_owned(), theirs);
            failed(BROKEN)
        })
    });
    assert_eq!(task.state(), State::Failed);
    assert!(world.captures.contains_key("ghost-s1-1") && world.changes().is_empty());
}

#[test]
fn a_late_or_repeated_answer_changes_nothing() {
    let mut task = task(&ONE);
    let world = run(&mut task);
    let before = task.clone();
    for (what, _) in &world.ran {
        for answer in [printed("[]"), printed("{}"), failed(BROKEN), denied(true)] {
            task.on_result(what, 0, &answer, world.now);
            task.on_result(what, 9, &answer, world.now);
        }
    }
    assert_eq!(task, before);
}

#[test]
fn a_task_that_was_changed_by_hand_is_none() {
    let text = task(&PAIR).to_json();
    assert!(CaptureTask::from_json(&text).is_ok());
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["ends"][0]["name"] = "nightly".into();
    assert!(CaptureTask::from_json(&other.to_string()).is_err(), "what it would remove is not ours");
    assert!(CaptureTask::from_json(&text[..text.len() / 2]).is_err());
    assert!(CaptureTask::from_json(&text.replace("\"format\": 1", "\"format\": 2")).is_err());
}
