//! A board in a direct conversation is written while it is read.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use serde_json::{Value, json};

use super::stage::{World, has_button, text, ts};
use crate::session::world::{conclude, run, suppose};

/// A session whose only command takes some seconds, so that somebody can read the board meanwhile.
async fn held() -> World {
    World::new(&[suppose(), run("timeout 8 tail -f /proc/net/dev"), conclude("REFUTED")]).await
}

/// Asks directly; returns the conversation and the thread.
async fn asked(world: &World) -> (String, String) {
    let said = json!({"user": "alice", "channel": "@ghost", "text": "the link to web-1 is down"});
    let answer = world.slack.person("message", said).await;
    (answer["channel"].as_str().unwrap().to_owned(), ts(&answer))
}

fn is_written(message: &Value) -> bool {
    message["streaming_state"] == "in_progress"
}

/// Waits for a board that is being written and shows what is checked.
async fn written(world: &World, channel: &str, root: &str) -> Value {
    world
        .sees_in("alice", channel, root, "a board that is being written", |message| {
            is_written(message) && message["blocks"].to_string().contains("task_card")
        })
        .await
}

/// Holds that one board is left, changed to what came of it, and that nothing is being written any more.
async fn one_board(world: &World, channel: &str, root: &str, board: &Value) {
    let thread = world.thread_in("alice", channel, root).await;
    assert!(thread.iter().all(|message| !is_written(message)), "{thread:?}");
    let boards: Vec<&Value> =
        thread.iter().filter(|message| text(message).starts_with("Session ghost-")).collect();
    let [own] = boards.as_slice() else { panic!("{boards:?}") };
    assert_eq!(ts(own), ts(board));
    assert!(!thread.iter().any(|message| text(message).starts_with("On it.")), "{thread:?}");
}

#[tokio::test]
async fn a_direct_board_is_written_while_it_is_read_and_changed_when_it_is_over() {
    held()
        .await
        .talk(async |world| {
            let (channel, root) = asked(world).await;
            let board = written(world, &channel, &root).await;
            assert!(text(&board).starts_with("On it. Session ghost-"), "{board}");
            assert!(has_button(&board, "stop") && has_button(&board, "report"), "{board}");
            assert!(board["blocks"].to_string().contains("the link to web-1 is down"), "{board}");
            let closing = world.concluded_in("alice", &channel, &root).await;
            assert_eq!(ts(&closing.board), ts(&board));
            one_board(world, &channel, &root, &board).await;
        })
        .await;
}

#[tokio::test]
async fn a_board_that_is_still_written_stops_its_session_by_its_button() {
    held()
        .await
        .talk(async |world| {
            let (channel, root) = asked(world).await;
            let board = written(world, &channel, &root).await;
            world.press_in("alice", &channel, &board, "stop").await;
            world.hears_in("alice", &channel, &root, "Stopping").await;
            world.concluded_in("alice", &channel, &root).await;
            one_board(world, &channel, &root, &board).await;
        })
        .await;
}

#[tokio::test]
async fn whoever_takes_a_session_over_keeps_the_board_that_was_still_written() {
    let world = held().await;
    let first = world.bot().await;
    let (channel, root) = asked(&world).await;
    let board = written(&world, &channel, &root).await;
    first.die().await;
    // The next one learns from Slack that the board is still being written.
    world.expects("streaming_state_conflict");
    let second = world.bot().await;
    world.concluded_in("alice", &channel, &root).await;
    one_board(&world, &channel, &root, &board).await;
    second.stop().await;
    world.end().await;
}

#[tokio::test]
async fn where_there_are_no_streams_a_direct_board_is_posted_and_changed() {
    for error in ["unknown_method", "invalid_chunks", "fatal_error"] {
        held()
            .await
            .talk(async |world| {
                world
                    .fault(
                        json!({"kind": "error", "method": "chat.startStream", "error": error, "count": 99}),
                    )
                    .await;
                let (channel, root) = asked(world).await;
                let board = world
                    .sees_in("alice", &channel, &root, "a board", |message| {
                        has_button(message, "stop") && message["blocks"].to_string().contains("task_card")
                    })
                    .await;
                assert!(!is_written(&board), "{board}");
                world.concluded_in("alice", &channel, &root).await;
                one_board(world, &channel, &root, &board).await;
            })
            .await;
    }
}

#[tokio::test]
async fn a_stream_that_slack_ends_goes_on_as_a_message_that_is_changed() {
    held()
        .await
        .talk(async |world| {
            let ended = json!({"kind": "error", "method": "chat.appendStream", "error": "message_not_in_streaming_state", "count": 99});
            world.fault(ended).await;
            let (channel, root) = asked(world).await;
            let board = world
                .sees_in("alice", &channel, &root, "a board", |message| {
                    has_button(message, "stop") && message["blocks"].to_string().contains("task_card")
                })
                .await;
            assert!(!is_written(&board), "{board}");
            world.concluded_in("alice", &channel, &root).await;
            one_board(world, &channel, &root, &board).await;
        })
        .await;
}
