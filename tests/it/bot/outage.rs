//! The store is away for one replica while another goes on: nothing older stays in the thread.

use std::sync::Arc;

use ghost_agent::bot::EventSource;
use ghost_shell::Cancel;
use serde_json::Value;

use super::stage::{World, has_button, text};
use crate::session::mortal::{Answer, Mortal};
use crate::session::world::{conclude, run, suppose};

/// Gives those that come next a store of their own that leads to the same, and can be away.
fn apart(world: &mut World) -> Arc<Mortal> {
    let own = Arc::new(Mortal::new(Arc::clone(&world.store), |_| Answer::Delivered));
    world.store = Arc::clone(&own) as _;
    own
}

fn is_board(message: &Value) -> bool {
    text(message).starts_with("Session")
}

#[tokio::test]
async fn what_a_replica_shows_while_the_store_is_away_is_corrected_when_it_is_back() {
    let mut world = World::asking().await;
    let bot = world.bot().await;
    let (root, card) = world.asks("alice").await;
    world
        .until("the session is known to every replica", async || {
            (!world.store.posted(1).await.unwrap().is_empty()).then_some(())
        })
        .await;
    let kept = Arc::clone(&world.store);
    let cut = apart(&mut world);
    let late = world.application(EventSource::Requests).await.presenter;
    world.store = kept;
    late.show_freeze().await;
    world.press("bob", &card, "approve").await;
    world.concluded("alice", &root).await;
    world.card_says(&root, &card, &["exit 0"]).await;

    cut.away(true);
    let (cancel, stop) = Cancel::new();
    let showing = async {
        // Nobody could say whether it is old.
        world.sees("bob", &root, "the card as it was", |message| has_button(message, "approve")).await;
        cut.away(false);
        world.card_says(&root, &card, &["exit 0"]).await;
        world
            .sees("bob", &root, "the board at its end", |board| is_board(board) && !has_button(board, "stop"))
            .await;
        cancel.cancel();
    };
    tokio::join!(late.run(stop), showing);
    bot.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_replica_that_lost_its_session_while_the_store_was_away_leaves_the_thread_as_the_other_ended_it() {
    let world = World::new(&[]).await;
    let (ran, hold) = (world.path("ran"), world.path("hold"));
    let command = format!("sh -c 'echo ran >> {ran}; while test -e {hold}; do sleep 0.1; done'");
    let mut world = world.plays(&[suppose(), run(&command), conclude("REFUTED")]);
    std::fs::write(&hold, "").unwrap();
    let listener = world.listener().await;
    let kept = Arc::clone(&world.store);
    let cut = apart(&mut world);
    let first = world.driver().await;
    let (root, card) = world.asks("alice").await;
    world.press("bob", &card, "approve").await;
    world.until("the command runs", async || (world.runs() == 1).then_some(())).await;

    cut.away(true);
    world.store = kept;
    // Its lease ends; nobody knows what became of the command, and nobody says that it may run again.
    world.clock.by(1);
    let second = world.driver().await;
    let again = |message: &Value| has_button(message, "approve") && message["ts"] != card["ts"];
    let second_card = world.sees("bob", &root, "a second question", again).await;
    let view = world.opens("bob", &second_card, "deny").await;
    world.submits("bob", &view, "reason", "look first").await;
    world.concluded("alice", &root).await;
    let over = |message: &Value| is_board(message) && !has_button(message, "stop");
    world.sees("alice", &root, "the board at its end", over).await;
    // The first still believes that it is at work, and for how long is on its board.
    world.clock.by(1);
    let older = |message: &Value| is_board(message) && has_button(message, "stop");
    world.sees("alice", &root, "the board as it was", older).await;

    // It is not given the session once more, which would have it look at the thread.
    cut.gives_no_work();
    cut.away(false);
    world.sees("alice", &root, "the board at its end", over).await;
    world.card_says(&root, &card, &["nobody knows whether it took effect"]).await;
    world.card_says(&root, &second_card, &["look first"]).await;
    assert_eq!(world.runs(), 1);
    std::fs::remove_file(&hold).unwrap();
    first.stop().await;
    second.stop().await;
    listener.stop().await;
    world.end().await;
}
