//! Two people ask about the same thing in two places.

use serde_json::Value;

use super::stage::{World, has_button, is_private, text};
use crate::lab::stage::NETWORK;

const GENERAL: &str = "C0LAB1GENE";
const ON_CALL: &str = "C0LAB2SECR";

/// Opens a session that waits for an answer, and returns its thread and card.
async fn waiting(world: &World, user: &str, channel: &str, words: &str) -> (String, Value) {
    let root = world.say(user, channel, &format!("@Ghost {words}")).await;
    let card = world.card_in("bob", channel, &root).await;
    (root, card)
}

/// Waits for the offer.
async fn offered(world: &World, user: &str, channel: &str, root: &str) -> Value {
    world
        .sees_in(user, channel, root, "an offer", |message| {
            is_private(message) && has_button(message, "join")
        })
        .await
}

/// Ends a session that waits for an answer.
async fn ends(world: &World, channel: &str, root: &str, card: &Value) {
    world.press_in("bob", channel, card, "approve").await;
    world.concluded_in("bob", channel, root).await;
    world.card_says_in("bob", channel, root, card, &["exit 0"]).await;
}

#[tokio::test]
async fn joining_ends_the_own_session_and_steers_the_other_one() {
    World::asking()
        .await
        .talk(async |world| {
            let (first, card) = waiting(world, "alice", NETWORK, "the link to web-1:5001 is down").await;
            let (second, other) = waiting(world, "chloe", GENERAL, "WEB-1 loses packets since noon").await;
            let offer = offered(world, "chloe", GENERAL, &second).await;
            assert!(
                offer.to_string().contains(&first.replace('.', "")),
                "no link to the other thread: {offer}"
            );
            assert!(text(&offer).contains("web-1"), "{offer}");
            world.press_in("chloe", GENERAL, &offer, "join").await;
            world.concluded_in("chloe", GENERAL, &second).await;
            world.card_says_in("chloe", GENERAL, &second, &other, &["Session stopped"]).await;
            let said = world
                .until("the words in the other session", async || {
                    Some(world.events(NETWORK, &first, "said").await).filter(|said| !said.is_empty())
                })
                .await;
            assert_eq!(said[0]["text"], "WEB-1 loses packets since noon");
            let offer = world.hears_in("chloe", GENERAL, &second, "Your words are in session").await;
            assert!(!has_button(&offer, "join"), "{offer}");
            ends(world, NETWORK, &first, &card).await;
            assert_eq!(world.runs(), 1);
        })
        .await;
}

#[tokio::test]
async fn whoever_goes_on_alone_keeps_their_session() {
    World::asking()
        .await
        .talk(async |world| {
            let (first, card) = waiting(world, "alice", NETWORK, "the link to web-1 is down").await;
            let (second, other) = waiting(world, "chloe", NETWORK, "web-1 loses packets").await;
            let offer = offered(world, "chloe", NETWORK, &second).await;
            // Only whoever opened the session may end it by this button, whatever a client sends.
            world.press("chloe", &offer, "own").await;
            let offer = world.hears("chloe", &second, "goes on by itself").await;
            assert!(!has_button(&offer, "join"), "{offer}");
            ends(world, NETWORK, &first, &card).await;
            ends(world, NETWORK, &second, &other).await;
            assert_eq!(world.runs(), 2);
        })
        .await;
}

#[tokio::test]
async fn nobody_hears_of_a_private_channel_and_nobody_of_another_target() {
    World::asking()
        .await
        .talk(async |world| {
            let (first, card) = waiting(world, "alice", ON_CALL, "the link to web-1 is down").await;
            let (second, other) = waiting(world, "chloe", NETWORK, "web-1 loses packets").await;
            let (third, another) = waiting(world, "chloe", NETWORK, "web-2 loses packets").await;
            ends(world, ON_CALL, &first, &card).await;
            ends(world, NETWORK, &second, &other).await;
            ends(world, NETWORK, &third, &another).await;
            for root in [&second, &third] {
                assert!(!world.thread("chloe", root).await.iter().any(is_private));
            }
        })
        .await;
}
