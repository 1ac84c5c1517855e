//! Deleting a session, and what is left of it.

use std::time::Duration;

use ghost_base::{Clock as _, Digest};
use ghost_investigate::event::{Content, read};
use ghost_session::retention::{Lifetimes, sweep};
use ghost_session::{EraseError, delete, export};

use super::replay::rich;
use super::world::{World, conclude, run, suppose};

const EVER: Lifetimes = Lifetimes { thread_days: 0, evidence_days: 0, capture_days: 0 };

fn evidence(world: &World) -> usize {
    std::fs::read_dir(world.data().join("evidence")).unwrap().count()
}

#[tokio::test]
async fn a_deleted_session_keeps_its_chain_and_its_audit_and_nothing_else() {
    let world = rich().await;
    let before = world.recorded().await;
    assert_eq!(evidence(&world), 1);
    let erased = delete(world.store.as_ref(), &world.session, &world.data(), false).await.unwrap();
    assert_eq!((erased.events, erased.evidence), (before.len(), 1));
    assert!(erased.audit.unwrap().ends_with("audit/ghost-test.jsonl"));
    assert_eq!(evidence(&world), 0);
    let after = world.recorded().await;
    assert!(after.iter().all(|event| event.content == Content::Erased));
    assert_eq!(after.last().unwrap().hash, before.last().unwrap().hash);
    assert_eq!(std::fs::read_dir(world.data().join("erasing")).unwrap().count(), 0);
    // Once more changes nothing.
    let again = delete(world.store.as_ref(), &world.session, &world.data(), false).await.unwrap();
    assert_eq!((again.events, again.evidence), (before.len(), 0));
    assert_eq!(world.recorded().await, after);
}

#[tokio::test]
async fn a_text_that_another_session_names_stays() {
    let world = rich().await;
    let text = world.exported().await;
    // The same outputs under another name: the second session's lines hold the same digests.
    let export = export::read(text.as_bytes()).unwrap();
    let other = "other".parse().unwrap();
    let lease = world.store.acquire(&other, "b", Duration::from_secs(9)).await.unwrap().unwrap();
    world.store.append(&lease, 0, &export.ledger, 0).await.unwrap();
    let erased = delete(world.store.as_ref(), &world.session, &world.data(), false).await.unwrap();
    assert_eq!((erased.evidence, evidence(&world)), (0, 1));
}

#[tokio::test]
async fn a_text_that_a_command_outside_of_sessions_left_stays() {
    let world = rich().await;
    let audit = std::fs::read_to_string(world.data().join("audit/ghost-test.jsonl")).unwrap();
    std::fs::write(world.data().join("audit/shell-1.jsonl"), audit).unwrap();
    let erased = delete(world.store.as_ref(), &world.session, &world.data(), false).await.unwrap();
    assert_eq!((erased.evidence, evidence(&world)), (0, 1));
}

#[tokio::test]
async fn a_session_that_is_driven_is_only_deleted_by_force() {
    let world = rich().await;
    let lease = world.store.acquire(&world.session, "b", Duration::from_secs(60)).await.unwrap().unwrap();
    let refused = delete(world.store.as_ref(), &world.session, &world.data(), false).await.unwrap_err();
    assert!(matches!(refused, EraseError::Driven { .. }), "{refused}");
    let length = u64::try_from(world.recorded().await.len()).unwrap();
    delete(world.store.as_ref(), &world.session, &world.data(), true).await.unwrap();
    // The owner writes no more.
    let late = world.store.append(&lease, length, &["{}".to_owned()], 0).await;
    assert!(late.is_err(), "{late:?}");
    let missing = delete(world.store.as_ref(), &"none".parse().unwrap(), &world.data(), true).await;
    assert!(matches!(missing, Err(EraseError::Missing { .. })));
}

#[tokio::test]
async fn a_deletion_that_was_cut_off_behind_the_skeleton_is_finished_by_a_sweep() {
    let world = rich().await;
    let lines = world.store.read(&world.session, 0).await.unwrap();
    let folder = world.data().join("erasing");
    std::fs::create_dir(&folder).unwrap();
    let file = std::fs::read_dir(world.data().join("evidence")).unwrap().next().unwrap().unwrap();
    let digest = file.file_name().to_string_lossy().trim_end_matches(".txt").to_owned();
    std::fs::write(folder.join("ghost-test"), &digest).unwrap();
    // Cut off in front of the skeleton: the session is as it was, and so is its text.
    let swept = sweep(
        world.store.as_ref(),
        (&world.data(), &world.data().join("captures")),
        &EVER,
        world.clock.now(),
    )
    .await
    .unwrap();
    assert_eq!((swept.evidence, evidence(&world)), (0, 1));
    let bare = ghost_investigate::event::erase(lines.iter().map(String::as_str)).unwrap();
    world.store.erase(&world.session, &bare).await.unwrap();
    let swept = sweep(
        world.store.as_ref(),
        (&world.data(), &world.data().join("captures")),
        &EVER,
        world.clock.now(),
    )
    .await
    .unwrap();
    assert_eq!((swept.evidence, evidence(&world)), (1, 0));
    assert!(!folder.join("ghost-test").exists());
}

#[tokio::test]
async fn a_sweep_erases_what_ended_long_ago_and_nothing_that_runs() {
    let world = rich().await;
    let waiting = World::new(&[suppose(), run("touch /tmp/ghost-never"), conclude("REFUTED")]);
    waiting.mention("look at 5001").await;
    waiting.question().await;
    let lifetimes = Lifetimes { thread_days: 90, ..EVER };
    let day = Duration::from_secs(24 * 3600);
    for (days, gone) in [(89, 0), (2, 1), (90, 0)] {
        for world in [&world, &waiting] {
            world.clock.advance(day * days);
        }
        let swept = sweep(
            world.store.as_ref(),
            (&world.data(), &world.data().join("captures")),
            &lifetimes,
            world.clock.now(),
        )
        .await
        .unwrap();
        assert_eq!(swept.sessions.len(), gone);
        let swept = sweep(
            waiting.store.as_ref(),
            (&waiting.data(), &waiting.data().join("captures")),
            &lifetimes,
            waiting.clock.now(),
        )
        .await
        .unwrap();
        assert_eq!(swept.sessions, []);
    }
    let lines = world.store.read(&world.session, 0).await.unwrap();
    let left = read(&world.session, lines.iter().map(String::as_str)).unwrap();
    assert!(left.iter().all(|event| event.content == Content::Erased));
    assert_eq!(evidence(&world), 0);
}

#[tokio::test]
async fn old_evidence_goes_unless_a_session_that_runs_needs_it() {
    let world = World::new(&[suppose(), run("uname -s"), run("touch /tmp/ghost-never")]);
    world.mention("look at 5001").await;
    world.question().await;
    let stray = world.data().join("evidence").join(format!("{}.txt", Digest::of("stray")));
    std::fs::write(&stray, "stray").unwrap();
    std::fs::write(world.data().join("evidence/mine.txt"), "mine").unwrap();
    let captures = world.data().join("captures");
    std::fs::create_dir_all(&captures).unwrap();
    let names = [format!("ghost-{}-1.cap", world.session), "ghost-other-1.cap".to_owned()];
    for name in &names {
        std::fs::write(captures.join(name), "packets").unwrap();
    }
    let lifetimes = Lifetimes { evidence_days: 1, capture_days: 1, ..EVER };
    // Files bear the time of the machine.
    let later = ghost_base::SystemClock.now().plus(Duration::from_secs(25 * 3600));
    let swept =
        sweep(world.store.as_ref(), (&world.data(), &world.data().join("captures")), &lifetimes, later)
            .await
            .unwrap();
    assert_eq!((swept.evidence, evidence(&world), stray.exists()), (1, 2, false));
    let there = names.map(|name| captures.join(name).exists());
    assert_eq!((swept.captures, there), (1, [true, false]));
}
