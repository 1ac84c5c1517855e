//! Records that cannot be taken apart: what is behind them is read all the same, and the place is reported.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::file::{Seen, block, classic, interface, packet, read, section};

/// Ten packets of 60 bytes, the first of which lies at this place.
fn ten() -> (Vec<u8>, usize) {
    let head = [section(false), interface(1, None)].concat();
    let first = head.len();
    let packets: Vec<u8> = (1..=10).flat_map(|second| packet(0, second * 1_000_000, &[7; 60])).collect();
    ([head, packets].concat(), first)
}

/// A block of such a packet.
const SIZE: usize = 32 + 60;

fn seconds(seen: &[Seen]) -> Vec<u64> {
    seen.iter().map(|frame| frame.1 / 1_000_000_000).collect()
}

#[test]
fn a_block_with_a_bad_length_or_trailer_is_passed_over_and_its_place_reported() {
    let (file, first) = ten();
    let third = first + 2 * SIZE;
    let harms: [(usize, [u8; 4], &str); 6] = [
        (4, [13, 0, 0, 0], "too short for its kind"),
        (4, [0xff, 0xff, 0xff, 0x7f], "larger than any block"),
        (4, [96, 0, 0, 0], "two lengths differ"),
        (SIZE - 4, [0; 4], "two lengths differ"),
        (20, [0xff, 0, 0, 0], "do not go together"),
        (4, [0, 0, 8, 0], "do not go together"),
    ];
    for (at, harm, what) in harms {
        let mut file = file.clone();
        file[third + at..third + at + 4].copy_from_slice(&harm);
        let (seen, ending) = read(&file).unwrap();
        assert_eq!(seconds(&seen), [1, 2, 4, 5, 6, 7, 8, 9, 10], "{what}");
        assert_eq!(seen.last().unwrap().0, 9);
        assert_eq!((ending.cut_off, ending.skipped), (false, SIZE as u64));
        let [warning] = &ending.warnings[..] else { panic!("{:?}", ending.warnings) };
        assert!(
            warning.contains(what) && warning.contains(&format!("at byte {third}, behind frame 2")),
            "{warning}"
        );
        assert!(warning.contains(&format!("up to byte {}", third + SIZE)), "{warning}");
    }
}

#[test]
fn bytes_between_blocks_are_passed_over_wherever_they_end() {
    let (file, first) = ten();
    for extra in 1..=9 {
        let at = first + SIZE;
        let file = [&file[..at], &vec![0xee; extra], &file[at..]].concat();
        let (seen, ending) = read(&file).unwrap();
        assert_eq!((seen.len(), ending.skipped, ending.warnings.len()), (10, extra as u64, 1));
    }
}

#[test]
fn what_is_damaged_to_the_end_is_cut_off() {
    let (mut file, first) = ten();
    file.truncate(first + 3 * SIZE);
    file.extend([0xee; 5000]);
    let (seen, ending) = read(&file).unwrap();
    assert_eq!((seen.len(), ending.cut_off, ending.skipped), (3, true, 5000));
    assert!(ending.warnings[0].contains("nothing in the 5000 bytes behind it"), "{:?}", ending.warnings);
}

#[test]
fn a_damaged_description_leaves_the_others_their_numbers() {
    let mut broken = interface(113, None);
    let last = broken.len() - 1;
    broken[last] = 9;
    let packets = [packet(0, 1, b"a"), packet(1, 1, b"b"), packet(2, 1, b"c")].concat();
    let file = [section(false), interface(1, None), broken, interface(101, None), packets].concat();
    let (seen, ending) = read(&file).unwrap();
    assert_eq!(seen.iter().map(|frame| frame.2).collect::<Vec<_>>(), [1, 101]);
    assert_eq!(ending.warnings.len(), 2, "{:?}", ending.warnings);
}

#[test]
fn a_classic_record_that_claims_too_much_is_passed_over() {
    for big in [false, true] {
        let records: Vec<(u32, u32, &[u8])> = (100..140).map(|second| (second, 7, &[9_u8; 44][..])).collect();
        let mut file = classic(0xa1b2_c3d4, big, &records);
        let bad = 24 + 5 * 60;
        file[bad + 8..bad + 12].copy_from_slice(&[0x7f; 4]);
        let (seen, ending) = read(&file).unwrap();
        assert_eq!((seen.len(), ending.cut_off, ending.skipped), (39, false, 60));
        assert!(ending.warnings[0].contains(&format!("the record at byte {bad}, behind frame 5")));
    }
}

#[test]
fn too_few_records_behind_damage_are_no_proof() {
    let mut file = classic(0xa1b2_c3d4, false, &[(1, 0, b"first"), (2, 0, b"second"), (3, 0, b"third")]);
    file[24 + 21 + 8..24 + 21 + 12].copy_from_slice(&[0xff; 4]);
    let (seen, ending) = read(&file).unwrap();
    assert_eq!((seen.len(), ending.cut_off, ending.warnings.len()), (1, true, 1));
}

#[test]
fn many_damaged_places_are_counted_not_listed() {
    let mut file = [section(false), interface(1, None)].concat();
    for second in 0..50 {
        file.extend(packet(0, second, b"abcd"));
        file.extend([0xee; 4]);
    }
    let (seen, ending) = read(&file).unwrap();
    assert_eq!((seen.len(), ending.skipped, ending.warnings.len()), (50, 49 * 4, 21));
    assert!(ending.warnings[20].starts_with("29 more places"), "{}", ending.warnings[20]);
}

#[test]
fn blocks_of_any_kind_may_hold_anything() {
    let (file, first) = ten();
    for kind in [4, 7, 8, 10, 0x8000_0001, 0x0bad, 9] {
        for body in [&[][..], &[0xff; 4], &[0xff; 400]] {
            let file = [&file[..first], &block(kind, false, body), &file[first..]].concat();
            let (seen, ending) = read(&file).unwrap();
            assert_eq!((seen.len(), ending.warnings.len(), ending.cut_off), (10, 0, false), "{kind}");
        }
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn members_of_a_packed_file_follow_each_other_and_padding_is_none() {
    let (file, first) = ten();
    let (one, other) = file.split_at(first + SIZE + 13);
    let members = [packed(one), packed(&[]), packed(other)].concat();
    for padding in [0, 1, 700_000] {
        let (seen, ending) = read(&[&members[..], &vec![0; padding]].concat()).unwrap();
        assert_eq!((seen.len(), ending.cut_off, ending.warnings.len()), (10, false, 0));
    }
    let (seen, ending) = read(&[&members[..], b"and a note"].concat()).unwrap();
    assert_eq!((seen.len(), ending.cut_off, ending.warnings.len()), (10, true, 1));
}

#[test]
fn a_packed_file_may_be_cut_anywhere() {
    let (file, _) = ten();
    let whole = [packed(&file[..200]), packed(&file[200..])].concat();
    for end in 0..whole.len() {
        if let Ok((seen, ending)) = read(&whole[..end]) {
            assert!(seen.len() <= 10 && (ending.cut_off || end == packed(&file[..200]).len()), "{end}");
        }
    }
}

#[test]
fn a_place_in_a_packed_file_is_reported_as_one_of_the_unpacked_bytes() {
    let (mut file, first) = ten();
    file[first + 4] = 3;
    let (_, ending) = read(&packed(&file)).unwrap();
    assert!(ending.warnings[0].contains(&format!("byte {first} (unpacked)")), "{:?}", ending.warnings);
}
