//! A disk that is full, and has room again later: this test binary, started again, because the limit is the whole process's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ghost_store::{EmbeddedStore, Leases as _, Ledger as _, StoreError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{LONG, id, quick};

const FILE: &str = "GHOST_TEST_FULL_FILE";

#[test]
#[expect(clippy::disallowed_methods, reason = "the limit on files is one of a whole process")]
fn after_a_full_disk_the_same_owner_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    // A signal that is ignored stays ignored across exec, so that a write beyond the limit fails instead.
    let output = Command::new("/bin/sh")
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "store::full::the_process_with_a_full_disk", "--nocapture"])
        .env(FILE, folder.path().join("store.redb"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("went on"), "{said}");
}

/// Does nothing unless a file is named.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how the parent tells the child what to do")]
async fn the_process_with_a_full_disk() {
    let Some(file) = std::env::var_os(FILE).map(PathBuf::from) else { return };
    let store = EmbeddedStore::open(&file, quick()).unwrap();
    let lease = store.acquire(&id("s1"), "worker-a", LONG).await.unwrap().unwrap();
    let event = "x".repeat(100_000);
    let mut stored = 0;
    for room in [0, 50_000, 300_000, 1_000_000] {
        limit_files_to(Some(length(&file) + room));
        let refused = loop {
            match store.append(&lease, stored, std::slice::from_ref(&event), 0).await {
                Ok(length) => stored = length,
                Err(refused) => break refused,
            }
        };
        assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
        limit_files_to(None);
        // Nobody knows whether the last one was written.
        let found = store.read(&id("s1"), 0).await.unwrap();
        assert!(found.iter().all(|line| *line == event));
        let now = u64::try_from(found.len()).unwrap();
        assert!(now == stored || now == stored + 1, "{now} of {stored}");
        stored = store.append(&lease, now, std::slice::from_ref(&event), 0).await.unwrap();
        assert_eq!(stored, now + 1);
    }
    println!("went on behind {stored} events");
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).unwrap().len()
}

fn limit_files_to(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}
