//! What complaints and pings tell.

use std::net::{IpAddr, SocketAddr};

use super::IcmpStats;
use crate::flow::State;
use crate::layers::{HeaderContext, IpPair, Quote, View};

const A: [u8; 4] = [10, 0, 0, 1];
const B: [u8; 4] = [10, 0, 9, 9];
const ROUTER: [u8; 4] = [10, 0, 0, 254];
const MS: u64 = 1_000_000;

/// A ping or its answer, at a time in milliseconds.
fn ping(tally: &mut IcmpStats, time: u64, answer: bool, id: u16, seq: u16) {
    let mut bytes = vec![if answer { 0 } else { 8 }, 0, 0, 0];
    bytes.extend(id.to_be_bytes());
    bytes.extend(seq.to_be_bytes());
    let net = if answer { IpPair::Four(B, A) } else { IpPair::Four(A, B) };
    let context = HeaderContext { net, hops: 64, ..HeaderContext::default() };
    tally.take(false, View::new(&bytes, bytes.len()), &context, (time + 1, time * MS));
}

/// An error of a router about a packet from A to B.
fn error(tally: &mut IcmpStats, time: u64, (kind, code): (u8, u8), from: [u8; 4], port: u16) {
    let quote = Quote { six: false, kind, code, mtu: 0, from: IpPair::Four(from, A) };
    tally.about(&quote, IpPair::Four(A, B), Some((40_000, port)), (time + 1, time * MS));
}

fn target(tally: &IcmpStats) -> (u64, u64, u64) {
    let target = &tally.echo.targets[&IpAddr::from(B)];
    (target.requests, target.replies, target.unanswered)
}

#[test]
fn two_who_ping_with_the_same_numbers_are_distinguished() {
    let mut tally = IcmpStats::default();
    for seq in 1..=3 {
        ping(&mut tally, 1000 * u64::from(seq), false, 7, seq);
        ping(&mut tally, 1000 * u64::from(seq) + 5, false, 8, seq);
        ping(&mut tally, 1000 * u64::from(seq) + 20, true, 8, seq);
    }
    tally.echo.finish(60_000 * MS);
    assert_eq!(target(&tally), (6, 3, 3));
    assert_eq!(tally.echo.targets[&IpAddr::from(B)].rtts.max(), 15 * MS);
}

#[test]
fn a_late_answer_is_an_answer_and_a_second_one_is_none() {
    let mut tally = IcmpStats::default();
    ping(&mut tally, 0, false, 7, 1);
    ping(&mut tally, 2500, true, 7, 1);
    ping(&mut tally, 2600, true, 7, 1);
    ping(&mut tally, 2700, true, 7, 2);
    tally.echo.finish(60_000 * MS);
    let known = &tally.echo.targets[&IpAddr::from(B)];
    assert_eq!((known.replies, known.late, known.again, tally.echo.unasked), (1, 1, 1, 1));
}

#[test]
fn a_copy_of_a_request_is_no_request_and_what_was_asked_last_is_held_against_nobody() {
    let mut tally = IcmpStats::default();
    ping(&mut tally, 0, false, 7, 1);
    ping(&mut tally, 1, false, 7, 1);
    ping(&mut tally, 2, true, 7, 1);
    ping(&mut tally, 9500, false, 7, 2);
    tally.echo.finish(10_000 * MS);
    assert_eq!(target(&tally), (2, 1, 0));
}

#[test]
fn a_request_that_somebody_complained_about_is_not_lost() {
    let mut tally = IcmpStats::default();
    ping(&mut tally, 0, false, 7, 1);
    let bytes = [8, 0, 0, 0, 0, 7, 0, 1];
    let context = HeaderContext { net: IpPair::Four(A, B), quoted: true, ..HeaderContext::default() };
    tally.take(false, View::new(&bytes, 8), &context, (2, MS));
    tally.echo.finish(60_000 * MS);
    assert_eq!(target(&tally), (1, 0, 0));
    assert_eq!(tally.echo.targets[&IpAddr::from(B)].refused, 1);
}

#[test]
fn a_steady_number_of_answers_a_second_is_a_limit() {
    let mut tally = IcmpStats::default();
    for number in 0..600_u16 {
        let time = 500 + u64::from(number) * 10;
        ping(&mut tally, time, false, 7, number);
        if number % 10 == 0 {
            ping(&mut tally, time + 1, true, 7, number);
        }
    }
    tally.echo.finish(60_000 * MS);
    assert_eq!(tally.echo.targets[&IpAddr::from(B)].limit(), Some(10));
}

#[test]
fn a_trace_of_the_path_is_no_circle() {
    let wanted = |tally: &IcmpStats| tally.traces.paths[&IpPair::Four(A, B)].wanted();
    // One router alone, about packets that look alike.
    let mut tally = IcmpStats::default();
    for time in 0..20 {
        error(&mut tally, time, (11, 0), ROUTER, 443);
    }
    assert!(!wanted(&tally));
    // Several routers.
    error(&mut tally, 21, (11, 0), [10, 1, 1, 1], 443);
    assert!(wanted(&tally));
    // Ports that go up.
    let mut tally = IcmpStats::default();
    for time in 0..20 {
        error(&mut tally, time, (11, 0), ROUTER, 33_434 + time as u16);
    }
    assert!(wanted(&tally));
    // Packets that are given more hops one by one, in rounds.
    let mut tally = IcmpStats::default();
    for round in 0..3 {
        for hops in 1..=3 {
            tally.traces.packet(IpPair::Four(A, B), hops);
        }
        error(&mut tally, round, (11, 0), ROUTER, 443);
    }
    assert!(wanted(&tally));
}

#[test]
fn a_source_that_heeds_the_limit_differs_from_one_that_ignores_it() {
    let net = IpPair::Four(A, B);
    for (learns, ignored) in [(true, 0), (false, 5)] {
        let mut tally = IcmpStats::default();
        let quote = Quote { six: false, kind: 3, code: 4, mtu: 1280, from: IpPair::Four(ROUTER, A) };
        for frame in 1..=4 {
            tally.about(&quote, net, None, (frame, frame * MS));
        }
        let packet = vec![0; if learns { 1280 } else { 1500 }];
        let context = HeaderContext { net, hops: 64, ..HeaderContext::default() };
        for time in 0..5 {
            tally.packet(View::new(&packet, packet.len()), &context, (300 + time) * MS);
        }
        let limit = &tally.limits.paths[&net];
        assert_eq!((limit.count, limit.mtu, limit.ignored()), (4, 1280, ignored));
    }
}

#[test]
fn a_connection_knows_what_was_said_about_it() {
    let mut tally = IcmpStats::default();
    for time in 0..3 {
        error(&mut tally, time, (3, 13), ROUTER, 443);
        tally.about_flow(IpPair::Four(A, B), (40_000, 443), time + 1);
    }
    // What no error was about is not remembered.
    tally.about_flow(IpPair::Four(A, B), (40_001, 443), 99);
    let (a, b) = (SocketAddr::from((A, 40_000)), SocketAddr::from((B, 443)));
    tally.quoted.over((b, a), || State::SynSent);
    let quoted = tally.quoted.about((b, a)).unwrap();
    assert_eq!((quoted.count, quoted.frame, quoted.code, quoted.state), (3, 1, 13, Some(State::SynSent)));
    assert_eq!(tally.quoted.to(IpAddr::from(ROUTER), (false, 3, 13), b).len(), 1);
}

#[test]
fn complaints_that_are_far_apart_do_not_add_up() {
    let dense = |step: u64| {
        let mut tally = IcmpStats::default();
        for time in 0..5 {
            error(&mut tally, time * step, (3, 1), ROUTER, 443);
        }
        tally.errors.values().next().unwrap().dense
    };
    assert_eq!((dense(600_000), dense(40_000), dense(500)), (1, 2, 3));
}

#[test]
fn floods_are_remembered_in_bounded_memory() {
    let mut tally = IcmpStats::default();
    for number in 0..40_000_u32 {
        let [.., one, two, three] = number.to_be_bytes();
        let net = IpPair::Four(A, [10, one, two, three]);
        let quote = Quote { six: false, kind: 11, code: 0, mtu: 0, from: IpPair::Four(ROUTER, A) };
        let at = (u64::from(number), u64::from(number));
        tally.about(&quote, net, Some((1, 2)), at);
        tally.about(&Quote { kind: 3, code: 4, mtu: 600, ..quote }, net, Some((1, 2)), at);
        tally.about_flow(net, (1, 2), at.0);
        let context = HeaderContext { net, hops: 64, ..HeaderContext::default() };
        tally.take(false, View::new(&[8, 0, 0, 0, two, three, 0, 1], 8), &context, at);
    }
    assert!(tally.errors.len() <= 4096 && tally.traces.paths.len() <= 1024);
    assert!(tally.limits.paths.len() <= 1024 && tally.echo.targets.len() <= 1024);
    assert_eq!(tally.traces.left_out, 40_000 - 1024);
    assert!(tally.left_out > 70_000 && tally.quoted.left_out > 30_000 && tally.echo.left_out > 38_000);
}
