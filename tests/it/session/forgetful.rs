//! A store that goes back to what it held before: the audit knows what ran, the process that drove a session writes it back, and a
//! person is asked about the rest.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ghost_base::Clock as _;
use ghost_investigate::event::{HumanMessage, Instruction, Reply};
use ghost_session::{DriveOutcome, InboxMessage};
use ghost_store::{EmbeddedStore, Settings};

use super::world::{World, conclude, control, run, suppose, times};

/// Longer than a question waits, and longer than words wait for their incident.
const LONG: Duration = Duration::from_secs(3_600);

/// A world whose session asks for one command, which leaves a mark.
fn world() -> (World, PathBuf) {
    let mark = tempfile::tempdir().unwrap().keep().join("mark");
    let command = format!("sh -c 'echo ran >> {}'", mark.display());
    (World::new(&[suppose(), run(&command), conclude("REFUTED")]), mark)
}

fn marks(mark: &std::path::Path) -> usize {
    std::fs::read_to_string(mark).unwrap_or_default().lines().count()
}

impl World {
    fn file(&self) -> PathBuf {
        self.folder.path().join("store.redb")
    }

    /// Keeps what the store holds now.
    fn keep_store(&self) -> PathBuf {
        let copy = self.folder.path().join("kept.redb");
        std::fs::copy(self.file(), &copy).unwrap();
        copy
    }

    /// Has the store hold again what it held when it was kept.
    fn forget_since(&mut self, kept: &PathBuf) {
        let open = |file: PathBuf| {
            Arc::new(EmbeddedStore::with_clock(&file, Settings::default(), self.clock.clone()).unwrap())
        };
        // Two cannot hold one file.
        self.store = open(self.folder.path().join("other.redb"));
        std::fs::copy(kept, self.file()).unwrap();
        self.store = open(self.file());
    }

    async fn approve(&self, approval: &str) {
        self.answer(approval, "ben", Reply::Approve).await;
    }
}

#[tokio::test]
async fn a_run_that_the_store_forgot_is_restored_from_the_audit_before_its_question_expires() {
    let (mut world, mark) = world();
    world.mention("the link is down").await;
    let approval = world.question().await;
    let kept = world.keep_store();
    world.approve(&approval).await;
    assert_eq!((world.drive().await, marks(&mark)), (DriveOutcome::Over, 1));
    world.forget_since(&kept);
    world.clock.advance(LONG);
    world.store.sweep(world.clock.now()).await.unwrap();
    assert_eq!((world.drive().await, marks(&mark)), (DriveOutcome::Over, 1));
    let state = world.state().await;
    let done = state.steps[0].done.clone().unwrap();
    assert!(done.restored, "{done:?}");
    assert_eq!((done.status.as_str(), done.exit_code), ("completed", Some(0)));
    times(&world.recorded().await, "approval_expired", 0);
    // Once.
    world.drive().await;
    times(&world.recorded().await, "done", 1);
}

#[tokio::test]
async fn a_second_yes_to_a_question_whose_run_was_forgotten_runs_nothing() {
    let (mut world, mark) = world();
    world.mention("the link is down").await;
    let approval = world.question().await;
    let kept = world.keep_store();
    world.approve(&approval).await;
    world.drive().await;
    world.forget_since(&kept);
    world.approve(&approval).await;
    assert_eq!((world.drive().await, marks(&mark)), (DriveOutcome::Over, 1));
    assert!(world.state().await.steps[0].done.as_ref().unwrap().restored);
}

#[tokio::test]
async fn a_forgotten_question_whose_command_ran_is_not_asked_again() {
    let (mut world, mark) = world();
    world.mention("the link is down").await;
    let kept = world.keep_store();
    let approval = world.question().await;
    world.approve(&approval).await;
    world.drive().await;
    world.forget_since(&kept);
    assert_eq!((world.drive().await, marks(&mark)), (DriveOutcome::Over, 1));
    times(&world.recorded().await, "approval_requested", 1);
    assert!(world.state().await.steps[0].done.as_ref().unwrap().restored);
}

#[tokio::test]
async fn a_forgotten_run_whose_end_the_audit_does_not_hold_is_asked_about() {
    let (mut world, mark) = world();
    world.mention("the link is down").await;
    let approval = world.question().await;
    let kept = world.keep_store();
    world.approve(&approval).await;
    world.drive().await;
    // The process was killed while the command ran.
    let audit = world.data().join("audit/ghost-test.jsonl");
    let text = std::fs::read_to_string(&audit).unwrap();
    let begun: String =
        text.lines().take_while(|line| !line.contains("\"done\"")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&audit, begun).unwrap();
    world.forget_since(&kept);
    world.question().await;
    let state = world.state().await;
    assert!(state.open_approval().unwrap().requested.outcome_unknown);
    assert_eq!(marks(&mark), 1);
}

#[tokio::test]
async fn a_question_from_before_a_loss_is_closed_and_asked_again_as_unknown() {
    let (world, mark) = world();
    world.mention("the link is down").await;
    let before = world.question().await;
    world.clock.advance(Duration::from_secs(1));
    let noticed = world.clock.now().as_millis().to_string();
    world.store.set_flag("rolled_back", Some(&noticed)).await.unwrap();
    world.clock.advance(Duration::from_secs(1));
    // A yes that was given in between counts for nothing.
    world.approve(&before).await;
    let after = world.question().await;
    assert_ne!(before, after);
    let state = world.state().await;
    assert!(state.open_approval().unwrap().requested.outcome_unknown);
    assert_eq!(marks(&mark), 0);
    // Asked once, the answer counts.
    world.approve(&after).await;
    assert_eq!((world.drive().await, marks(&mark)), (DriveOutcome::Over, 1));
}

#[tokio::test]
async fn events_that_the_store_lost_are_written_back_by_the_process_that_wrote_them() {
    let (mut world, _) = world();
    let kept = world.keep_store();
    world.mention("the link is down").await;
    let mut engine = world.engine();
    let rest = engine.drive(&world.session, &control()).await.unwrap();
    assert!(matches!(rest, DriveOutcome::Waiting { .. }), "{rest:?}");
    let before = world.store.read(&world.session, 0).await.unwrap();
    // Two cannot hold one file.
    let elsewhere = EmbeddedStore::open(&world.folder.path().join("none"), Settings::default()).unwrap();
    engine.store = Arc::new(elsewhere);
    world.forget_since(&kept);
    assert_eq!(world.store.length(&world.session).await.unwrap(), 0);
    engine.store = world.store.clone();
    let rest = engine.drive(&world.session, &control()).await.unwrap();
    assert!(matches!(rest, DriveOutcome::Waiting { .. }), "{rest:?}");
    let after = world.store.read(&world.session, 0).await.unwrap();
    assert_eq!(after[..before.len()], before[..]);
    times(&world.recorded().await, "resumed", 1);
    world.replays().await;
}

#[tokio::test]
async fn a_mention_that_finds_no_session_opens_it() {
    let (world, _) = world();
    let said = HumanMessage {
        who: "ana".to_owned(),
        text: "the link is down".to_owned(),
        instruction: Instruction::Steer,
    };
    let opens = Some(Box::new(world.incident("ana", "the link is down")));
    // The sender had read of a session that the store has lost since.
    let text = InboxMessage::Again(said).opening(world.clock.now(), opens).unwrap();
    world.store.deliver(&world.session, "event-1", &text).await.unwrap();
    world.question().await;
    let state = world.state().await;
    assert_eq!(state.opened.symptom, "the link is down");
    assert_eq!(
        state
            .entries
            .iter()
            .filter(|entry| matches!(entry, ghost_investigate::state::Entry::Message { .. }))
            .count(),
        0
    );
    // Where the session is there, the same is only words.
    let said =
        HumanMessage { who: "ben".to_owned(), text: "any news?".to_owned(), instruction: Instruction::Steer };
    let opens = Some(Box::new(world.incident("ben", "any news?")));
    let text = InboxMessage::Again(said).opening(world.clock.now(), opens).unwrap();
    world.store.deliver(&world.session, "event-2", &text).await.unwrap();
    world.question().await;
    times(&world.recorded().await, "said", 1);
    times(&world.recorded().await, "opened", 1);
}

#[tokio::test]
async fn words_that_no_incident_follows_are_dropped_when_their_time_is_over() {
    let (world, _) = world();
    let said =
        HumanMessage { who: "ana".to_owned(), text: "so?".to_owned(), instruction: Instruction::Steer };
    let text = InboxMessage::Said(said).stamped(world.clock.now()).unwrap();
    world.store.deliver(&world.session, "event-1", &text).await.unwrap();
    let drive = async || world.engine().drive(&world.session, &control()).await.unwrap();
    assert_eq!(drive().await, DriveOutcome::Missing);
    assert_eq!(world.store.inbox(&world.session).await.unwrap().len(), 1, "the incident may still come");
    world.clock.advance(LONG);
    assert_eq!(drive().await, DriveOutcome::Missing);
    assert_eq!(world.store.inbox(&world.session).await.unwrap(), []);
}

#[tokio::test]
async fn a_mention_that_its_sender_took_for_the_first_goes_on_behind_the_report() {
    let world = World::new(&[suppose(), conclude("REFUTED"), suppose(), conclude("REFUTED")]);
    world.mention("the link is down").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let open = InboxMessage::Open(Box::new(world.incident("ben", "now the disk is full")));
    world.message("event-2", &open).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    times(&world.recorded().await, "reopened", 1);
}
