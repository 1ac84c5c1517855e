//! Clocks of interfaces: how they tick, and from where.

use super::file::{block, packet, read, section};

/// A description with a resolution and an offset, in either byte order.
fn interface(big: bool, resolution: u8, offset: i64) -> Vec<u8> {
    let half = |half: u16| if big { half.to_be_bytes() } else { half.to_le_bytes() };
    let mut body = [half(1), half(0), [0; 2], [0; 2]].concat();
    body.extend([half(9), half(1), [resolution, 0], [0; 2]].concat());
    body.extend([half(14), half(8)].concat());
    body.extend(if big { offset.to_be_bytes() } else { offset.to_le_bytes() });
    body.extend([0; 4]);
    block(1, big, &body)
}

/// The only time in a file whose interface is like that, and whether it is odd.
fn time(resolution: u8, offset: i64, ticks: u64) -> (u64, bool) {
    let file = [section(false), interface(false, resolution, offset), packet(0, ticks, b"a")].concat();
    let (seen, ending) = read(&file).unwrap();
    (seen[0].1, !ending.warnings.is_empty())
}

const SECOND: u64 = 1_000_000_000;

#[test]
fn resolutions_are_powers_of_ten_or_of_two() {
    for exponent in 0..=18 {
        assert_eq!(time(exponent, 0, 10_u64.pow(u32::from(exponent))), (SECOND, false), "10^-{exponent}");
    }
    for exponent in 0..=63 {
        assert_eq!(time(0x80 | exponent, 0, 1 << exponent), (SECOND, false), "2^-{exponent}");
    }
    // Of these, what fits into a timestamp is not much.
    assert_eq!(time(20, 0, u64::MAX), (184_467_440, false));
    assert_eq!(
        [time(40, 0, u64::MAX), time(0xff, 0, u64::MAX), time(0x7f, 5, 9)].map(|time| time.0),
        [0, 0, 5 * SECOND]
    );
}

#[test]
fn an_offset_is_read_in_the_byte_order_of_its_section() {
    assert_eq!(time(6, 100, 7), (100 * SECOND + 7000, false));
    assert_eq!(time(6, -2, 3_000_000), (SECOND, false));
    let body = [&[0; 4][..], &[0; 8], &[0, 0, 0, 1], &[0, 0, 0, 1], b"a"].concat();
    let file = [section(true), interface(true, 9, 100), block(6, true, &body)].concat();
    assert_eq!(read(&file).unwrap().0[0].1, 100 * SECOND);
}

#[test]
fn times_that_cannot_be_expressed_become_the_nearest_and_are_odd() {
    assert_eq!(time(6, -5, 1), (0, true));
    assert_eq!(time(6, i64::MIN, 0), (0, true));
    assert_eq!(time(6, i64::MAX, 0), (u64::MAX, true));
    assert_eq!(time(0, 0, u64::MAX), (u64::MAX, true));
    assert_eq!(time(6, 0, u64::MAX), (u64::MAX, true));
}

#[test]
fn drops_are_counted_once_an_interface_however_often_they_are_reported() {
    let with_drops = |name: u32, drops: u64| {
        let mut body = [&name.to_le_bytes()[..], &[0; 8], &[5, 0, 8, 0], &drops.to_le_bytes()].concat();
        body.extend([&[7, 0, 8, 0][..], &1_u64.to_le_bytes(), &[0; 4]].concat());
        block(5, false, &body)
    };
    let head = [section(false), interface(false, 6, 0), interface(false, 6, 0)].concat();
    let first = [&head[..], &with_drops(0, 3), &with_drops(0, 10), &with_drops(1, 20)].concat();
    assert_eq!(read(&first).unwrap().1.dropped, 11 + 21);
    let unknown = [&first[..], &with_drops(7, 9), &with_drops(0, u64::MAX)].concat();
    assert_eq!(read(&unknown).unwrap().1.dropped, 11 + 21);
    let again = [&first[..], &head, &with_drops(0, 2)].concat();
    assert_eq!(read(&again).unwrap().1.dropped, 11 + 21 + 3);
}

#[test]
fn a_packet_in_the_obsolete_block_is_a_packet() {
    for big in [false, true] {
        let half = |half: u16| if big { half.to_be_bytes() } else { half.to_le_bytes() };
        let word = |word: u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
        let body = [&half(0)[..], &half(9), &word(0), &word(5), &word(3), &word(80), b"abc"].concat();
        let file = [section(big), interface(big, 6, 0), block(2, big, &body)].concat();
        let (seen, ending) = read(&file).unwrap();
        assert_eq!((&seen[..], ending.warnings.len()), (&[(1, 5000, 1, 80, 3)][..], 0));
    }
}

#[test]
fn a_simple_packet_ends_where_its_interface_stops_to_capture() {
    let mut description = [&[1, 0, 0, 0][..], &4_u32.to_le_bytes()].concat();
    description.extend([0; 4]);
    let simple = block(3, false, &[&60_u32.to_le_bytes()[..], b"abcd"].concat());
    let file = [section(false), block(1, false, &description), simple].concat();
    let (seen, ending) = read(&file).unwrap();
    assert_eq!(seen, [(1, 0, 1, 60, 4)]);
    assert!(ending.warnings[0].starts_with("1 packets are in records without a time"));
}
