//! Machines that are read themselves, named in a mention.

use std::collections::BTreeSet;

use ghost_investigate::event::SessionHost;

use super::stage::{World, text};
use crate::lab::stage::NETWORK;

async fn world() -> World {
    let mut world = World::new(&[]).await;
    let carrier = ["sh", "-c"].map(str::to_owned).to_vec();
    world.settings.anywhere.hosts = vec![SessionHost { name: "edge-1".to_owned(), carrier }];
    world.settings.anywhere.closed_hosts = BTreeSet::from(["pay-1".to_owned()]);
    world
}

#[tokio::test]
async fn a_mention_that_names_a_machine_is_about_it_and_ends_in_the_same_report() {
    world()
        .await
        .talk(async |world| {
            let root = world.mention("alice", "dns is slow on edge-1").await;
            let closing = world.concluded("alice", &root).await;
            assert!(closing.rca.contains("dns is slow on edge-1"), "{}", closing.rca);
            assert!(closing.rca.contains("the network of edge-1"), "{}", closing.rca);
            let opened = world.events(NETWORK, &root, "opened").await;
            assert!(opened[0].to_string().contains("edge-1"), "{opened:?}");
            // It only reads: nobody is asked, and one command brings everything.
            assert_eq!(
                world.events(NETWORK, &root, "approval_requested").await,
                [] as [serde_json::Value; 0]
            );
            assert_eq!(world.events(NETWORK, &root, "observed").await.len(), 1);
        })
        .await;
}

#[tokio::test]
async fn a_machine_outside_of_the_scope_of_a_channel_is_not_read() {
    world()
        .await
        .talk(async |world| {
            let root = world.mention("alice", "dns is slow on pay-1").await;
            let refused = world.hears("alice", &root, "pay-1").await;
            assert!(text(&refused).contains("pay-1"), "{refused}");
            assert_eq!(world.store.list(None, 9).await.unwrap(), []);
        })
        .await;
}
