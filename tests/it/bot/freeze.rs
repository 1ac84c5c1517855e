//! A freeze: shown at once on what stands, and on record for all replicas.

use ghost_agent::bot::EventSource;
use ghost_agent::bot::journal::{JournalAction, Note, read};
use ghost_shell::Cancel;
use serde_json::{Value, json};

use super::stage::{World, has_button, text, ts};
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose};

async fn asking() -> World {
    let world = World::new(&[]).await;
    let command = format!("echo ran | tee -a {}", world.path("ran"));
    world.plays(&[suppose(), run(&command), conclude("REFUTED")])
}

async fn order(world: &World, what: &str) {
    world.command("bob", &format!("/ghost {what}")).await;
}

pub(super) async fn journal(world: &World) -> Vec<Note> {
    read(&world.store.notes(usize::MAX).await.unwrap().1).unwrap()
}

fn says_frozen(message: &Value) -> bool {
    message.to_string().contains("Frozen")
}

#[tokio::test]
async fn boards_and_cards_tell_of_a_freeze_and_of_its_end_though_nothing_else_happens() {
    let world = asking().await;
    let (first, second) = (world.bot().await, world.bot().await);
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    let is_board = |message: &Value| text(message).starts_with("Session");
    let board = ts(&world.sees("alice", &root, "the board", is_board).await);

    order(&world, "freeze a change window").await;
    let frozen = world
        .sees("bob", &root, "a frozen card", |message| message["ts"] == card["ts"] && says_frozen(message))
        .await;
    assert!(!has_button(&frozen, "approve") && has_button(&frozen, "deny"), "{frozen}");
    assert!(frozen.to_string().contains("a change window"), "{frozen}");
    world
        .sees("alice", &root, "a frozen board", |message| ts(message) == board && says_frozen(message))
        .await;

    order(&world, "thaw").await;
    let thawed = world.card(&root).await;
    assert!(thawed["ts"] == card["ts"] && !says_frozen(&thawed), "{thawed}");
    world
        .sees("alice", &root, "a board again", |message| ts(message) == board && !says_frozen(message))
        .await;
    world.press("bob", &thawed, "approve").await;
    world.concluded("alice", &root).await;
    world.card_says(&root, &card, &["exit 0"]).await;

    let notes = journal(&world).await;
    let recorded: Vec<_> = notes
        .iter()
        .map(|note| (note.what, note.who.as_str(), note.place.as_str(), note.why.as_str()))
        .collect();
    let bob = "U0LABBOB01";
    assert_eq!(
        recorded,
        [(JournalAction::Freeze, bob, NETWORK, "a change window"), (JournalAction::Thaw, bob, NETWORK, "")]
    );
    first.stop().await;
    second.stop().await;
    world.end().await;
}

/// A replica draws the card of a session that is at work elsewhere, and what it draws waits for its turn until the command was approved.
#[tokio::test]
async fn a_card_that_waited_for_its_turn_never_takes_the_place_of_what_was_decided() {
    let world = asking().await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    world
        .until("the session is known to every replica", async || {
            (!world.store.posted(1).await.unwrap().is_empty()).then_some(())
        })
        .await;
    let late = world.application(EventSource::Requests).await.presenter;
    late.show_freeze().await;

    world.press("bob", &card, "approve").await;
    world.concluded("alice", &root).await;
    world.card_says(&root, &card, &["exit 0"]).await;
    // What waits is sent before it ends.
    let (cancel, stop) = Cancel::new();
    cancel.cancel();
    late.run(stop).await;
    world.card_says(&root, &card, &["exit 0"]).await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_session_that_begins_while_another_replica_froze_everything_says_so() {
    let world = World::new(&[]).await.plays(&[suppose(), run("cat /proc/net/dev"), conclude("REFUTED")]);
    let bot = world.bot().await;
    let now = ghost_base::Timestamp::from_millis(0);
    ghost_agent::bot::Freeze::new("bob", "a change window", now).set(world.store.as_ref()).await.unwrap();
    // Both wait: whichever board this replica draws first when it learns of the freeze, the other is drawn, too.
    let roots =
        [world.mention("alice", "the link is down").await, world.mention("chloe", "no packets pass").await];
    for root in &roots {
        world.sees("alice", root, "a frozen board", says_frozen).await;
    }
    ghost_agent::bot::Freeze::lift(world.store.as_ref()).await.unwrap();
    for root in &roots {
        world.concluded("alice", root).await;
    }
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn who_may_not_freeze_is_refused_and_recorded() {
    let world = World::new(&[suppose(), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    let recorded = world.command("alice", "/ghost freeze because I say so").await;
    assert!(text(&recorded).contains("Not yours to hold back"), "{recorded}");
    let notes = journal(&world).await;
    assert_eq!(notes.iter().map(|note| note.what).collect::<Vec<_>>(), [JournalAction::Refused]);
    assert!(
        notes.iter().all(|note| note.who == "U0LABALICE" && note.why.starts_with("freeze: ")),
        "{notes:?}"
    );
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn whoever_could_never_approve_hears_nothing_of_a_freeze_and_every_attempt_is_on_record() {
    let world = asking().await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    // Another replica took the order: this one still shows the buttons.
    let now = ghost_base::Timestamp::from_millis(0);
    ghost_agent::bot::Freeze::new("bob", "a change window", now).set(world.store.as_ref()).await.unwrap();
    for _ in 0..3 {
        world.press("chloe", &card, "approve").await;
        world.hears("chloe", &root, "not among").await;
    }
    world.press("bob", &card, "approve").await;
    world.hears("bob", &root, "a change window").await;
    let notes = journal(&world).await;
    let recorded: Vec<_> =
        notes.iter().map(|note| (note.what, note.who.as_str(), note.why.as_str())).collect();
    let (chloe, bob) = ("U0LABCHLOE", "U0LABBOB01");
    assert_eq!(
        recorded.iter().map(|note| (note.0, note.1)).collect::<Vec<_>>(),
        [(JournalAction::Refused, chloe), (JournalAction::Refused, bob)]
    );
    assert!(recorded[0].2.contains("not among") && recorded[1].2.contains("held back"), "{recorded:?}");
    ghost_agent::bot::Freeze::lift(world.store.as_ref()).await.unwrap();
    world.approved(&root, &card).await;
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn what_people_say_of_a_report_is_on_record() {
    let world = World::new(&[suppose(), conclude("REFUTED")]).await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let closing = world.concluded("alice", &root).await;
    let report = &closing.answer;
    let session = report["metadata"]["event_payload"]["session"].as_str().map(str::to_owned);
    let value = report["blocks"].to_string();
    let helped = value.split("\"yes:").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let press = |value: String| json!({"user": "alice", "channel": NETWORK, "ts": report["ts"], "action_id": "feedback", "value": value});
    world.slack.person("press", press(format!("yes:{helped}"))).await;
    world.hears("alice", &root, "Noted").await;
    // The same once more says nothing new; another opinion does.
    world.slack.person("press", press(format!("yes:{helped}"))).await;
    world.hears("alice", &root, "Noted").await;
    world.slack.person("press", press(format!("no:{helped}"))).await;
    world.hears("alice", &root, "Noted").await;
    let notes = world
        .until("both are on record", async || Some(journal(&world).await).filter(|notes| notes.len() == 2))
        .await;
    assert_eq!(
        notes.iter().map(|note| note.what).collect::<Vec<_>>(),
        [JournalAction::Helped, JournalAction::NotHelped]
    );
    assert!(notes.iter().all(|note| note.session == helped && note.who == "U0LABALICE"), "{notes:?}");
    assert!(session.is_none_or(|session| session == helped));
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn notes_of_many_at_the_same_time_form_one_chain() {
    use ghost_agent::bot::journal::{Entry, note};
    use ghost_base::SystemClock;

    let world = World::new(&[]).await;
    let writing = (0..20).map(|_| async {
        let entry = Entry { what: JournalAction::Freeze, who: "U1", place: "home", why: "", session: "" };
        note(&world.store, &SystemClock, entry).await.unwrap();
    });
    futures_util::future::join_all(writing).await;
    assert_eq!(journal(&world).await.len(), 20);
    world.end().await;
}
