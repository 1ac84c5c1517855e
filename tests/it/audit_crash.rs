//! The audit log under real crashes: the kernel kills a writer at every byte of what it writes.
//!
//! The writer is this test binary, started again to run one test alone. A limit on the size of files makes the kernel
//! end it with SIGXFSZ at exactly that byte; the same limit with the signal ignored is a full disk. At every byte with `GHOST_LONG=1`,
//! else at a seeded seventh of them and at the first and last ones; `GHOST_TEST_SEED` repeats a run.

#![expect(clippy::unwrap_used, reason = "the helpers below are tests too")]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use crate::random::{Random, is_long, seed, setting};
use ghost_base::Timestamp;
use ghost_shell::audit::{Entry, Error, Kind, Log, Receipt, Verification, verify};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const SIGXFSZ: i32 = 25;
const PROCESSES: usize = 8;
const RECORDS: u64 = 50;
const THREADS: usize = 4;
/// So many bytes at both ends are always tried.
const EDGE: usize = 3;
const TASK: &str = "GHOST_TEST_AUDIT_TASK";
const FOLDER: &str = "GHOST_TEST_AUDIT_FOLDER";
const LIMIT: &str = "GHOST_TEST_AUDIT_LIMIT";

#[test]
fn a_kill_at_any_byte_of_a_record_leaves_a_log_that_goes_on() {
    let first = written(b"", 1);
    let points = kill_at_every_byte(b"") + kill_at_every_byte(&first);
    println!("{points} kills");
    assert!(points > 500 / stride(), "{points}");
}

#[test]
fn a_kill_at_any_byte_of_a_repair_leaves_a_log_that_goes_on() {
    let first = written(b"", 1);
    let record = written(&first, 1).split_off(first.len());
    let mut points = 0;
    for cut in [1, record.len() / 2, record.len() - 2] {
        points += kill_at_every_byte(&[&first[..], &record[..cut]].concat());
    }
    // The record is whole and lacks only its newline.
    points += kill_at_every_byte(&[&first[..], &record[..record.len() - 1]].concat());
    println!("{points} kills");
    assert!(points > 1500 / stride(), "{points}");
}

#[test]
fn a_kill_at_any_byte_of_the_repair_of_a_repair_leaves_a_log_that_goes_on() {
    let first = written(b"", 1);
    let torn = [&first[..], b"{\"format\":1,"].concat();
    let repaired = written(&torn, 1);
    let points =
        kill_at_every_byte(&repaired[..torn.len() + 1]) + kill_at_every_byte(&repaired[..torn.len() + 100]);
    println!("{points} kills");
    assert!(points > 1000 / stride(), "{points}");
}

#[test]
fn a_disk_that_is_full_at_any_byte_leaves_a_log_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let status = start("full", folder.path(), 0).wait().unwrap();
    assert!(status.success(), "{status}");
    let points = fs::read_to_string(folder.path().join("points")).unwrap();
    println!("{points} full disks");
    assert!(points.parse::<u64>().unwrap() > 250, "{points}");
}

#[test]
fn eight_processes_share_one_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut writers: Vec<_> = (0..PROCESSES).map(|_| start("many", folder.path(), 0)).collect();
    assert!(writers.iter_mut().all(|writer| writer.wait().unwrap().success()));
    let found = verified(&file(folder.path()));
    assert_eq!((found.ok, found.records), (true, 400), "{found:?}");
}

#[test]
fn eight_threads_share_one_log() {
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| append_many(folder.path()));
        }
    });
    let found = verified(&file(folder.path()));
    assert_eq!((found.ok, found.records), (true, 400), "{found:?}");
}

/// Does what the other tests start this binary for; on its own it does nothing.
#[test]
fn a_writer_that_the_other_tests_start() {
    let folder = PathBuf::from(setting(FOLDER));
    match setting(TASK).as_str() {
        "kill" => {
            // The signal would leave a core file behind.
            setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
            limit_files_to(Some(setting(LIMIT).parse().unwrap()));
            append(&folder).unwrap();
        }
        "full" => fill_at_every_byte(&folder),
        "many" => append_many(&folder),
        _ => {}
    }
}

/// Kills a writer at the bytes of its next append to a log that holds `before`; returns how often.
fn kill_at_every_byte(before: &[u8]) -> usize {
    let end = written(before, 1).len();
    let offset = Random::new(seed("audit_crash")).below(stride());
    let is_edge = |byte: usize| byte < before.len() + EDGE || byte + EDGE >= end;
    let points: Vec<usize> =
        (before.len()..end).filter(|byte| byte % stride() == offset || is_edge(*byte)).collect();
    thread::scope(|scope| {
        for part in points.chunks(points.len().div_ceil(THREADS)) {
            scope.spawn(move || part.iter().for_each(|byte| kill(before, *byte)));
        }
    });
    points.len()
}

/// One of so many bytes is tried.
fn stride() -> usize {
    if is_long() { 1 } else { 7 }
}

fn kill(before: &[u8], byte: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path());
    fs::write(&path, before).unwrap();
    let status: ExitStatus = start("kill", folder.path(), byte).wait().unwrap();
    assert_eq!(status.signal(), Some(SIGXFSZ), "byte {byte}: {status}");
    let left = fs::read(&path).unwrap();
    assert_eq!(left.len(), byte);
    assert!(left.starts_with(before));
    let receipt = append(folder.path()).unwrap();
    assert_continues(&path, &left, &receipt);
}

/// Appends where the disk is full at every byte, each time again with the same log once there is room.
fn fill_at_every_byte(folder: &Path) {
    let path = file(folder);
    let first = written(b"", 1);
    let torn = [&first[..], b"{\"format\":1,"].concat();
    let mut points = 0;
    for before in [first, torn] {
        for byte in before.len()..written(&before, 1).len() {
            fs::write(&path, &before).unwrap();
            let mut log = open(folder).unwrap();
            limit_files_to(Some(byte as u64));
            let refused = log.append(now(), &entry());
            limit_files_to(None);
            assert!(matches!(refused, Err(Error::Io { doing: "writing", .. })), "byte {byte}: {refused:?}");
            let left = fs::read(&path).unwrap();
            assert_eq!(left.len(), byte);
            let receipt = log.append(now(), &entry()).unwrap();
            assert_continues(&path, &left, &receipt);
            points += 1;
        }
    }
    fs::write(folder.join("points"), points.to_string()).unwrap();
}

fn append_many(folder: &Path) {
    let mut log = open(folder).unwrap();
    for _ in 0..RECORDS {
        log.append(now(), &entry()).unwrap();
    }
}

#[track_caller]
fn assert_continues(path: &Path, left: &[u8], receipt: &Receipt) {
    assert!(fs::read(path).unwrap().starts_with(left), "what a crash left behind was changed");
    let found = verified(path);
    assert_eq!((found.ok, found.head), (true, Some(receipt.head.to_string())), "{:?}", found.reason);
}

/// Returns the file after `count` records were appended to one that holds `before`.
fn written(before: &[u8], count: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(file(folder.path()), before).unwrap();
    for _ in 0..count {
        append(folder.path()).unwrap();
    }
    fs::read(file(folder.path())).unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000)
}

fn entry() -> Entry {
    Entry::new(Kind::Intent, "ip link set eth0 down")
}

fn open(folder: &Path) -> Result<Log, Error> {
    Log::open(folder, "s1".parse().unwrap())
}

fn append(folder: &Path) -> Result<Receipt, Error> {
    open(folder)?.append(now(), &entry())
}

fn file(folder: &Path) -> PathBuf {
    folder.join("s1.jsonl")
}

fn verified(path: &Path) -> Verification {
    verify(&fs::read(path).unwrap()[..], None).unwrap()
}

fn limit_files_to(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "only a process of its own can be killed by the kernel")]
fn start(task: &str, folder: &Path, limit: usize) -> std::process::Child {
    // A signal that is ignored stays ignored across exec, so that a write beyond the limit fails instead.
    let prepare = if task == "full" { "trap '' XFSZ; exec \"$@\"" } else { "exec \"$@\"" };
    Command::new("/bin/sh")
        .args(["-c", prepare, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "audit_crash::a_writer_that_the_other_tests_start", "--test-threads=1"])
        .envs([(TASK, task), (LIMIT, &limit.to_string())])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}
