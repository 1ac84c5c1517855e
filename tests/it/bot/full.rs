//! A workspace that takes no more files.

use serde_json::{Value, json};

use super::stage::{World, text};
use crate::session::world::{conclude, run, suppose};

#[tokio::test]
async fn a_report_does_not_wait_for_files_that_slack_will_not_take() {
    let world = World::new(&[suppose(), run("cat /proc/net/dev"), conclude("REFUTED")]).await;
    let full = json!({"kind": "error", "method": "files.getUploadURLExternal", "count": 99,
        "error": "storage_limit_reached"});
    world.fault(full).await;
    let bot = world.bot().await;
    let root = world.mention("alice", "the link is down").await;
    world
        .sees("alice", &root, "a note", |message| text(message).starts_with("The files of this report"))
        .await;
    // It is not brought once more: the ledger says that it was delivered.
    world
        .until("the session is over", async || {
            let lines = world.store.read(&world.store.list(None, 1).await.unwrap()[0], 0).await.unwrap();
            lines.iter().any(|line| line.contains("\"what\":\"report\"")).then_some(())
        })
        .await;
    let is_over = |message: &Value| {
        text(message).starts_with("Session ghost-") && text(message).contains(": Inconclusive")
    };
    world.sees("alice", &root, "the board at its end", is_over).await;
    world.reads_all("alice", &root).await;
    let thread = world.thread("alice", &root).await;
    let begins = |word: &str| thread.iter().filter(|message| text(message).starts_with(word)).count();
    assert_eq!((begins("Inconclusive"), begins("The files")), (1, 1), "{thread:#?}");
    bot.stop().await;
    world.end().await;
}
