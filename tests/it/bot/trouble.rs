//! What goes wrong between Slack and the bot, and what it must not come to.

use serde_json::json;

use super::stage::{Over, World, has_button, look_once, text};
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose};

/// Counts the reports of a thread.
async fn reports(world: &World, root: &str) -> usize {
    let thread = world.thread("alice", root).await;
    thread.iter().filter(|message| text(message).starts_with("Inconclusive")).count()
}

#[tokio::test]
async fn what_slack_delivers_twice_happens_once() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            world.fault(json!({"kind": "duplicate", "count": 20})).await;
            let root = world.mention("alice", "the link is down").await;
            world.concluded("alice", &root).await;
            world.fault(json!({"kind": "redeliver", "count": 20})).await;
            // What comes later was handled later.
            let other = world.mention("alice", "another link is down").await;
            world.concluded("alice", &other).await;
            assert_eq!(reports(world, &root).await, 1);
            assert_eq!(world.store.list(None, 9).await.unwrap().len(), 2);
        })
        .await;
}

#[tokio::test]
async fn a_refresh_and_a_cut_in_the_middle_lose_nothing() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let mut roots = Vec::new();
            for fault in [
                json!({"kind": "refresh", "at_once": true}),
                json!({"kind": "cut"}),
                json!({"kind": "refresh"}),
            ] {
                world.fault(fault).await;
                roots.push(world.mention("alice", "the link is down").await);
            }
            for root in &roots {
                world.concluded("alice", root).await;
                assert_eq!(reports(world, root).await, 1);
            }
        })
        .await;
}

/// Asks, and returns the board that says what is checked while the card waits, whatever it draws it with.
async fn board_of_asking(world: &World) -> String {
    let (root, card) = world.asks("alice").await;
    let board = world
        .until("a board that says what is checked", async || {
            let thread = world.thread("bob", &root).await;
            let board = thread.into_iter().find(|message| has_button(message, "stop"))?;
            let blocks = board.get("blocks")?.to_string();
            (blocks.contains("task_card") || blocks.contains("being checked")).then_some(blocks)
        })
        .await;
    world.approved(&root, &card).await;
    board
}

#[tokio::test]
async fn a_workspace_that_takes_no_plan_gets_its_boards_as_lines() {
    World::asking()
        .await
        .talk(async |world| {
            let board = board_of_asking(world).await;
            assert!(
                board.contains("\"status\":\"in_progress\"") && !board.contains("being checked"),
                "{board}"
            );
        })
        .await;
    World::asking()
        .await
        .talk(async |world| {
            world.fault(json!({"kind": "error", "method": "chat.update", "error": "invalid_blocks"})).await;
            let board = board_of_asking(world).await;
            assert!(board.contains("being checked") && !board.contains("task_card"), "{board}");
        })
        .await;
}

#[tokio::test]
async fn a_storm_of_rate_limits_delays_and_drops_nothing() {
    World::asking()
        .await
        .talk(async |world| {
            for method in [
                "chat.postMessage",
                "chat.update",
                "chat.postEphemeral",
                "users.info",
                "usergroups.users.list",
                "conversations.replies",
                "files.getUploadURLExternal",
                "files.completeUploadExternal",
                "agents.sessions.setStatus",
                "assistant.threads.setStatus",
            ] {
                let storm = json!({"kind": "rate_limit", "method": method, "count": 2, "retry_after": 1});
                world.fault(storm).await;
            }
            let root = world.mention("alice", "the link is down").await;
            let card = world
                .until("an open card that can be pressed", async || {
                    let thread = world.thread("bob", &root).await;
                    thread.into_iter().find(|message| has_button(message, "approve"))
                })
                .await;
            // Whoever is not known in time gets an answer, and presses once more.
            world
                .until("a click that counts", async || {
                    let thread = world.thread("bob", &root).await;
                    let open = thread.iter().any(|one| one["ts"] == card["ts"] && has_button(one, "approve"));
                    if open {
                        let press = json!({"user": "bob", "channel": NETWORK, "ts": card["ts"], "action_id": "approve"});
                        world.slack.person("press", press).await;
                    }
                    (!world.events(NETWORK, &root, "approval_decided").await.is_empty()).then_some(())
                })
                .await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Approved by <@U0LABBOB01>", "exit 0"]).await;
            assert_eq!((reports(world, &root).await, world.runs()), (1, 1));
            for message in world.thread("bob", &root).await {
                if message["is_ephemeral"] == true {
                    let why = text(&message);
                    assert!(why.contains("in time") || why.contains("already decided"), "{why}");
                    world.note(NETWORK, &message);
                }
            }
        })
        .await;
}

#[tokio::test]
async fn payloads_of_an_organization_lose_no_click_no_dialog_and_no_command() {
    World::asking()
        .await
        .talk(async |world| {
            world.fault(json!({"kind": "grid"})).await;
            let (root, card) = world.asks("chloe").await;
            world.press("chloe", &card, "approve").await;
            world.hears("chloe", &root, "not among those").await;
            let view = world.opens("bob", &card, "modify").await;
            let other = format!("echo ran | tee -a {} ", world.path("ran"));
            world.submits("bob", &view, "command", &other).await;
            let second = world
                .sees("bob", &root, "a second card", |message| {
                    has_button(message, "approve") && message["ts"] != card["ts"]
                })
                .await;
            let answer = world.command("alice", "/ghost approvals").await;
            assert!(answer.to_string().contains("tee -a"), "{answer}");
            world.home("alice", |view| view.to_string().contains("tee -a")).await;
            world.press("alice", &second, "approve").await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Changed by <@U0LABBOB01>"]).await;
            world.card_says(&root, &second, &["exit 0"]).await;
            world.reply("alice", &root, "status").await;
            world.hears("alice", &root, "Inconclusive").await;
            assert_eq!(world.runs(), 1);
        })
        .await;
}

#[tokio::test]
async fn a_bot_that_dies_in_the_middle_is_followed_and_reports_once() {
    let look = run("cat /proc/net/dev");
    let world = World::new(&[suppose(), look.clone(), look, conclude("REFUTED")]).await;
    let first = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    world.sees("alice", &root, "the board", |message| text(message).starts_with("Session")).await;
    first.die().await;
    let second = world.bot().await;
    world.concluded("alice", &root).await;
    assert_eq!(reports(&world, &root).await, 1);
    let thread = world.thread("alice", &root).await;
    assert_eq!(thread.iter().filter(|message| text(message).starts_with("Session")).count(), 1);
    second.stop().await;
    world.end().await;
}

#[tokio::test]
async fn what_is_frozen_goes_on_after_the_thaw() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let held = world.command("bob", "/ghost freeze a change window").await;
            assert!(held.to_string().contains("on hold"), "{held}");
            let root = world.mention("alice", "the link is down").await;
            world.sees("alice", &root, "the board", |message| text(message).starts_with("Session")).await;
            // Whoever may not thaw does not.
            let refused = world.command("alice", "/ghost thaw").await;
            assert!(refused.to_string().contains("Not yours"), "{refused}");
            assert!(world.store.flag("freeze").await.unwrap().is_some());
            assert_eq!(reports(world, &root).await, 0);
            world.command("bob", "/ghost thaw").await;
            world.concluded("alice", &root).await;
        })
        .await;
}

#[tokio::test]
async fn two_bots_share_the_work_and_nothing_happens_twice() {
    let world = World::new(&look_once()).await;
    let (first, second) = (world.bot().await, world.bot().await);
    let mut roots = Vec::new();
    for number in 0..8 {
        roots.push(world.mention("alice", &format!("link {number} is down")).await);
    }
    for root in &roots {
        world.concluded("alice", root).await;
    }
    first.stop().await;
    second.stop().await;
    for root in &roots {
        let thread = world.thread("alice", root).await;
        let begins = |word: &str| thread.iter().filter(|message| text(message).starts_with(word)).count();
        assert_eq!((begins("Session"), begins("Inconclusive")), (1, 1), "{thread:#?}");
    }
    world.end().await;
}

#[tokio::test]
async fn while_slack_is_away_nothing_is_lost() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            for method in ["chat.postMessage", "chat.update", "conversations.replies"] {
                world.fault(json!({"kind": "error", "method": method, "count": 3, "status": 503})).await;
            }
            let root = world.mention("alice", "the link is down").await;
            world.concluded("alice", &root).await;
            assert_eq!(reports(world, &root).await, 1);
        })
        .await;
}

#[tokio::test]
async fn a_mention_is_not_lost_because_nobody_knows_who_wrote_it() {
    for over in [Over::Sockets, Over::Requests] {
        World::new(&look_once())
            .await
            .talk_over(over, async |world| {
                world
                    .fault(json!({"kind": "error", "method": "users.info", "count": 2, "status": 503}))
                    .await;
                let root = world.mention("alice", "the link is down").await;
                world.concluded("alice", &root).await;
                assert_eq!(reports(world, &root).await, 1);
            })
            .await;
    }
}

#[tokio::test]
async fn an_unknown_person_gets_a_refusal() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            world.fault(json!({"kind": "error", "method": "users.info", "count": 4, "status": 503})).await;
            let root = world.mention("alice", "the link is down").await;
            world.hears("alice", &root, "does not say who you are").await;
            assert_eq!(world.store.list(None, 9).await.unwrap(), []);
        })
        .await;
}
