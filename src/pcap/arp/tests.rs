//! Who owns, who asks, who claims.

use super::Tally;
use crate::pcap::layers::Arp;

const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const B: [u8; 6] = [2, 0, 0, 0, 0, 2];
const NOBODY: [u8; 4] = [0; 4];
const HOST: [u8; 4] = [10, 0, 0, 1];
const OTHER: [u8; 4] = [10, 0, 0, 2];

/// Operation, sender's hardware address, sender, target.
type Said = (u16, [u8; 6], [u8; 4], [u8; 4]);

fn take(tally: &mut Tally, said: &[Said]) {
    for (frame, (operation, mac, sender, target)) in (1..).zip(said) {
        let arp =
            Arp { operation: *operation, sender: Some((*mac, *sender)), target: Some(([0; 6], *target)) };
        tally.take(&arp, frame);
    }
}

#[test]
fn only_a_later_answer_answers() {
    let mut tally = Tally::default();
    take(&mut tally, &[(2, B, OTHER, HOST), (1, A, HOST, OTHER), (1, A, HOST, OTHER)]);
    assert_eq!((tally.requests, tally.replies, tally.unanswered()), (2, 1, 2));
    take(&mut tally, &[(2, B, OTHER, HOST)]);
    assert_eq!(tally.unanswered(), 0);
}

#[test]
fn probes_and_announcements_expect_no_answer_and_probes_claim_nothing() {
    let mut tally = Tally::default();
    take(&mut tally, &[(1, A, NOBODY, HOST), (1, A, HOST, HOST), (1, B, NOBODY, HOST)]);
    assert_eq!((tally.unanswered(), tally.gratuitous, tally.probes), (0, 1, 2));
    assert!(tally.conflicts().is_empty());
}

#[test]
fn two_who_claim_an_address_are_a_conflict_with_the_first_frame_of_each() {
    let mut tally = Tally::default();
    take(&mut tally, &[(2, A, HOST, OTHER), (2, B, HOST, OTHER), (2, A, HOST, OTHER), (1, B, HOST, OTHER)]);
    let conflicts = tally.conflicts();
    let (_, address) = conflicts[0];
    assert_eq!(address.claims.iter().map(|claim| claim.frame).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(address.flips, 3);
}
