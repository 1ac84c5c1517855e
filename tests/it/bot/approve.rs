//! Cards: who may press what, and that it counts once.

use serde_json::json;

use super::stage::{Over, World, has_button, text};
use crate::session::world::{conclude, run, suppose};

#[tokio::test]
async fn an_approved_command_runs_once_and_the_card_says_who_and_what_came_of_it() {
    for over in [Over::Sockets, Over::Requests] {
        World::asking()
            .await
            .talk_over(over, async |world| {
                let (root, card) = world.asks("alice").await;
                assert!(text(&card).starts_with("Approval needed"), "{card}");
                assert_eq!(world.runs(), 0);
                world.approved(&root, &card).await;
            })
            .await;
    }
}

#[tokio::test]
async fn who_may_not_approve_gets_a_private_answer_and_nothing_runs() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            // The requester of a change, a member whom nobody named.
            for (user, part) in [("alice", "somebody else"), ("chloe", "not among those")] {
                for action in ["approve", "modify"] {
                    world.press(user, &card, action).await;
                    let why = world.hears(user, &root, part).await;
                    assert!(text(&why).starts_with("not yours to approve"), "{why}");
                }
            }
            assert_eq!(world.runs(), 0);
            world.card(&root).await;
            world.approved(&root, &card).await;
        })
        .await;
}

#[tokio::test]
async fn a_list_of_approvers_that_cannot_be_fetched_is_a_no_that_says_why() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            for trouble in [json!({"error": "internal_error"}), json!({"status": 503})] {
                let mut fault = json!({"kind": "error", "method": "usergroups.users.list"});
                fault.as_object_mut().unwrap().extend(trouble.as_object().unwrap().clone());
                for action in ["approve", "modify"] {
                    world.fault(fault.clone()).await;
                    let pressed = world.press("bob", &card, action).await;
                    assert!(pressed["view"].is_null(), "{pressed}");
                    let why = world.hears("bob", &root, "could not be found out").await;
                    assert!(text(&why).contains("usergroups.users.list"), "{why}");
                }
            }
            assert_eq!(world.runs(), 0);
            // Who is in the list is asked again with every click.
            world.approved(&root, &card).await;
        })
        .await;
}

#[tokio::test]
async fn a_denial_takes_its_reason_from_a_dialog() {
    for over in [Over::Sockets, Over::Requests] {
        World::asking()
            .await
            .talk_over(over, async |world| {
                let (root, card) = world.asks("alice").await;
                let view = world.opens("bob", &card, "deny").await;
                world.submits("bob", &view, "reason", "not during the day").await;
                world.concluded("alice", &root).await;
                world.card_says(&root, &card, &["Denied by <@U0LABBOB01>", "not during the day"]).await;
                assert_eq!(world.runs(), 0);
            })
            .await;
    }
}

#[tokio::test]
async fn a_changed_command_is_judged_again_and_asked_about_again() {
    for over in [Over::Sockets, Over::Requests] {
        World::asking()
            .await
            .talk_over(over, async |world| {
                let (root, card) = world.asks("chloe").await;
                let view = world.opens("bob", &card, "modify").await;
                let refused = world.submit("bob", &view, json!({"command": {"command": "rm -rf /"}})).await;
                assert!(refused["errors"]["command"].is_string(), "{refused}");
                let other = format!("echo changed | tee -a {}", world.path("ran"));
                world.submits("bob", &view, "command", &other).await;
                let second = world
                    .sees("bob", &root, "a second card", |message| {
                        has_button(message, "approve") && message["ts"] != card["ts"]
                    })
                    .await;
                let shown = second.to_string();
                assert!(shown.contains("changed this command"), "{second}");
                assert!(shown.contains("somebody else has to approve it"), "{second}");
                // Whoever changed it is not its only approver.
                world.press("bob", &second, "approve").await;
                world.hears("bob", &root, "you changed this command; somebody else has to approve it").await;
                assert_eq!(world.runs(), 0);
                assert!(world.refused("U0LABBOB01").await.iter().any(|why| why.contains("you changed")));
                world.press("alice", &second, "approve").await;
                world.concluded("alice", &root).await;
                assert_eq!(std::fs::read_to_string(world.path("ran")).unwrap(), "changed\n");
                world.card_says(&root, &card, &["Changed by <@U0LABBOB01>"]).await;
                world.card_says(&root, &second, &["Approved by <@U0LABALICE>", "exit 0"]).await;
            })
            .await;
    }
}

#[tokio::test]
async fn a_card_says_what_the_gate_found_on_its_machine() {
    let world = World::new(&[]).await;
    std::fs::write(world.path("key.pcap"), "-----BEGIN PRIVATE KEY-----").unwrap();
    let command = format!("capinfos {}", world.path("key.pcap"));
    world
        .plays(&[suppose(), run(&command), conclude("REFUTED")])
        .talk(async |world| {
            let (root, card) = world.asks("chloe").await;
            let shown = card.to_string();
            assert!(shown.contains("Why it asks:") && shown.contains("does not begin as one"), "{card}");
            world.press("bob", &card, "approve").await;
            world.concluded("chloe", &root).await;
            world.card_says(&root, &card, &["Approved by <@U0LABBOB01>", "exit "]).await;
        })
        .await;
}

#[tokio::test]
async fn of_two_people_and_two_clicks_one_decides() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("chloe").await;
            tokio::join!(
                world.press("bob", &card, "approve"),
                world.press("alice", &card, "approve"),
                world.press("bob", &card, "approve"),
            );
            world.concluded("alice", &root).await;
            let after = world.card_says(&root, &card, &["Approved", "exit 0"]).await;
            assert_eq!(world.runs(), 1);
            let state = world.state(crate::lab::stage::NETWORK, &root).await.unwrap();
            assert_eq!(state.approvals.len(), 1);
            // Whoever was too late hears who decided.
            let loser = if text(&after).contains("U0LABBOB01") { "alice" } else { "bob" };
            world.hears(loser, &root, "already decided").await;
            world.hears("bob", &root, "already decided").await;
        })
        .await;
}

#[tokio::test]
async fn what_two_have_to_approve_waits_for_the_second_one() {
    let mut world = World::asking().await;
    world.settings.limits.approvers = 2;
    world
        .talk(async |world| {
            let (root, card) = world.asks("chloe").await;
            world.press("bob", &card, "approve").await;
            let half = world
                .sees("alice", &root, "a card with one vote", |message| {
                    message["ts"] == card["ts"] && message.to_string().contains("1 of 2")
                })
                .await;
            assert!(has_button(&half, "approve") && half.to_string().contains("U0LABBOB01"), "{half}");
            world.press("bob", &card, "approve").await;
            world.hears("bob", &root, "your vote counted already").await;
            assert_eq!(world.runs(), 0);
            world.press("alice", &card, "approve").await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Approved by <@U0LABALICE>", "exit 0"]).await;
            assert_eq!(world.runs(), 1);
        })
        .await;
}

#[tokio::test]
async fn a_card_outlives_the_bot_that_posted_it() {
    let world = World::asking().await;
    let first = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    let card = world.card(&root).await;
    first.die().await;
    let second = world.bot().await;
    world.press("bob", &card, "approve").await;
    world.concluded("alice", &root).await;
    world.card_says(&root, &card, &["exit 0"]).await;
    assert_eq!(world.runs(), 1);
    // One card, one board: nobody posted them a second time.
    let thread = world.thread("alice", &root).await;
    assert_eq!(
        thread.iter().filter(|message| text(message).starts_with("Session")).count(),
        1,
        "{thread:#?}"
    );
    second.stop().await;
    world.end().await;
}

#[tokio::test]
async fn a_refresh_in_the_middle_of_a_click_loses_nothing() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            // The answer of the store's own question comes late, and the connection ends meanwhile.
            world.fault(json!({"kind": "delay", "method": "users.info", "count": 1, "millis": 500})).await;
            tokio::join!(
                world.press("bob", &card, "approve"),
                world.fault(json!({"kind": "refresh", "at_once": true})),
            );
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["exit 0"]).await;
            assert_eq!(world.runs(), 1);
        })
        .await;
}

#[tokio::test]
async fn whoever_changed_a_command_may_approve_it_where_the_configuration_says_so() {
    let mut world = World::asking().await;
    world.settings.anywhere.approvers.own.modifier = true;
    world
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let view = world.opens("bob", &card, "modify").await;
            let other = format!("echo changed | tee -a {}", world.path("ran"));
            world.submits("bob", &view, "command", &other).await;
            let second = world
                .sees("bob", &root, "a second card", |message| {
                    has_button(message, "approve") && message["ts"] != card["ts"]
                })
                .await;
            assert!(!second.to_string().contains("somebody else"), "{second}");
            world.press("bob", &second, "approve").await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Changed by <@U0LABBOB01>"]).await;
            world.card_says(&root, &second, &["Approved by <@U0LABBOB01>", "exit 0"]).await;
        })
        .await;
}

/// A command that would stop what others use, if there were anything of that name.
const OUTAGE: &str = "systemctl restart ghost-no-such-unit.service";

#[tokio::test]
async fn an_outage_takes_two_people_who_are_named_for_it_unless_said() {
    let mut world = World::new(&[suppose(), run(OUTAGE), conclude("REFUTED")]).await;
    world.settings.anywhere.approvers.outage = world.settings.anywhere.approvers.change.clone();
    world
        .talk(async |world| {
            let (root, card) = world.asks("chloe").await;
            assert!(text(&card).contains("outage"), "{card}");
            assert!(card.to_string().contains("stops or restarts something that others use"), "{card}");
            world.press("bob", &card, "approve").await;
            world
                .sees("alice", &root, "a card with one vote", |message| {
                    message["ts"] == card["ts"] && message.to_string().contains("1 of 2")
                })
                .await;
            // The same person counts once.
            world.press("bob", &card, "approve").await;
            world.hears("bob", &root, "your vote counted already").await;
            world.press("alice", &card, "approve").await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Approved by <@U0LABALICE>"]).await;
        })
        .await;
}

#[tokio::test]
async fn whoever_approves_changes_approves_no_outage() {
    let mut world = World::new(&[suppose(), run(OUTAGE), conclude("REFUTED")]).await;
    world.settings.anywhere.approvers.outage = ghost_agent::bot::People::default();
    world
        .talk(async |world| {
            let (root, card) = world.asks("chloe").await;
            world.press("bob", &card, "approve").await;
            world.hears("bob", &root, "names nobody who may").await;
            let view = world.opens("bob", &card, "deny").await;
            world.submits("bob", &view, "reason", "not now, please").await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Denied by <@U0LABBOB01>"]).await;
        })
        .await;
}
