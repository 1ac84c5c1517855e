//! More than one subscription: what the unmodified `az` prints on the lab is what the built-in one prints, and what is read natively.

use ghost_cloud::failure;
use ghost_lab::azure::Description;
use serde_json::Value;

use super::native::place::Native;
use super::real_az::{az, program};
use super::stage::{Parrot, Stage};

const HUB: &str = "00000000-0000-0000-0000-000000000002";

/// What is asked; `@` stands for the other subscription.
const LINES: [&str; 6] = [
    "vm list -g hub-rg --subscription @ -o json",
    "network vnet list -g hub-rg --subscription @ -o json",
    "network nic show-effective-route-table -g hub-rg -n orders-db-nic --subscription @ -o json",
    "network nic list-effective-nsg -g hub-rg -n orders-db-nic --subscription @ -o json",
    "network vnet list -g hub-rg -o json",
    "account list -o json",
];

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace('@', HUB)).collect()
}

async fn stage() -> Stage {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/estates/two-subscriptions.json");
    let about = Description::parse(&std::fs::read(file).unwrap()).unwrap();
    Stage::of(Parrot(Ok((String::new(), String::new()))), about).await
}

#[tokio::test]
async fn another_subscription_reads_the_same_through_the_real_az_and_natively() {
    let Some(program) = program() else { return };
    let stage = stage().await;
    let native = Native::over(&stage);
    for line in LINES {
        let words = words(line);
        let theirs = az(&stage, &program, &words).await;
        let ours = native.read(&words).await.unwrap();
        assert_eq!(ours.exit_code, theirs.exit, "{line}: {ours:?} {theirs:?}");
        assert_eq!(ours.output.trim_end(), theirs.out.trim_end(), "{line}");
    }
    let groups = az(&stage, &program, &words("account management-group list --no-register -o json")).await;
    let groups: Vec<Value> = serde_json::from_str(&groups.out).unwrap();
    assert_eq!(groups[0]["displayName"], "Corp", "{groups:?}");
    // The extension is none of its packages: its absence is no answer.
    let graph = az(&stage, &program, &words("graph query --graph-query x -o json")).await;
    assert_eq!(graph.exit, Some(2), "{graph:?}");
    stage.lab.cloud().close(&[HUB.to_owned()]);
    let closed = az(&stage, &program, &words(LINES[0])).await;
    assert_eq!(failure(closed.exit, &closed.err).code.as_deref(), Some("AuthorizationFailed"), "{closed:?}");
    let closed = Native::over(&stage).read(&words(LINES[0])).await.unwrap();
    assert_eq!(closed.exit_code, Some(1), "{closed:?}");
    assert!(closed.stderr.contains("not found"), "{closed:?}");
    drop(native);
    stage.down().await;
}
