//! What comes late: the end of a question while Slack is away, and what Slack repeats minutes later.

use serde_json::json;

use super::stage::{Over, World, text};
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose};

#[tokio::test]
async fn an_approval_that_expires_while_slack_is_away_is_shown_when_it_is_back() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            // Slack answers nothing any more, and the sockets say and hear nothing.
            world.fault(json!({"kind": "silence", "seconds": 600})).await;
            world.fault(json!({"kind": "error", "count": 100_000, "status": 503})).await;
            world.clock.by(16);
            let ended = world
                .until("the end of the question", async || {
                    let ended = world.events(NETWORK, &root, "approval_expired").await;
                    (!ended.is_empty()).then_some(ended)
                })
                .await;
            assert_eq!(ended.len(), 1);
            // Nothing can have been posted to the thread so far.
            let before = world.sees("bob", &root, "the card", |message| message["ts"] == card["ts"]).await;
            assert_eq!(text(&before), text(&card));
            world.fault(json!({"kind": "clear"})).await;
            world.card_says(&root, &card, &["Expired", "Nothing ran"]).await;
            world.concluded("alice", &root).await;
            let ends = ["approval_expired", "approval_decided"];
            let mut counts = Vec::new();
            for kind in ends {
                counts.push(world.events(NETWORK, &root, kind).await.len());
            }
            assert_eq!((counts, world.runs()), (vec![1, 0], 0));
        })
        .await;
}

#[tokio::test]
async fn a_click_that_comes_too_late_says_so_and_changes_nothing() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let view = world.opens("bob", &card, "deny").await;
            world.clock.by(16);
            world.press("bob", &card, "approve").await;
            world.hears("bob", &root, "expired at").await;
            world.submits("bob", &view, "reason", "too late for this").await;
            world.hears("bob", &root, "expired at").await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Expired"]).await;
            assert_eq!(world.runs(), 0);
        })
        .await;
}

#[tokio::test]
async fn what_slack_repeats_after_six_minutes_is_done_once() {
    let (look, end) = (run("cat /proc/net/dev"), conclude("REFUTED"));
    for over in [Over::Sockets, Over::Requests] {
        World::new(&[suppose(), look.clone(), end.clone(), look.clone(), end.clone()])
            .await
            .talk_over(over, async |world| {
                let root = world.mention("alice", "the link is down").await;
                world.concluded("alice", &root).await;
                world.reply("bob", &root, "@Ghost look again").await;
                world.hears("bob", &root, "On it. I go on from what I have read").await;
                world.concluded("alice", &root).await;
                world.clock.by(6);
                world.fault(json!({"kind": "redeliver", "count": 200})).await;
                // What comes later was handled later.
                let later = world.mention("alice", "help").await;
                world.hears("alice", &later, "/ghost").await;
                world
                    .until("all of it has arrived", async || {
                        (world.look("journal", &[]).await["open"] == 0).then_some(())
                    })
                    .await;
                let mut counts = Vec::new();
                for kind in ["opened", "reopened", "concluded", "said", "discarded"] {
                    counts.push(world.events(NETWORK, &root, kind).await.len());
                }
                assert_eq!(counts, [1, 1, 2, 0, 0]);
                assert_eq!(world.store.list(None, 9).await.unwrap().len(), 1);
            })
            .await;
    }
}
