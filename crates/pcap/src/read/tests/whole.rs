//! Files of every kind, whole and cut.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::file::{block, classic, interface, packet, read, section};
use crate::error::Error;
use crate::read::Format;

#[test]
fn both_resolutions_and_both_byte_orders_tell_the_same_time() {
    for (magic, format, fraction) in [(0xa1b2_c3d4, Format::Pcap, 5), (0xa1b2_3c4d, Format::PcapNs, 5000)] {
        for big in [false, true] {
            let (seen, ending) = read(&classic(magic, big, &[(7, fraction, b"abc")])).unwrap();
            assert_eq!(seen, [(1, 7_000_005_000, 101, 7, 3)]);
            assert_eq!((ending.format, ending.links, ending.cut_off), (format, vec![101], false));
        }
    }
}

#[test]
fn a_file_cut_anywhere_gives_the_whole_records_before() {
    let file = classic(0xa1b2_c3d4, false, &[(1, 0, b"first"), (2, 0, b"second")]);
    for end in 24..=file.len() {
        let (seen, ending) = read(&file[..end]).unwrap();
        let whole = [24, 24 + 21, file.len()];
        assert_eq!(seen.len(), whole.iter().filter(|size| **size <= end).count() - 1, "{end}");
        assert_eq!(ending.cut_off, !whole.contains(&end), "{end}");
    }
    assert!(matches!(read(&file[..13]), Err(Error::HeaderCut)));
    assert!(matches!(read(&[]), Err(Error::Empty)));
    assert!(matches!(read(b"GIF89a and so on, at length"), Err(Error::NotACapture)));
}

#[test]
fn interfaces_have_links_and_clocks_of_their_own() {
    let mut file = section(false);
    file.extend([interface(1, None), interface(101, Some(9)), interface(113, Some(0x80 | 10))].concat());
    file.extend(
        [packet(0, 2_000_000, b"a"), packet(1, 2_000_000_000, b"bc"), packet(2, 2048, b"d")].concat(),
    );
    let (seen, ending) = read(&file).unwrap();
    let second = 2_000_000_000;
    assert_eq!(seen, [(1, second, 1, 1, 1), (2, second, 101, 2, 2), (3, second, 113, 1, 1)]);
    assert_eq!(ending.links, [1, 101, 113]);
}

#[test]
fn a_new_section_describes_its_interfaces_anew_in_its_own_byte_order() {
    let mut file = [section(false), interface(1, None), packet(0, 1, b"a"), section(true)].concat();
    file.extend(block(1, true, &[0, 113, 0, 0, 0, 0, 0, 0]));
    file.extend(block(3, true, &[0, 0, 0, 2, b'x', b'y']));
    let (seen, _) = read(&file).unwrap();
    assert_eq!(seen.iter().map(|frame| (frame.2, frame.4)).collect::<Vec<_>>(), [(1, 1), (113, 2)]);
}

#[test]
fn blocks_that_are_no_packets_are_passed_over_and_drops_are_reported() {
    let mut file = [section(false), interface(1, None)].concat();
    file.extend(block(4, false, &[0; 4]));
    // A custom block is a frame to others: numbers have to agree.
    file.extend(block(0x0bad, false, &[1, 2, 3, 4]));
    file.extend(block(0x1234_5678, false, b"whatever"));
    let drops = [&[0; 12][..], &[5, 0, 8, 0], &42_u64.to_le_bytes(), &[0; 4]].concat();
    file.extend(block(5, false, &drops));
    file.extend(packet(0, 1, b"a"));
    let (seen, ending) = read(&file).unwrap();
    assert_eq!(seen.iter().map(|frame| frame.0).collect::<Vec<_>>(), [2]);
    assert_eq!((ending.dropped, ending.warnings.len()), (42, 0));
}

#[test]
fn a_packet_without_an_interface_is_reported_and_left_out() {
    let (seen, ending) = read(&[section(false), packet(3, 1, b"a")].concat()).unwrap();
    assert_eq!((seen.len(), ending.warnings.len()), (0, 1));
}

#[test]
fn what_is_packed_is_unpacked_and_a_cut_there_is_a_cut() {
    let records: Vec<(u32, u32, &[u8])> =
        (0..5000).map(|second| (second, second * 199, &b"some bytes"[..])).collect();
    let file = classic(0xa1b2_c3d4, false, &records);
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(&file).unwrap();
    let packed = packer.finish().unwrap();
    let (seen, ending) = read(&packed).unwrap();
    assert_eq!((seen.len(), ending.cut_off), (5000, false));
    let (seen, ending) = read(&packed[..packed.len() / 2]).unwrap();
    assert!((1..5000).contains(&seen.len()) && ending.cut_off);
    assert!(matches!(read(&[0x1f, 0x8b, 8, 0, 1, 2, 3]), Err(Error::Packed(_))));
}

#[test]
fn a_record_that_claims_gigabytes_ends_the_pass_in_bounded_memory() {
    let mut file = classic(0xa1b2_c3d4, false, &[(1, 0, b"first")]);
    file.extend([1_u32, 0, 0xffff_fff0, 0xffff_fff0].map(u32::to_le_bytes).concat());
    let (seen, ending) = read(&file).unwrap();
    assert_eq!((seen.len(), ending.cut_off), (1, true));
}
