//! What is left when an owner dies in the middle, and who puts it away.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ghost_base::SystemClock;
use ghost_lab::LabClock;
use ghost_lab::host::{Host as _, Netns, sweep};

use super::place::{DEST, Place, fabric, script, skipped};
use crate::random::setting;

/// Names the folder in the owner's environment.
const FOLDER: &str = "GHOST_TEST_NETNS_FOLDER";

/// Owns a lab, does something to it, and waits to be killed.
async fn own(folder: &str) {
    let clock = LabClock::new(Arc::new(SystemClock));
    let host = Netns::open(Path::new(folder).to_owned(), fabric(), clock).await.unwrap();
    let lines = "iperf -s -D -p 5002\niptables -I INPUT 1 -p icmp -j DROP\ntc qdisc add dev eth0 root tbf rate 5mbit burst 20kb latency 400ms";
    let ran = host.run(DEST, &script(lines, ghost_lab::host::ScriptTransport::Ssh)).await.unwrap();
    assert_eq!(ran.code, 0, "{ran:?}");
    // The one who kills waits for this file.
    std::fs::write(Path::new(folder).join("ready"), "").unwrap();
    std::future::pending::<()>().await;
}

fn namespaces(owner: u32) -> Vec<String> {
    let part = format!("-{owner}-");
    let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.contains(&part))
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "an owner that can be killed is a process of its own")]
#[tokio::test]
async fn what_a_dead_owner_left_is_removed_and_what_lives_is_not() {
    if skipped() {
        return;
    }
    let folder = setting(FOLDER);
    if !folder.is_empty() {
        return own(&folder).await;
    }
    let place = Place::new(fabric()).await;
    let shared = place.folder.path();
    let name = "netns::crash::what_a_dead_owner_left_is_removed_and_what_lives_is_not";
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FOLDER, shared)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = std::time::Instant::now();
    while !shared.join("ready").exists() {
        let ended = owner.try_wait().unwrap();
        if ended.is_some() || begun.elapsed().as_secs() > 60 {
            let reported: Vec<String> =
                BufReader::new(owner.stderr.take().unwrap()).lines().map_while(Result::ok).collect();
            panic!("the owner did not come up: {ended:?} {reported:#?}");
        }
        tokio::task::yield_now().await;
    }
    let number = owner.id();
    // While it lives, it is nobody's to put away.
    assert_eq!(sweep(shared).unwrap(), Vec::<String>::new());
    owner.kill().unwrap();
    owner.wait().unwrap();
    let left = namespaces(number);
    assert_eq!(left.len(), 4, "{left:?}");
    let mut removed = sweep(shared).unwrap();
    removed.sort();
    let mut expected = left;
    expected.sort();
    assert_eq!(removed, expected);
    assert_eq!(namespaces(number), Vec::<String>::new());
    assert_eq!(sweep(shared).unwrap(), Vec::<String>::new());
    // The other lab of the folder goes on as if nothing had happened.
    let reported = place.ask(DEST, "ping -n -c 1 -W 1 10.0.1.4").await;
    assert!(reported.contains("1 received"), "{reported}");
    place.host.close().await;
}
