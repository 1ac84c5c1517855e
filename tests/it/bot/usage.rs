//! What a channel used, and what it may use in a day.

use ghost_investigate::usage::DayBudget;
use serde_json::Value;

use super::stage::{World, look_once, text};
use crate::lab::stage::NETWORK;

#[tokio::test]
async fn a_channel_sees_what_it_used_and_how_long_its_people_waited() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let none = world.command("alice", "/ghost usage").await.to_string();
            assert!(none.contains("0 sessions") && !none.contains("How long people waited"), "{none}");
            let root = world.mention("alice", "the link to web-1 is down").await;
            world.concluded("alice", &root).await;
            let used = world
                .until("the time to the answer", async || {
                    let used = world.command("bob", "/ghost usage").await.to_string();
                    used.contains("to the answer").then_some(used)
                })
                .await;
            for part in [
                "Today, since 00:00 UTC",
                "1 session",
                "1 command",
                "How long people waited",
                "to the answer",
            ] {
                assert!(used.contains(part), "{part}: {used}");
            }
            assert!(!used.contains("in a day."), "no limit is set: {used}");
        })
        .await;
}

#[tokio::test]
async fn what_a_channel_may_use_in_a_day_ends_with_words_in_the_thread() {
    let mut world = World::new(&look_once()).await;
    world.settings.anywhere.day = DayBudget { commands: 1, ..DayBudget::default() };
    world
        .talk(async |world| {
            let root = world.mention("alice", "the link to web-1 is down").await;
            world.concluded("alice", &root).await;
            // Everybody in the thread reads why nothing begins.
            let root = world.mention("bob", "the link to web-1 is down again").await;
            let refused = |message: &Value| text(message).contains("1 of 1 commands since 00:00 UTC");
            let said = world.sees("alice", &root, "why nothing begins", refused).await;
            assert!(text(&said).contains("nothing new here until 00:00 UTC"), "{said}");
            let asked =
                world.command("bob", "/ghost investigate web-1 cannot reach web-2:5001").await.to_string();
            assert!(asked.contains("1 of 1 commands"), "{asked}");
            assert_eq!(world.store.list(None, 9).await.unwrap().len(), 1);
            let shown = world.command("bob", "/ghost usage").await.to_string();
            assert!(shown.contains("This channel may use 1 commands in a day."), "{shown}");
            assert!(world.state(NETWORK, &root).await.is_none());
        })
        .await;
}
