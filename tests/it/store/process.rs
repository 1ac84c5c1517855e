//! Another process that holds the embedded store: this test binary, started again to run one test alone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use ghost_store::{EmbeddedStore, Inbox as _, Leases as _, Ledger as _};

use super::{LONG, id, quick};

const FILE: &str = "GHOST_TEST_STORE_FILE";

/// Starts a process that writes events to the store and prints each one's number once it is stored.
#[expect(clippy::disallowed_methods, reason = "a second process is what the test is about")]
pub(super) fn start(file: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::process::the_other_process", "--nocapture", ""])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the numbers that a process acknowledges, as they come.
pub(super) fn acknowledged(process: &mut Child) -> impl Iterator<Item = u64> + use<> {
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("stored ")?.parse().ok())
}

/// Does nothing unless a file is named.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how the parent tells the child what to do")]
async fn the_other_process() {
    let Some(file) = std::env::var_os(FILE).map(PathBuf::from) else { return };
    let store = EmbeddedStore::open(&file, quick()).unwrap();
    let lease = store.acquire(&id("s1"), "child", LONG).await.unwrap().unwrap();
    for number in 0.. {
        store.deliver(&id("s1"), &number.to_string(), "item").await.unwrap();
        store.append(&lease, number, &[format!("event {number}")], 1).await.unwrap();
        println!("stored {number}");
        std::io::stdout().flush().unwrap();
    }
}
