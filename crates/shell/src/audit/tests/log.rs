//! Facts about appending: what stands on the disk, what is refused, what is repaired.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::{append, file, lines, now, open, sample, verified};
use crate::audit::{Broken, Entry, Error, Kind, Log, MAX_LINE_BYTES};
use ghost_base::Digest;

#[test]
fn records_are_numbered_and_those_of_one_command_share_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(folder.path()).unwrap();
    let first = append(&mut log, "blocked").unwrap();
    let intent = log.append(now(), &Entry::new(Kind::Intent, "ls")).unwrap();
    let done = Entry { audit_id: Some(intent.audit_id.clone()), ..Entry::new(Kind::Done, "ls") };
    let done = log.append(now(), &done).unwrap();
    assert_eq!((first.seq, first.audit_id.as_str()), (1, "s1-0001"));
    assert_eq!((intent.seq, intent.audit_id.as_str()), (2, "s1-0002"));
    assert_eq!((done.seq, done.audit_id.as_str(), done.head), (3, "s1-0002", log.head()));
    let text = fs::read_to_string(log.path()).unwrap();
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records[0]["prev"], Digest::of("s1").to_string());
    assert_eq!(records[1]["prev"], records[0]["hash"]);
    assert_eq!(records[2]["hash"], done.head.to_string());
    assert_eq!(records[2]["at"], "2023-11-14T22:13:20.000Z");
    assert_eq!(records[2]["format"], 1);
}

/// A log of 300 records, which is longer than what is read of an end.
fn long(folder: &Path) -> Vec<u8> {
    let mut log = open(folder).unwrap();
    let words = "x".repeat(700);
    for number in 0..300 {
        append(&mut log, &format!("{number} {words}")).unwrap();
    }
    fs::read(file(folder)).unwrap()
}

#[test]
fn a_log_whose_end_alone_is_read_goes_on_as_one_that_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let open_end = || Log::open_end(folder.path(), "s1".parse().unwrap());
    assert_eq!(append(&mut open_end().unwrap(), "first").unwrap().seq, 1);
    fs::remove_file(file(folder.path())).unwrap();
    let whole = long(folder.path());
    let mut end = open_end().unwrap();
    let mut other = open(folder.path()).unwrap();
    assert_eq!((end.head(), end.records()), (other.head(), 300));
    assert_eq!(append(&mut end, "more").unwrap().seq, 301);
    assert_eq!(append(&mut other, "from another process").unwrap().seq, 302);
    assert_eq!(append(&mut end, "again").unwrap().seq, 303);
    let after = fs::read(file(folder.path())).unwrap();
    assert!(verified(&after).ok && after.starts_with(&whole));
}

#[test]
fn a_log_whose_end_alone_is_read_repairs_what_was_torn_and_refuses_what_was_changed_there() {
    let folder = tempfile::tempdir().unwrap();
    let open_end = || Log::open_end(folder.path(), "s1".parse().unwrap());
    let whole = long(folder.path());
    // A crash cut the last record short.
    fs::write(file(folder.path()), &whole[..whole.len() - 20]).unwrap();
    assert_eq!(append(&mut open_end().unwrap(), "after a crash").unwrap().seq, 301);
    assert!(verified(&fs::read(file(folder.path())).unwrap()).ok);
    // Whatever byte of the last 60 kB is changed, nothing is appended.
    for back in (10..60_000).step_by(1_777) {
        let mut changed = whole.clone();
        let at = changed.len() - back;
        changed[at] ^= 1;
        fs::write(file(folder.path()), &changed).unwrap();
        let opened = open_end();
        assert!(opened.is_err() || append(&mut opened.unwrap(), "more").is_err(), "{back}");
    }
    // One that stands before is found by reading it whole.
    let mut changed = whole.clone();
    changed[400] ^= 1;
    fs::write(file(folder.path()), &changed).unwrap();
    assert!(open_end().is_ok() && open(folder.path()).is_err() && !verified(&changed).ok);
    // Of another session's file nothing is believed.
    fs::copy(file(folder.path()), folder.path().join("s2.jsonl")).unwrap();
    assert!(Log::open_end(folder.path(), "s2".parse().unwrap()).is_err());
}

#[test]
fn the_file_and_its_folder_are_private() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("data/audit");
    open(&folder).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file(&folder)), mode(&folder)), (0o600, 0o700));
    fs::set_permissions(file(&folder), fs::Permissions::from_mode(0o644)).unwrap();
    open(&folder).unwrap();
    assert_eq!(mode(&file(&folder)), 0o600);
}

#[test]
fn a_link_in_place_of_the_file_is_refused_and_its_target_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    symlink(&target, file(folder.path())).unwrap();
    assert!(matches!(open(folder.path()), Err(Error::Link { .. })));
    assert!(!target.exists());
    fs::write(&target, "x").unwrap();
    assert!(matches!(open(folder.path()), Err(Error::Link { .. })));
    assert_eq!(fs::read(&target).unwrap(), b"x");
}

#[test]
fn a_folder_in_place_of_the_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(file(folder.path())).unwrap();
    assert!(matches!(open(folder.path()), Err(Error::NotAFile { .. })));
}

#[test]
fn two_logs_of_one_session_continue_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (open(folder.path()).unwrap(), open(folder.path()).unwrap());
    for (number, log) in [(1, true), (2, false), (3, false), (4, true)] {
        let log = if log { &mut one } else { &mut other };
        assert_eq!(append(log, "x").unwrap().seq, number);
    }
    assert_eq!((one.records(), other.records()), (4, 3));
    assert!(verified(&fs::read(one.path()).unwrap()).ok);
}

#[test]
fn a_file_that_shrank_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(folder.path()).unwrap();
    append(&mut log, "one").unwrap();
    let length = fs::metadata(log.path()).unwrap().len();
    append(&mut log, "two").unwrap();
    fs::File::options().write(true).open(log.path()).unwrap().set_len(length).unwrap();
    assert!(matches!(append(&mut log, "three"), Err(Error::Shrank { is, .. }) if is == length));
}

#[test]
fn a_file_that_was_replaced_or_removed_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(folder.path()).unwrap();
    append(&mut log, "one").unwrap();
    let bytes = fs::read(log.path()).unwrap();
    fs::remove_file(log.path()).unwrap();
    assert!(matches!(append(&mut log, "two"), Err(Error::Replaced { .. })));
    fs::write(log.path(), bytes).unwrap();
    assert!(matches!(append(&mut log, "two"), Err(Error::Replaced { .. })));
}

#[test]
fn a_last_record_that_changed_under_an_open_log_is_noticed() {
    for edit in [lines("s1", 1)[0].clone(), b"{}\n".repeat(999), b"noise\n".repeat(99)] {
        let folder = tempfile::tempdir().unwrap();
        let mut log = open(folder.path()).unwrap();
        append(&mut log, "a").unwrap();
        fs::write(log.path(), &edit).unwrap();
        assert!(matches!(append(&mut log, "b"), Err(Error::Tampered { record: 1, .. })));
        assert_eq!(fs::read(log.path()).unwrap(), edit);
    }
}

#[test]
fn a_whole_record_that_is_wrong_is_never_continued() {
    let [first, second, third] = <[Vec<u8>; 3]>::try_from(lines("s1", 3)).unwrap();
    let altered = String::from_utf8(third.clone()).unwrap().replace("command 3", "command 4").into_bytes();
    let foreign = lines("s2", 3).remove(2);
    let cases = [
        (vec![&first, &second, &altered], 3, Broken::Altered),
        (vec![&first, &third], 2, Broken::Sequence { expected: 2, found: 3 }),
        (vec![&first, &second, &second], 3, Broken::Sequence { expected: 3, found: 2 }),
        (vec![&first, &second, &foreign], 3, Broken::Session),
    ];
    for (kept, number, why) in cases {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = kept.into_iter().flatten().copied().collect();
        fs::write(file(folder.path()), &bytes).unwrap();
        let error = open(folder.path()).unwrap_err();
        assert!(
            matches!(&error, Error::Tampered { record, broken, .. } if *record == number && *broken == why),
            "{error:?}"
        );
        assert_eq!(fs::read(file(folder.path())).unwrap(), bytes);
    }
}

#[test]
fn a_record_that_lacks_only_its_newline_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = lines("s1", 2).concat();
    bytes.pop();
    fs::write(file(folder.path()), &bytes).unwrap();
    assert_eq!(verified(&bytes).records, 2);
    let mut log = open(folder.path()).unwrap();
    let mut other = open(folder.path()).unwrap();
    assert_eq!(append(&mut log, "three").unwrap().seq, 3);
    assert_eq!(append(&mut other, "four").unwrap().seq, 4);
    let after = fs::read(log.path()).unwrap();
    assert!(after.starts_with(&bytes));
    assert_eq!((verified(&after).ok, verified(&after).records), (true, 4));
}

#[test]
fn a_line_cut_at_any_byte_is_repaired_forward() {
    let [first, second] = <[Vec<u8>; 2]>::try_from(lines("s1", 2)).unwrap();
    for cut in 1..second.len() - 1 {
        let folder = tempfile::tempdir().unwrap();
        let before = [&first, &second[..cut]].concat();
        fs::write(file(folder.path()), &before).unwrap();
        assert!(!verified(&before).ok);
        append(&mut open(folder.path()).unwrap(), "again").unwrap();
        let after = fs::read(file(folder.path())).unwrap();
        assert!(after.starts_with(&before));
        assert_eq!((verified(&after).ok, verified(&after).records), (true, 3), "cut at {cut}");
        let repair = after[before.len() + 1..].split(|byte| *byte == b'\n').next().unwrap();
        let repair: Value = serde_json::from_slice(repair).unwrap();
        let torn = [&second[..cut], b"\n"].concat();
        assert_eq!(repair["kind"], "repaired");
        assert_eq!(repair["torn"]["bytes"], torn.len());
        assert_eq!(repair["torn"]["sha256"], Digest::of(&torn).to_string());
    }
}

#[test]
fn a_repair_cut_at_any_byte_is_repaired_forward() {
    let whole = sample();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in first..whole.len() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(file(folder.path()), &whole[..cut]).unwrap();
        append(&mut open(folder.path()).unwrap(), "again").unwrap();
        let after = fs::read(file(folder.path())).unwrap();
        assert!(after.starts_with(&whole[..cut]));
        assert!(verified(&after).ok, "cut at {cut}: {:?}", verified(&after));
    }
}

#[test]
fn noise_at_the_end_is_stated_and_never_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let noise = b"\0\0\0\n\n{\"format\":1,\n".to_vec();
    let before = [lines("s1", 1).concat(), noise].concat();
    fs::write(file(folder.path()), &before).unwrap();
    append(&mut open(folder.path()).unwrap(), "again").unwrap();
    let after = fs::read(file(folder.path())).unwrap();
    assert!(after.starts_with(&before));
    assert_eq!((verified(&after).ok, verified(&after).records), (true, 3));
}

#[test]
fn an_entry_that_no_reader_would_take_is_refused_before_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(folder.path()).unwrap();
    append(&mut log, "one").unwrap();
    let before = fs::read(log.path()).unwrap();
    let error = append(&mut log, &"x".repeat(MAX_LINE_BYTES)).unwrap_err();
    assert!(matches!(error, Error::Unwritable { broken: Broken::TooLong }));
    assert_eq!(fs::read(log.path()).unwrap(), before);
    assert_eq!(append(&mut log, &"x".repeat(MAX_LINE_BYTES - 1000)).unwrap().seq, 2);
    assert!(verified(&fs::read(log.path()).unwrap()).ok);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is written and wherever crashes cut, the log goes on, keeps what it had, and verifies.
    #[test]
    fn no_run_of_appends_and_crashes_breaks_the_chain(
        steps in prop::collection::vec(("\\PC{0,40}", prop::option::of(0.0..1.0_f64)), 1..12)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path());
        for (command, crash) in steps {
            let before = fs::read(&path).unwrap_or_default();
            append(&mut open(folder.path()).unwrap(), &command).unwrap();
            let mut after = fs::read(&path).unwrap();
            prop_assert!(after.starts_with(&before));
            prop_assert!(verified(&after).ok);
            if let Some(part) = crash {
                let written = (after.len() - before.len()) as f64;
                after.truncate(before.len() + (written * part) as usize);
                fs::write(&path, after).unwrap();
            }
        }
    }
}
