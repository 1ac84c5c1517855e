//! The button that brings the post-mortem into the thread.

use serde_json::{Value, json};

use super::stage::{World, has_button, look_once};
use crate::lab::stage::NETWORK;

fn shared(thread: &[Value]) -> Option<&Value> {
    thread.iter().find(|message| message["files"].to_string().contains("postmortem-"))
}

#[tokio::test]
async fn the_post_mortem_comes_into_the_thread_once_and_names_people_as_they_are_known() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let root = world.mention("alice", "the link to web-1 is down").await;
            let closing = world.concluded("alice", &root).await;
            assert!(has_button(&closing.answer, "postmortem"));
            world.press("bob", &closing.answer, "postmortem").await;
            let message = world
                .until("the post-mortem as a file", async || {
                    shared(&world.thread("alice", &root).await).cloned()
                })
                .await;
            world.note(NETWORK, &message);
            let file = &message["files"][0];
            assert_eq!(file["title"], "Post-mortem");
            let text = world.file("alice", file).await;
            assert!(text.starts_with("# Post-mortem: "), "{text}");
            assert!(text.contains("the link to web-1 is down") && text.contains("## Action items"), "{text}");
            let state = world.state(NETWORK, &root).await.unwrap();
            assert!(!text.contains(state.opened.requester.as_str()), "an id is no name: {text}");
            // Nothing happened since: it is not brought again.
            world.press("bob", &closing.answer, "postmortem").await;
            world.hears("bob", &root, "The post-mortem is in this thread already").await;
            let thread = world.thread("alice", &root).await;
            let files = thread.iter().filter(|message| message["files"].to_string().contains("postmortem-"));
            assert_eq!(files.count(), 1);
        })
        .await;
}

#[tokio::test]
async fn two_people_who_press_at_once_get_one_file() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let root = world.mention("alice", "the link to web-1 is down").await;
            let closing = world.concluded("alice", &root).await;
            // Slack takes its time with the file, so that the second click comes before it is there.
            world
                .fault(json!({"kind": "delay", "method": "files.completeUploadExternal", "millis": 3_000}))
                .await;
            for user in ["alice", "bob"] {
                world.press(user, &closing.answer, "postmortem").await;
            }
            let message = world
                .until("the post-mortem as a file", async || {
                    shared(&world.thread("alice", &root).await).cloned()
                })
                .await;
            world.note(NETWORK, &message);
            world.file("alice", &message["files"][0]).await;
            world.hears("bob", &root, "Somebody pressed this a moment ago").await;
            let thread = world.thread("alice", &root).await;
            let files = thread.iter().filter(|message| message["files"].to_string().contains("postmortem-"));
            assert_eq!(files.count(), 1);
        })
        .await;
}
