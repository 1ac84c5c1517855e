//! Two ends of a path: each truth has a verdict of its own.

use ghost_pcap::{
    ClockSource, Comparison, Confidence, ConversationVerdict, PathVerdict, comparison_markdown,
};

use super::path::{
    ACK, Packet, RST, START, SYN, arrives, between, compared, connection, numbered, places, routed, syns,
    translated,
};
use crate::pcap::capture::{End, Segment, tcp, udp};

const CLIENT: End = End { host: 4, port: 40_000 };
const OTHER: End = End { host: 4, port: 40_001 };
const SERVER: End = End { host: 9, port: 443 };

/// A connection that goes on all the time, so that both places are known to capture.
fn background() -> Vec<Packet> {
    connection(End { host: 4, port: 39_000 }, End { host: 9, port: 22 }, 3000, START)
}

#[track_caller]
fn verdict(pair: &Comparison, client: End) -> ConversationVerdict {
    let found = pair.path.flows.iter().find(|flow| flow.client.port() == client.port);
    found.unwrap_or_else(|| panic!("{:?}", pair.path.flows)).verdict
}

#[test]
fn a_path_on_which_everything_arrives_is_clean() {
    let pair = between(&connection(CLIENT, SERVER, 20, START), 0, &arrives);
    assert_eq!((pair.path.verdict, pair.path.confidence), (PathVerdict::CleanPath, Confidence::High));
    assert_eq!(verdict(&pair, CLIENT), ConversationVerdict::Clean);
    assert_eq!((pair.path.to_b.routers, pair.path.to_b.lost, pair.path.to_a.lost), (Some(2), 0, 0));
    assert_eq!(pair.packets.both, pair.packets.a);
}

#[test]
fn syns_that_never_arrive_are_lost_on_the_path_there() {
    let mut all = background();
    all.extend(syns(CLIENT, SERVER, 4, START + 100_000));
    let pair = between(&all, 0, &|number, packet| {
        arrives(number, packet).filter(|_| packet.frame.get(36..38) != Some(&443_u16.to_be_bytes()))
    });
    assert_eq!(
        (pair.path.verdict, verdict(&pair, CLIENT)),
        (PathVerdict::PartialDrop, ConversationVerdict::LostThere)
    );
    let worst = pair.path.flows.first().unwrap();
    assert_eq!(worst.words, "4 SYNs leave A and never reach B");
    assert_eq!(worst.there.lost_frames.len(), 3);
}

#[test]
fn syns_that_arrive_and_get_no_answer_are_another_matter() {
    let mut all = background();
    all.extend(syns(CLIENT, SERVER, 4, START + 100_000));
    let pair = between(&all, 0, &arrives);
    assert_eq!(
        (pair.path.verdict, verdict(&pair, CLIENT)),
        (PathVerdict::CleanPath, ConversationVerdict::NoAnswer)
    );
}

#[test]
fn answers_that_never_come_back_are_a_third() {
    let mut all = background();
    for (number, syn) in (0..).zip(syns(CLIENT, SERVER, 4, START + 100_000)) {
        let segment = Segment { seq: 9, ack: 78, flags: SYN | ACK, win: 502, ..Segment::default() };
        let frame = numbered(tcp(false, SERVER, CLIENT, &segment), 900 + number);
        all.extend([syn.clone(), Packet { time: syn.time + 6_000, there: false, frame }]);
    }
    let to_client = |packet: &Packet| packet.frame.get(34..36) == Some(&443_u16.to_be_bytes());
    let pair = between(&all, 0, &|number, packet| arrives(number, packet).filter(|_| !to_client(packet)));
    assert_eq!(
        (pair.path.verdict, verdict(&pair, CLIENT)),
        (PathVerdict::PartialDrop, ConversationVerdict::AnswerLost)
    );
}

/// A SYN, and what the server says to it.
fn answered(flags: u8) -> [Packet; 2] {
    let [syn, ..] = &syns(CLIENT, SERVER, 1, START + 500_000)[..] else { panic!() };
    let segment = Segment { ack: 78, flags, ..Segment::default() };
    let frame = numbered(tcp(false, SERVER, CLIENT, &segment), 901);
    [syn.clone(), Packet { time: START + 506_000, there: false, frame }]
}

#[test]
fn a_refusal_that_comes_back_is_one() {
    let mut all = background();
    all.extend(answered(RST | ACK));
    let pair = between(&all, 0, &arrives);
    assert_eq!(
        (pair.path.verdict, verdict(&pair, CLIENT)),
        (PathVerdict::CleanPath, ConversationVerdict::Refused)
    );
}

#[test]
fn a_reset_that_the_server_never_sent_is_somebody_elses() {
    let all = background();
    let (mut a, b) = places(&all, 0, &arrives);
    let port = End { host: 4, port: 39_000 };
    let reset = Segment { seq: 5_001, flags: RST, ..Segment::default() };
    a.insert(100, (a.get(100).unwrap().0, numbered(tcp(false, End { host: 9, port: 22 }, port, &reset), 7)));
    let pair = compared(&a, &b);
    assert_eq!(
        (pair.path.verdict, verdict(&pair, port)),
        (PathVerdict::Degraded, ConversationVerdict::ResetBetween)
    );
    assert!(pair.path.flows.first().unwrap().words.contains("never passed B"));
}

#[test]
fn the_loss_of_one_direction_is_counted_there_alone_with_what_was_sent_again() {
    let all = connection(CLIENT, SERVER, 50, START);
    let pair = between(&all, 0, &|number, packet| {
        arrives(number, packet).filter(|_| packet.there || number % 10 != 4)
    });
    let path = &pair.path;
    assert_eq!(
        (path.verdict, verdict(&pair, CLIENT)),
        (PathVerdict::PartialDrop, ConversationVerdict::PartialLoss)
    );
    assert_eq!((path.to_b.lost, path.to_a.lost), (0, 10));
    assert!(path.sentence.contains("10 of 51 packets from B never reach A (19.61 %)"), "{}", path.sentence);
}

#[test]
fn packets_that_wait_are_delayed_even_if_no_clock_is_right() {
    let all = connection(CLIENT, SERVER, 100, START);
    let pair = between(&all, 3_600_000_000, &|number, packet| {
        let queue = if packet.there { (number as u64 % 50) * 4_000 } else { 0 };
        Some((5_000 + queue, routed(packet.frame.clone(), 2)))
    });
    assert_eq!(
        (pair.path.verdict, verdict(&pair, CLIENT)),
        (PathVerdict::Degraded, ConversationVerdict::Delayed)
    );
    let waited = pair.path.to_b.queueing_ms.unwrap();
    assert!((150.0..200.0).contains(&waited.p90), "{waited:?}");
    assert!((pair.path.clock.offset_ms - 3_600_000.0).abs() <= pair.path.clock.uncertain_ms.unwrap());
}

#[test]
fn answers_that_pass_elsewhere_are_no_loss() {
    let all = connection(CLIENT, SERVER, 30, START);
    let (a, b) = places(&all, 0, &arrives);
    let from_server = |frame: &[u8]| frame.get(34..36) == Some(&443_u16.to_be_bytes());
    // B sees only what comes in.
    let seen: Vec<_> = b.iter().filter(|(_, frame)| !from_server(frame)).cloned().collect();
    let pair = compared(&a, &seen);
    assert_eq!(
        (pair.path.verdict, verdict(&pair, CLIENT)),
        (PathVerdict::Asymmetric, ConversationVerdict::OtherPath)
    );
    assert_eq!(pair.path.to_b.lost, 0);
    // A sees only what goes out, and the client goes on: it got its answers.
    let sent: Vec<_> = a.iter().filter(|(_, frame)| !from_server(frame)).cloned().collect();
    let pair = compared(&sent, &b);
    assert_eq!(
        (pair.path.verdict, verdict(&pair, CLIENT)),
        (PathVerdict::Asymmetric, ConversationVerdict::OtherPath)
    );
}

#[test]
fn translated_addresses_are_recognized_and_reported() {
    let all = connection(CLIENT, SERVER, 20, START);
    let (outside, inside) = (End { host: 200, port: 61_000 }, End { host: 99, port: 8443 });
    let (a, b) = places(&all, 250_000, &arrives);
    let behind: Vec<_> = b
        .into_iter()
        .enumerate()
        .filter(|(number, _)| *number != 11)
        .map(|(_, (time, frame))| {
            let there = frame.get(36..38) == Some(&443_u16.to_be_bytes());
            (time, translated(translated(frame, there, outside), !there, inside))
        })
        .collect();
    let pair = compared(&a, &behind);
    let flow = pair.path.flows.first().unwrap();
    let (client, server) = flow.translated.unwrap();
    assert_eq!(
        (client.to_string(), server.to_string()),
        ("10.0.0.200:61000".into(), "10.0.0.99:8443".into())
    );
    assert_eq!((pair.packets.both, pair.path.to_b.lost + pair.path.to_a.lost), (0, 1));
    assert_eq!(pair.path.to_b.altered.get("address"), Some(&pair.path.to_b.arrived));
    assert!((pair.path.clock.offset_ms - 250.0).abs() <= 5.0, "{:?}", pair.path.clock);
}

#[test]
fn what_is_rewritten_on_the_path_is_named() {
    let all = connection(CLIENT, SERVER, 20, START);
    let pair = between(&all, 0, &|_, packet| {
        let mut frame = routed(packet.frame.clone(), 1);
        // Marked for another class of service, and the largest segment clamped.
        *frame.get_mut(15).unwrap() = 46 << 2;
        if frame.get(47).unwrap() & SYN != 0 {
            frame.get_mut(56..58).unwrap().copy_from_slice(&1300_u16.to_be_bytes());
        }
        Some((5_000, frame))
    });
    assert_eq!(pair.path.verdict, PathVerdict::CleanPath);
    assert_eq!(pair.path.to_b.altered.get("mss"), Some(&1));
    assert_eq!(pair.path.to_b.altered.get("dscp"), Some(&pair.path.to_b.arrived));
}

#[test]
fn large_segments_that_a_card_cuts_arrive_in_parts() {
    let mut a = Vec::new();
    let mut b = Vec::new();
    for number in 0..20_u32 {
        let time = START + u64::from(number) * 10_000;
        let big =
            Segment { seq: 1 + number * 3000, ack: 1, flags: ACK, win: 500, len: 3000, ..Segment::default() };
        a.push((time, numbered(tcp(false, CLIENT, SERVER, &big), 100)));
        for chunk in 0..3 {
            let small = Segment { seq: 1 + number * 3000 + chunk * 1000, len: 1000, ..big.clone() };
            // Of the fifth the last part is lost.
            if (number, chunk) != (5, 2) {
                let frame = numbered(tcp(false, CLIENT, SERVER, &small), 100 + u16::try_from(chunk).unwrap());
                b.push((time + 4_000 + u64::from(chunk), frame));
            }
        }
        let reply =
            Segment { seq: 1, ack: 1 + number * 3000 + 3000, flags: ACK, win: 500, ..Segment::default() };
        let reply = numbered(tcp(false, SERVER, CLIENT, &reply), 700 + u16::try_from(number).unwrap());
        b.push((time + 4_500, reply.clone()));
        a.push((time + 8_500, reply));
    }
    let pair = compared(&a, &b);
    assert_eq!((pair.path.to_b.resegmented, pair.path.to_b.lost), (19, 1), "{:?}", pair.path.to_b);
}

#[test]
fn what_passed_while_one_place_did_not_capture_is_not_lost() {
    let all = connection(CLIENT, SERVER, 100, START);
    let (a, b) = places(&all, 0, &arrives);
    let some: Vec<_> = b.get(50..150).unwrap().to_vec();
    let pair = compared(&a, &some);
    assert_eq!((pair.path.verdict, pair.path.to_b.lost + pair.path.to_a.lost), (PathVerdict::CleanPath, 0));
    assert!(pair.path.to_b.outside > 30 && pair.path.window.b_begins_later_s > 0.04);
    assert!(pair.path.window.b_ends_earlier_s > 0.04);
}

#[test]
fn captures_of_different_times_have_nothing_to_say_of_a_path() {
    let (a, _) = places(&connection(CLIENT, SERVER, 100, START), 0, &arrives);
    let (_, b) = places(&connection(OTHER, SERVER, 100, START + 3_600_000_000), 0, &arrives);
    let pair = compared(&a, &b);
    assert_eq!((pair.path.verdict, pair.path.clock.from), (PathVerdict::Inconclusive, ClockSource::Assumed));
}

#[test]
fn traffic_that_does_not_pass_the_other_place_is_not_lost() {
    let mut all = connection(CLIENT, SERVER, 50, START);
    let (mut a, b) = places(&all, 0, &arrives);
    all = syns(OTHER, End { host: 77, port: 80 }, 3, START);
    a.extend(all.iter().map(|packet| (packet.time / 100 + START / 100 * 99, packet.frame.clone())));
    a.sort_by_key(|(time, _)| *time);
    let pair = compared(&a, &b);
    assert_eq!(
        (pair.path.verdict, pair.path.verdicts.get(&ConversationVerdict::Elsewhere)),
        (PathVerdict::CleanPath, Some(&1))
    );
}

#[test]
fn what_a_mirror_shows_twice_was_sent_once_and_what_arrives_twice_is_reported() {
    let all = connection(CLIENT, SERVER, 30, START);
    let (a, b) = places(&all, 0, &arrives);
    let twice = |list: &[(u64, Vec<u8>)]| -> Vec<_> {
        list.iter().flat_map(|(time, frame)| [(*time, frame.clone()), (time + 3, frame.clone())]).collect()
    };
    let mirrored = compared(&twice(&a), &b);
    assert_eq!((mirrored.path.to_b.lost, mirrored.path.to_b.sent, mirrored.path.to_b.mirrored), (0, 34, 34));
    assert_eq!(mirrored.path.verdict, PathVerdict::Degraded, "what comes back arrives twice");
    let doubled = compared(&a, &twice(&b));
    assert_eq!((doubled.path.to_b.duplicated, doubled.path.to_a.mirrored), (34, 32));
}

#[test]
fn sides_in_the_wrong_order_are_reported_and_the_verdicts_stay_true() {
    let all = connection(CLIENT, SERVER, 30, START);
    let (a, b) = places(&all, 0, &|number, packet| arrives(number, packet).filter(|_| number != 7));
    let pair = compared(&b, &a);
    assert!(pair.path.swapped);
    let flow = pair.path.flows.first().unwrap();
    assert_eq!((flow.near, flow.there.lost, pair.path.to_a.lost), ("B", 1, 1));
    assert!(pair.path.because.iter().any(|why| why.contains("source side")));
    assert!(!compared(&a, &b).path.swapped);
}

#[test]
fn a_clock_that_runs_fast_is_found_beside_one_that_is_off() {
    let mut all = background();
    all.iter_mut().for_each(|packet| packet.time = START + (packet.time - START) * 20);
    let (a, mut b) = places(&all, 7_000_000, &arrives);
    // 50 millionths: 6 ms in the two minutes of this.
    b.iter_mut().for_each(|(time, _)| *time += (*time - START) / 20_000);
    let clock = compared(&a, &b).path.clock;
    assert!((clock.drift_ppm - 50.0).abs() < 1.0, "{clock:?}");
    assert!((clock.offset_ms - 7000.4).abs() < 1.0, "{clock:?}");
    assert_eq!(compared(&a, &places(&all, 0, &arrives).1).path.clock.drift_ppm, 0.0);
}

#[test]
fn questions_for_names_that_get_no_answer_are_not_lost_ones() {
    let mut all = background();
    for number in 0..4_u8 {
        let frame = numbered(udp(CLIENT, End { host: 9, port: 53 }, &[number; 20]), u16::from(number) + 1);
        all.push(Packet { time: START + 200_000 + u64::from(number) * 50_000, there: true, frame });
    }
    assert_eq!(verdict(&between(&all, 0, &arrives), CLIENT), ConversationVerdict::NoAnswer);
    let asks = |packet: &Packet| packet.frame.get(36..38) == Some(&53_u16.to_be_bytes());
    let lost = between(&all, 0, &|number, packet| arrives(number, packet).filter(|_| !asks(packet)));
    assert_eq!(verdict(&lost, CLIENT), ConversationVerdict::LostThere);
}

#[test]
fn the_report_begins_with_the_verdict_and_ends_with_what_to_do() {
    let mut all = background();
    all.extend(syns(CLIENT, SERVER, 4, START + 100_000));
    let pair = between(&all, 0, &|number, packet| {
        arrives(number, packet).filter(|_| packet.frame.get(36..38) != Some(&443_u16.to_be_bytes()))
    });
    let text = comparison_markdown(&pair, ("a.pcap", "b.pcap"), true);
    assert!(text.lines().nth(2).unwrap().starts_with("**PARTIAL DROP: "), "{text}");
    assert!(
        text.contains("| lost_there | 0 of 4 |") && text.contains("## Next\n\n1. packets to 10.0.0.9:443"),
        "{text}"
    );
}
