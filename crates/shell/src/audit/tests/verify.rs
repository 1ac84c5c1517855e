//! Facts about `verify`: what it catches, and what it says about it.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _};
use std::sync::{Arc, OnceLock};

use proptest::prelude::*;

use super::{append, check, lines, repair_of, sample, verified};
use crate::audit::{Anchor as _, FileAnchor, Log, MAX_LINE_BYTES, Verification, noted_head};
use ghost_base::{Digest, SystemClock};

fn hash_of(line: &[u8]) -> String {
    let record: serde_json::Value = serde_json::from_slice(line).unwrap();
    record["hash"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_bad(bytes: &[u8], first_bad: u64, why: &str) {
    let found = verified(bytes);
    assert!(!found.ok, "{found:?}");
    assert_eq!((found.first_bad, found.records), (Some(first_bad), first_bad - 1), "{found:?}");
    assert!(found.reason.as_ref().unwrap().contains(why), "{found:?}");
}

#[test]
fn a_whole_log_is_reported_with_its_head() {
    let lines = lines("s1", 3);
    assert_eq!(
        verified(&lines.concat()),
        Verification {
            ok: true,
            records: 3,
            head: Some(hash_of(&lines[2])),
            after_head: None,
            first_bad: None,
            reason: None
        }
    );
}

#[test]
fn a_file_in_its_data_folder_is_held_against_the_head_that_was_noted_last() {
    let data = tempfile::tempdir().unwrap();
    let anchor = FileAnchor::new(data.path().join("heads.log"), Arc::new(SystemClock));
    let session = "s1".parse().unwrap();
    let mut log = Log::open(&data.path().join("audit"), "s1".parse().unwrap()).unwrap();
    let path = log.path().to_owned();
    assert_eq!(noted_head(&path).unwrap(), None);
    for number in 1..=3 {
        let receipt = append(&mut log, &format!("command {number}")).unwrap();
        anchor.record(&session, number, &receipt.head).unwrap();
        anchor.record(&"other".parse().unwrap(), number, &Digest::of("x")).unwrap();
    }
    let verdict = || {
        let noted = noted_head(&path).unwrap().unwrap();
        noted.verify(BufReader::new(File::open(&path).unwrap())).unwrap()
    };
    assert!(verdict().ok, "{:?}", verdict());
    let whole = fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    fs::write(&path, lines[..2].concat()).unwrap();
    let reason = verdict().reason.unwrap();
    assert!(!verdict().ok && reason.contains("heads.log notes stands nowhere"), "{reason}");
    // Elsewhere nothing is known of it.
    let copy = data.path().join("s1.jsonl");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(noted_head(&copy).unwrap(), None);
}

#[test]
fn every_other_value_of_every_byte_is_caught() {
    let whole = sample();
    assert!(verified(&whole).ok);
    // In the short run each byte takes some of the other values, and the bytes together all of them.
    #[expect(
        clippy::disallowed_methods,
        reason = "a long run is asked for by the environment, as in the integration tests"
    )]
    let is_long = std::env::var("GHOST_LONG").is_ok_and(|value| value == "1");
    let step = if is_long { 1 } else { 37 };
    let mut seen = [false; 256];
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        for flip in (1..=u8::MAX).skip(if is_long { 0 } else { place % step }).step_by(step) {
            changed[place] = whole[place] ^ flip;
            assert!(!verified(&changed).ok, "byte {place} became {:#x}", changed[place]);
            seen[usize::from(flip)] = true;
        }
    }
    assert!(seen[1..].iter().all(|seen| *seen), "some change was made nowhere");
}

#[test]
fn every_line_that_is_removed_doubled_or_moved_is_caught() {
    let lines = lines("s1", 5);
    let head = hash_of(&lines[4]);
    for here in 0..lines.len() {
        let mut removed = lines.clone();
        removed.remove(here);
        let found = check(&removed.concat()[..], Some(&head)).unwrap();
        let expected = if here == 4 { None } else { Some(here as u64 + 1) };
        assert_eq!((found.ok, found.first_bad), (false, expected), "{found:?}");

        let mut doubled = lines.clone();
        doubled.insert(here, lines[here].clone());
        assert_bad(&doubled.concat(), here as u64 + 2, "has the number");

        for there in here + 1..lines.len() {
            let mut moved = lines.clone();
            moved.swap(here, there);
            assert_bad(&moved.concat(), here as u64 + 1, "has the number");
        }
    }
}

#[test]
fn every_line_that_is_slipped_in_is_caught() {
    let lines = lines("s1", 3);
    for (strange, why) in [
        (&b"\n"[..], "no repair accounts"),
        (b"noise\n", "no repair accounts"),
        (b"{}\n", "no audit record"),
        (b"{\"format\":1}\n", "no audit record"),
    ] {
        for here in 0..=3 {
            let mut slipped = lines.clone();
            slipped.insert(here, strange.to_vec());
            assert_bad(&slipped.concat(), here as u64 + 1, why);
        }
    }
}

#[test]
fn a_record_of_another_session_or_history_is_caught() {
    let (ours, theirs) = (lines("s1", 2), lines("s2", 2));
    assert_bad(&[&ours[0][..], &theirs[1]].concat(), 2, "another session");
    let forged = String::from_utf8(ours[0].clone()).unwrap().replace("command 1", "command 7");
    let body = forged.split(",\"hash\"").next().unwrap();
    let forged = format!("{body},\"hash\":\"{}\"}}\n", Digest::of(body));
    assert_bad(&[forged.as_bytes(), &ours[1]].concat(), 2, "does not follow");
    let newer = body.replace("\"format\":1", "\"format\":2");
    let newer = format!("{newer},\"hash\":\"{}\"}}\n", Digest::of(&newer));
    assert_bad(newer.as_bytes(), 1, "its format is 2");
}

#[test]
fn torn_bytes_are_excused_by_exactly_their_repair() {
    let torn = b"{\"form\n";
    assert!(verified(&[&torn[..], &repair_of(torn)].concat()).ok);
    assert_bad(&[&torn[..], &repair_of(b"{\"for\n")].concat(), 1, "other torn bytes");
    assert_bad(&[&b"x\n"[..], &repair_of(torn)].concat(), 1, "other torn bytes");
    assert_bad(&repair_of(b""), 1, "other torn bytes");
    assert_bad(&[&torn[..], &lines("s1", 1)[0]].concat(), 1, "no repair accounts");
    assert_bad(torn, 1, "no repair accounts");
}

#[test]
fn an_older_head_is_found_and_what_follows_is_counted() {
    let lines = lines("s1", 3);
    let whole = lines.concat();
    for (number, line) in lines.iter().enumerate() {
        let found = check(&whole[..], Some(&hash_of(line).to_uppercase())).unwrap();
        assert_eq!((found.ok, found.after_head), (true, Some(2 - number as u64)));
    }
    let empty = Digest::of("s1").to_string();
    assert_eq!(check(&whole[..], Some(&empty)).unwrap().after_head, Some(3));
}

#[test]
fn a_head_that_is_nowhere_is_bad_news() {
    let lines = lines("s1", 3);
    let head = hash_of(&lines[2]);
    let cut = lines[..2].concat();
    for (bytes, head, why) in [
        (&cut[..], head.as_str(), "records are missing"),
        (b"", &head, "records are missing"),
        (&cut, &head[..8], "64 hexadecimal digits"),
        (&cut, "", "64 hexadecimal digits"),
    ] {
        let found = check(bytes, Some(head)).unwrap();
        assert_eq!((found.ok, found.first_bad), (false, None));
        assert!(found.reason.as_ref().unwrap().contains(why), "{found:?}");
    }
}

#[test]
fn an_empty_file_is_whole() {
    let found = verified(b"");
    assert_eq!((found.ok, found.records, found.head), (true, 0, None));
}

#[test]
fn an_endless_line_is_refused_in_bounded_memory() {
    let found = check(BufReader::new(io::repeat(b'a')), None).unwrap();
    assert_eq!((found.ok, found.first_bad), (false, Some(1)));
    let noise = b"noise\n".repeat(1 << 10);
    let endless = (0..).flat_map(|_: u64| noise.clone()).take(64 * MAX_LINE_BYTES);
    let found = check(BufReader::new(Bytes(endless)), None).unwrap();
    assert_eq!((found.ok, found.first_bad), (false, Some(1)));
    assert!(found.reason.unwrap().contains("longer than any"));
}

struct Bytes<I>(I);

impl<I: Iterator<Item = u8>> io::Read for Bytes<I> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = into.len();
        Ok(into.iter_mut().zip(self.0.by_ref()).map(|(to, byte)| *to = byte).take(wanted).count())
    }
}

#[test]
fn a_reader_that_fails_is_an_error_and_no_verdict() {
    struct Failing;
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let bytes = lines("s1", 1).concat();
    assert!(check(BufReader::new((&bytes[..]).chain(Failing)), None).is_err());
}

proptest! {
    /// No bytes make it panic, and none but the empty file and whole logs are good.
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), head in ".{0,70}") {
        let found = check(&bytes[..], Some(&head)).unwrap();
        prop_assert!(!found.ok);
        prop_assert_eq!(verified(&bytes).ok, bytes.is_empty());
    }

    /// Any shuffle of lines, parts of lines and noise gets an answer, which is good only for a prefix of the log.
    #[test]
    fn only_a_beginning_of_the_log_is_good(
        picks in prop::collection::vec((0..5_usize, 0..600_usize), 0..7)
    ) {
        // They are written once: each is on the disk before the next one is begun.
        static LINES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
        let lines = LINES.get_or_init(|| lines("s1", 4));
        let mut bytes = Vec::new();
        for (line, length) in picks {
            let line = lines.get(line).map_or(&b"\xff\n{\"a\":"[..], Vec::as_slice);
            bytes.extend_from_slice(&line[..length.min(line.len())]);
        }
        let whole = lines.concat();
        if verified(&bytes).ok {
            prop_assert!(whole.starts_with(&bytes));
        }
    }
}
