//! Facts about the file as a whole: what a log leaves behind, and what `verify` says of it.

mod log;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};

use crate::audit::line::{FORMAT, REPAIRED, Record, Repair, Torn, seal};
use crate::audit::{Entry, Error, Kind, Log, Receipt, Verification, verify as check};
use ghost_base::{Digest, Timestamp};

fn now() -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000)
}

fn open(folder: &Path) -> Result<Log, Error> {
    Log::open(folder, "s1".parse().unwrap())
}

fn append(log: &mut Log, command: &str) -> Result<Receipt, Error> {
    log.append(now(), &Entry::new(Kind::Decided, command))
}

fn file(folder: &Path) -> PathBuf {
    folder.join("s1.jsonl")
}

fn verified(bytes: &[u8]) -> Verification {
    check(bytes, None).unwrap()
}

/// A log of three records, the second of which repairs a tear.
fn sample() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    append(&mut open(folder.path()).unwrap(), "one").unwrap();
    let torn = [fs::read(file(folder.path())).unwrap(), b"{\"format\":1,\"ses".to_vec()].concat();
    fs::write(file(folder.path()), torn).unwrap();
    append(&mut open(folder.path()).unwrap(), "two").unwrap();
    fs::read(file(folder.path())).unwrap()
}

/// The lines of a plain log of `count` records, each with its newline.
fn lines(session: &str, count: usize) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::open(folder.path(), session.parse().unwrap()).unwrap();
    for number in 1..=count {
        append(&mut log, &format!("command {number}")).unwrap();
    }
    let bytes = fs::read(log.path()).unwrap();
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// A first record with every hash right that claims to repair `torn`.
fn repair_of(torn: &[u8]) -> Vec<u8> {
    let body = Repair {
        kind: REPAIRED,
        torn: Torn { bytes: torn.len() as u64, sha256: Digest::of(torn).to_string().into() },
    };
    let mut line = seal(&Record {
        format: FORMAT,
        session: "s1",
        seq: 1,
        at: now().to_string(),
        prev: Digest::of("s1").to_string(),
        audit_id: "s1-0001".into(),
        body: &body,
    })
    .unwrap();
    line.push(b'\n');
    line
}
