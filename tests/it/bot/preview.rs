//! The dialog in which a command is changed shows the verdict that the gate will give, before anybody sends it off.

use std::os::unix::fs::PermissionsExt as _;

use ghost_shell::Surroundings;
use serde_json::{Value, json};

use super::stage::World;
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose};

impl World {
    /// Types a command into a dialog, and waits for a verdict with these words.
    async fn judged(&self, view: &Value, command: &str, words: &[&str]) {
        let typed = json!({"user": "bob", "view_id": view["id"], "action_id": "command", "wait_ms": 0,
            "values": {"command": {"command": command}}});
        let done = self.slack.person("press", typed).await;
        assert_eq!(done.get("ok"), Some(&json!(true)), "{done}");
        self.until(&format!("a verdict on {command} with {words:?}"), async || {
            let shown = self.look("view", &[("user", "bob")]).await.to_string();
            words.iter().all(|word| shown.contains(word)).then_some(())
        })
        .await;
    }
}

/// A listing that is longer than a model is shown; what counts lies in the middle.
fn listing() -> String {
    let row = |at: usize| match at {
        400 => json!({"name": "api-ip", "ipAddress": "203.0.113.77"}),
        at => json!({"name": format!("ip-{at}"), "ipAddress": format!("198.51.100.{}", at % 250)}),
    };
    Value::from((0..800).map(row).collect::<Vec<_>>()).to_string()
}

#[tokio::test]
async fn the_dialog_knows_the_whole_listings_of_the_cloud_and_the_files_of_the_machine() {
    let world = World::new(&[]).await;
    let az = world.path("az");
    std::fs::write(&az, format!("#!/bin/sh\ncat <<'END-OF-ROWS'\n{}\nEND-OF-ROWS\n", listing())).unwrap();
    std::fs::set_permissions(&az, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(world.path("key.pcap"), "-----BEGIN PRIVATE KEY-----").unwrap();
    let ask = format!("echo ran | tee -a {}", world.path("ran"));
    world
        .plays(&[suppose(), run("az network public-ip list -g rg -o json"), run(&ask), conclude("REFUTED")])
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let state = world.state(NETWORK, &root).await.unwrap();
            let listed = state.steps.first().unwrap().done.as_ref().unwrap();
            assert!(listed.evidence.is_some() && !listed.output.contains("203.0.113.77"), "{listed:?}");
            let view = world.opens("bob", &card, "modify").await;
            world
                .judged(&view, "ping -c 1 203.0.113.77", &["SAFE", "it runs as soon as you propose it"])
                .await;
            world.judged(&view, "ping -c 1 203.0.113.78", &["RISKY", "destination.unknown"]).await;
            let key = format!("capinfos {}", world.path("key.pcap"));
            world.judged(&view, &key, &["RISKY", "file.capture", "does not begin as one"]).await;
            world.close("bob", &view).await;
            world.approved(&root, &card).await;
        })
        .await;
}

#[tokio::test]
async fn the_dialog_says_where_nothing_would_confine_a_read() {
    let mut world = World::asking().await;
    world.settings.surroundings = Surroundings::default().without_sandbox(true);
    world
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            let view = world.opens("bob", &card, "modify").await;
            world.judged(&view, "uname -s", &["RISKY", "sandbox.missing", "needs an approval"]).await;
            world.close("bob", &view).await;
            world.approved(&root, &card).await;
        })
        .await;
}
