//! Who owns, who asks, who claims.

use std::net::IpAddr;

use super::{FrameContext, NeighborMessage, NeighborStats};
use crate::layers::{Arp, View};

const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const B: [u8; 6] = [2, 0, 0, 0, 0, 2];
const ROUTERS: [[u8; 6]; 2] = [[0, 0, 0x5e, 0, 1, 5], [0, 7, 0xb4, 0, 1, 6]];
const NOBODY: [u8; 4] = [0; 4];
const HOST: [u8; 4] = [10, 0, 0, 1];
const OTHER: [u8; 4] = [10, 0, 0, 2];

/// Operation, sender's hardware address, sender, target.
type Said4 = (u16, [u8; 6], [u8; 4], [u8; 4]);

/// Takes what is said, so many milliseconds apart.
fn take_apart(tally: &mut NeighborStats, apart: u64, message: &[Said4]) {
    for (frame, (operation, mac, sender, target)) in (1..).zip(message) {
        let arp = Arp {
            operation: *operation,
            sender: Some((*mac, *sender)),
            target: Some(([0; 6], *target)),
            lan: 0,
        };
        tally.take(&arp, FrameContext { lan: 0, frame, time: (frame + 100_000) * apart * 1_000_000 });
    }
}

fn take(tally: &mut NeighborStats, message: &[Said4]) {
    take_apart(tally, 1000, message);
}

fn silent(tally: &NeighborStats, host: [u8; 4]) -> u64 {
    tally.addresses[&(0, IpAddr::from(host))].silent
}

#[test]
fn only_a_later_answer_answers() {
    let mut tally = NeighborStats::default();
    take(&mut tally, &[(2, B, OTHER, HOST), (1, A, HOST, OTHER), (1, A, HOST, OTHER)]);
    assert_eq!((tally.requests, tally.replies, tally.unanswered()), (2, 1, 2));
    take(&mut tally, &[(2, B, OTHER, HOST)]);
    assert_eq!(tally.unanswered(), 0);
}

#[test]
fn probes_and_announcements_expect_no_answer_and_probes_claim_nothing() {
    let mut tally = NeighborStats::default();
    take(&mut tally, &[(1, A, NOBODY, HOST), (1, A, HOST, HOST), (1, B, NOBODY, HOST)]);
    assert_eq!((tally.unanswered(), tally.gratuitous, tally.probes), (0, 1, 2));
    assert!(tally.conflicts().is_empty());
}

#[test]
fn two_who_claim_an_address_are_a_conflict_with_the_first_frame_of_each() {
    let mut tally = NeighborStats::default();
    take(&mut tally, &[(2, A, HOST, OTHER), (2, B, HOST, OTHER), (2, A, HOST, OTHER), (1, B, HOST, OTHER)]);
    let conflicts = tally.conflicts();
    let (_, address) = conflicts[0];
    assert_eq!(address.claims.iter().map(|claim| claim.frame).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((address.claimant_changes, address.quick), (3, 2));
}

#[test]
fn an_address_that_moves_there_and_back_within_minutes_changes_slowly() {
    let mut tally = NeighborStats::default();
    let message = [(2, A, HOST, OTHER), (2, B, HOST, OTHER), (2, A, HOST, OTHER)];
    take_apart(&mut tally, 60_000, &message);
    let conflicts = tally.conflicts();
    assert_eq!(
        (conflicts[0].1.claimant_changes, conflicts[0].1.quick, conflicts[0].1.rival_answers),
        (2, 0, 0)
    );
}

#[test]
fn a_second_answer_to_the_same_question_is_a_rival_and_an_announcement_is_none() {
    let rival_answers = |message: Said4| {
        let mut tally = NeighborStats::default();
        take(&mut tally, &[(1, B, OTHER, HOST), (2, A, HOST, OTHER), message]);
        tally.conflicts()[0].1.rival_answers
    };
    assert_eq!((rival_answers((2, B, HOST, OTHER)), rival_answers((2, B, HOST, HOST))), (1, 0));
}

#[test]
fn routers_may_share_an_address_but_excuse_nobody_else() {
    let [one, two] = ROUTERS;
    let mut tally = NeighborStats::default();
    take(&mut tally, &[(2, one, HOST, OTHER), (2, two, HOST, OTHER), (2, one, HOST, OTHER)]);
    assert!(tally.conflicts().is_empty());
    take(&mut tally, &[(2, A, HOST, OTHER), (2, one, HOST, OTHER), (2, A, HOST, OTHER)]);
    assert_eq!(tally.conflicts()[0].1.claimant_changes, 3);
}

#[test]
fn the_same_address_in_two_lans_is_no_conflict() {
    let mut tally = NeighborStats::default();
    for (frame, lan, mac) in [(1, 10, A), (2, 20, B), (3, 10, A), (4, 20, B)] {
        let arp = Arp { operation: 2, sender: Some((mac, HOST)), target: Some((B, OTHER)), lan };
        tally.take(&arp, FrameContext { lan, frame, time: frame });
    }
    assert!(tally.conflicts().is_empty());
}

#[test]
fn only_who_asks_again_within_seconds_got_no_answer() {
    // Answers are not seen where this capture is taken; who got one asks again after half a minute.
    let mut tally = NeighborStats::default();
    take_apart(&mut tally, 30_000, &[(1, A, HOST, OTHER); 20]);
    assert_eq!((silent(&tally, OTHER), tally.unanswered()), (1, 20));
    let mut tally = NeighborStats::default();
    take_apart(&mut tally, 1000, &[(1, A, HOST, OTHER); 7]);
    assert_eq!(silent(&tally, OTHER), 7);
    // Whoever asks for something is alive.
    take(&mut tally, &[(1, B, OTHER, HOST), (1, A, HOST, OTHER)]);
    assert_eq!(silent(&tally, OTHER), 1);
}

#[test]
fn answers_that_are_late_or_were_not_asked_for_are_counted() {
    let mut tally = NeighborStats::default();
    take_apart(&mut tally, 2000, &[(1, A, HOST, OTHER), (2, B, OTHER, HOST)]);
    assert_eq!((tally.late, tally.unasked), (1, 0));
    let mut tally = NeighborStats::default();
    take_apart(&mut tally, 20_000, &[(1, A, HOST, OTHER), (2, B, OTHER, HOST)]);
    assert_eq!((tally.late, tally.unasked), (0, 1));
}

#[test]
fn who_wants_an_address_that_another_has_is_reported() {
    let mut tally = NeighborStats::default();
    take(&mut tally, &[(1, A, NOBODY, HOST), (2, B, HOST, HOST)]);
    assert_eq!(tally.addresses[&(0, IpAddr::from(HOST))].taken, Some((A, B, 2)));
    // Who then announces it has it.
    let mut tally = NeighborStats::default();
    take(&mut tally, &[(1, A, NOBODY, HOST), (1, A, HOST, HOST)]);
    assert_eq!(tally.addresses[&(0, IpAddr::from(HOST))].taken, None);
}

#[test]
fn announcements_are_counted_within_seconds() {
    let most = |apart| {
        let mut tally = NeighborStats::default();
        take_apart(&mut tally, apart, &[(1, A, HOST, HOST); 30]);
        tally.addresses[&(0, IpAddr::from(HOST))].announced
    };
    assert_eq!((most(100), most(60_000)), (30, 1));
}

/// A solicitation or advertisement for an address, with a hardware address.
fn neighbor(kind: u8, flags: u8, target: u8, mac: [u8; 6]) -> Vec<u8> {
    let mut bytes = vec![kind, 0, 0, 0, flags, 0, 0, 0];
    bytes.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, target]);
    bytes.extend([if kind == 135 { 1 } else { 2 }, 1]);
    bytes.extend(mac);
    bytes
}

fn neighbors(message: &[(u8, u8, u8, [u8; 6], u8)]) -> NeighborStats {
    let mut tally = NeighborStats::default();
    for (frame, (kind, flags, target, mac, source)) in (1..).zip(message) {
        let bytes = neighbor(*kind, *flags, *target, *mac);
        let mut from = [0; 16];
        if *source > 0 {
            from = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, *source];
        }
        let message = NeighborMessage::neighbor(View::new(&bytes, bytes.len()), IpAddr::from(from)).unwrap();
        tally.add_message(&message, FrameContext { lan: 0, frame, time: frame * 1_000_000_000 });
    }
    tally
}

#[test]
fn a_solicitation_is_answered_by_an_advertisement() {
    let tally = neighbors(&[(135, 0, 2, A, 1), (136, 0x60, 2, B, 2), (135, 0, 9, A, 1)]);
    assert_eq!((tally.requests, tally.replies, tally.unanswered(), tally.gratuitous), (2, 1, 1, 0));
}

#[test]
fn only_an_advertisement_that_overrides_claims_an_address() {
    assert!(neighbors(&[(136, 0x60, 2, A, 2), (136, 0x40, 2, B, 2)]).conflicts().is_empty());
    let tally = neighbors(&[(136, 0x60, 2, A, 2), (136, 0x20, 2, B, 2), (136, 0x60, 2, A, 2)]);
    assert_eq!(tally.conflicts()[0].1.claimant_changes, 2);
}

#[test]
fn an_address_that_is_wanted_and_taken_is_reported_for_neighbors_too() {
    let tally = neighbors(&[(135, 0, 2, A, 0), (136, 0x20, 2, B, 2)]);
    assert_eq!(tally.filtered(|address| address.taken == Some((A, B, 2))).len(), 1);
    assert_eq!((tally.probes, tally.unanswered()), (1, 0));
}

#[test]
fn a_flood_of_addresses_is_remembered_in_bounded_memory() {
    let mut tally = NeighborStats::default();
    for number in 0..100_000_u32 {
        let [_, one, two, three] = number.to_be_bytes();
        let target = Some(([0; 6], [10, one, two, three]));
        let arp = Arp { operation: 1, sender: Some((A, HOST)), target, lan: 0 };
        tally.take(&arp, FrameContext { lan: 0, frame: 1, time: u64::from(number) });
    }
    assert_eq!((tally.addresses.len(), tally.requests), (32_768, 100_000));
    assert_eq!(tally.left_out, 100_000 - 32_768);
}
