//! Pictures, read back as any viewer would: size, colors of what is drawn, the same bytes each time.

use std::collections::BTreeMap;

use ghost_pcap::{PICTURES, Picture, Scope, pictures};

use super::capture::{End, Segment, Timed, pcap, tcp};
use super::report::analyzed;

type Color = [u8; 3];

const BLUE: Color = [0, 114, 178];
const RED: Color = [213, 94, 0];
const GREEN: Color = [0, 158, 115];
const PURPLE: Color = [170, 51, 119];

const CLIENT: End = End { host: 1, port: 40_000 };
const SERVER: End = End { host: 2, port: 80 };

fn segment(seq: u32, ack: u32, flags: u8, len: usize) -> Segment {
    Segment { seq, ack, flags, win: 5000, len, ..Segment::default() }
}

fn drawn(all: &[Timed]) -> BTreeMap<&'static str, Picture> {
    let summary = analyzed(&pcap(all, 65_535), Scope { pictures: true, ..Scope::default() });
    pictures(&summary, "a.pcap").unwrap().into_iter().map(|picture| (picture.kind, picture)).collect()
}

/// How many pixels there are of each color, read by a decoder that is not ours.
fn colors(picture: &Picture) -> BTreeMap<Color, usize> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(&picture.png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (1200, 640));
    assert_eq!(info.color_type, png::ColorType::Rgb);
    let mut counts = BTreeMap::new();
    for pixel in pixels.chunks_exact(3) {
        *counts.entry(Color::try_from(pixel).unwrap()).or_default() += 1;
    }
    counts
}

#[track_caller]
fn shows(picture: &Picture, there: &[Color], absent: &[Color]) {
    let counts = colors(picture);
    let of = |color: &Color| counts.get(color).copied().unwrap_or(0);
    assert!(counts.get(&[255, 255, 255]).copied().unwrap_or(0) > 1200 * 640 / 3, "the background is light");
    for color in there {
        assert!(of(color) > 60, "{color:?}: {} pixels", of(color));
    }
    for color in absent {
        assert_eq!(of(color), 0, "{color:?}");
    }
}

/// A conversation; of the segments from `lost` on, each third is sent once more a little later.
fn conversation(segments: u32, again: bool) -> Vec<Timed> {
    let mut all = vec![
        (0, tcp(false, CLIENT, SERVER, &segment(100, 0, 2, 0))),
        (9_000, tcp(false, SERVER, CLIENT, &segment(500, 101, 18, 0))),
        (10_000, tcp(false, CLIENT, SERVER, &segment(101, 501, 16, 0))),
    ];
    for at in 0..segments {
        let (time, seq) = (20_000 + u64::from(at) * 400_000, 101 + at * 1000);
        all.push((time, tcp(false, CLIENT, SERVER, &segment(seq, 501, 24, 1000))));
        if again && at % 3 == 0 {
            all.push((time + 250_000, tcp(false, CLIENT, SERVER, &segment(seq, 501, 24, 1000))));
        }
        all.push((time + 260_000, tcp(false, SERVER, CLIENT, &segment(501, seq + 1000, 16, 0))));
    }
    all
}

#[test]
fn a_conversation_with_losses_has_all_three_pictures() {
    let drawn = drawn(&conversation(90, true));
    assert_eq!(drawn.len(), PICTURES.len());
    shows(&drawn["packets"], &[BLUE, RED], &[PURPLE]);
    shows(&drawn["rtt"], &[BLUE, GREEN, RED], &[PURPLE]);
    shows(&drawn["flow"], &[BLUE, RED, GREEN], &[PURPLE]);
}

#[test]
fn what_did_not_happen_is_not_drawn() {
    let drawn = drawn(&conversation(90, false));
    assert_eq!(drawn.keys().copied().collect::<Vec<_>>(), ["packets", "rtt"]);
    shows(&drawn["packets"], &[BLUE], &[RED, PURPLE]);
}

#[test]
fn there_is_no_picture_of_nothing() {
    assert!(drawn(&[]).is_empty());
    assert!(drawn(&conversation(1, false)[..1]).is_empty());
    let summary = analyzed(&pcap(&conversation(9, true), 65_535), Scope::default());
    assert_eq!(pictures(&summary, "a.pcap").unwrap(), []);
}

#[test]
fn the_same_capture_gives_the_same_bytes() {
    let all = conversation(60, true);
    assert_eq!(drawn(&all), drawn(&all));
}

#[test]
fn a_window_of_nothing_is_drawn_where_it_was_announced() {
    let mut all = conversation(12, false);
    let closed = Segment { win: 0, ..segment(501, 12_101, 16, 0) };
    all.push((6_000_000, tcp(false, SERVER, CLIENT, &closed)));
    shows(&drawn(&all)["flow"], &[BLUE, PURPLE, GREEN], &[RED]);
}

#[test]
fn times_and_numbers_of_any_size_are_drawn() {
    let mut all = conversation(30, true);
    let far = u64::from(u32::MAX) * 1_000_000;
    all.push((far, tcp(true, CLIENT, SERVER, &segment(u32::MAX, u32::MAX, 255, 9000))));
    all.push((0, tcp(false, CLIENT, SERVER, &segment(0x8000_0000, 0x8000_0000, 4, 0))));
    all.push((far, tcp(false, SERVER, CLIENT, &segment(0x8000_0000, 0x7fff_ffff, 24, 1000))));
    let drawn = drawn(&all);
    assert!(drawn.contains_key("packets"));
    drawn.values().for_each(|picture| drop(colors(picture)));
}

#[test]
fn the_worst_connection_is_drawn_though_it_came_late() {
    let mut all = Vec::new();
    for flow in 0..40_u16 {
        let client = End { host: 1, port: 40_000 + flow };
        let begin = u64::from(flow) * 1_000_000;
        all.push((begin, tcp(false, client, SERVER, &segment(100, 0, 2, 0))));
        let again = if flow == 33 { 14 } else { 1 };
        all.extend(
            (1..=again).map(|at| (begin + at * 300_000, tcp(false, client, SERVER, &segment(100, 0, 2, 0)))),
        );
    }
    all.sort_by_key(|(time, _)| *time);
    let flow = &drawn(&all)["flow"];
    assert!(flow.title.contains("10.0.0.1:40033 to 10.0.0.2:80"), "{}", flow.title);
    // Its first packet passed before anybody could know; it is there all the same.
    shows(flow, &[RED], &[PURPLE]);
    assert!(colors(flow).contains_key(&BLUE));
}

#[test]
fn pictures_are_of_the_connection_in_focus() {
    let mut all = conversation(30, true);
    let other = End { host: 9, port: 40_000 };
    all.extend((0..3).map(|at| (at * 1_000_000, tcp(false, other, SERVER, &segment(7, 0, 2, 0)))));
    all.sort_by_key(|(time, _)| *time);
    let scope = Scope { pictures: true, focus: "10.0.0.9".parse().ok(), ..Scope::default() };
    let drawn = pictures(&analyzed(&pcap(&all, 65_535), scope), "a.pcap").unwrap();
    assert!(drawn.iter().any(|picture| picture.title.contains("10.0.0.9:40000")), "{drawn:?}");
}
