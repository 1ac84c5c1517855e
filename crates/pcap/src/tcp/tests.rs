//! The sequence analysis, segment by segment.

use super::{EndpointPair, Flow, Origin, Segment};
use crate::label::{Label, Labels};
use crate::layers::{IpPair, View};

const NET: IpPair = IpPair::Four([10, 0, 0, 1], [10, 0, 0, 2]);
const BACK: IpPair = IpPair::Four([10, 0, 0, 2], [10, 0, 0, 1]);
const MS: u64 = 1_000_000;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// A conversation under test; the client's numbers start at 1,000, the server's at 5,000.
struct Talk {
    flow: Flow,
    now: u64,
    frame: u64,
    hops: u8,
}

/// A segment as it is written in tests: sequence and acknowledgment number, flags, window, length.
type Said = (u32, u32, u8, u16, usize);

impl Talk {
    fn new() -> Self {
        let (ends, flipped) = EndpointPair::new(NET, (40_000, 80));
        Self { flow: Flow::new(0, ends, flipped), now: 1_000 * MS, frame: 0, hops: 60 }
    }

    fn open() -> Self {
        let mut talk = Self::new();
        talk.client(0, (1000, 0, SYN, 64_000, 0));
        talk.server(10, (5000, 1001, SYN | ACK, 64_000, 0));
        talk.client(10, (1001, 5001, ACK, 500, 0));
        talk
    }

    fn client(&mut self, later_ms: u64, said: Said) -> Labels {
        self.say(true, later_ms, said)
    }

    fn server(&mut self, later_ms: u64, said: Said) -> Labels {
        self.say(false, later_ms, said)
    }

    fn say(&mut self, client: bool, later_ms: u64, (seq, ack, flags, win, len): Said) -> Labels {
        self.now += later_ms * MS;
        self.frame += 1;
        let ports: [u16; 2] = if client { [40_000, 80] } else { [80, 40_000] };
        let mut bytes: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
        bytes.extend(seq.to_be_bytes());
        bytes.extend(ack.to_be_bytes());
        bytes.extend([0x50, flags]);
        bytes.extend(win.to_be_bytes());
        bytes.extend([0; 4]);
        let mut segment = Segment::read(View::new(&bytes, 20 + len), true).unwrap();
        segment.hops = self.hops;
        let flipped = EndpointPair::new(if client { NET } else { BACK }, segment.ports).1;
        let labels = self.flow.take(&segment, flipped, (self.frame, self.now), None);
        self.flow.note(labels, flipped, self.frame);
        labels
    }
}

#[track_caller]
fn check(found: Labels, expected: &[Label]) {
    let mut labels = Labels::default();
    expected.iter().for_each(|label| labels.set(*label));
    assert_eq!(found, labels);
}

#[test]
fn a_handshake_is_nothing_special_and_gives_the_first_round_trip() {
    let talk = Talk::open();
    assert_eq!(talk.flow.rtt, 20 * MS);
    assert_eq!(talk.flow.trouble.iter().sum::<u32>(), 0);
}

#[test]
fn what_is_sent_again_late_was_lost_and_what_comes_early_is_only_out_of_order() {
    let mut talk = Talk::open();
    check(talk.client(1, (1001, 5001, ACK, 500, 100)), &[]);
    check(talk.client(1, (1201, 5001, ACK, 500, 100)), &[Label::LostSegment]);
    check(talk.client(5, (1101, 5001, ACK, 500, 100)), &[Label::OutOfOrder]);
    check(talk.client(300, (1101, 5001, ACK, 500, 100)), &[Label::Retransmission]);
    // The last segment once more is never merely late.
    check(talk.client(1, (1301, 5001, ACK, 500, 100)), &[]);
    check(talk.client(1, (1301, 5001, ACK, 500, 100)), &[Label::Retransmission]);
}

#[test]
fn two_repeated_acknowledgments_make_a_fast_retransmission_within_20_ms() {
    for (pause, expected) in
        [(19, &[Label::FastRetransmission, Label::Retransmission][..]), (25, &[Label::Retransmission][..])]
    {
        let mut talk = Talk::open();
        talk.client(1, (1001, 5001, ACK, 500, 100));
        talk.client(1, (1101, 5001, ACK, 500, 100));
        talk.server(1, (5001, 1001, ACK, 600, 0));
        check(talk.server(1, (5001, 1001, ACK, 600, 0)), &[Label::DuplicateAck]);
        check(talk.server(1, (5001, 1001, ACK, 600, 0)), &[Label::DuplicateAck]);
        check(talk.client(pause, (1001, 5001, ACK, 500, 100)), expected);
    }
}

#[test]
fn what_was_acknowledged_is_sent_again_needlessly() {
    let mut talk = Talk::open();
    talk.client(1, (1001, 5001, ACK, 500, 100));
    talk.server(1, (5001, 1101, ACK, 600, 0));
    let spurious = [Label::SpuriousRetransmission, Label::Retransmission];
    check(talk.client(1, (1001, 5001, ACK, 500, 100)), &spurious);
}

#[test]
fn an_acknowledgment_of_what_was_not_captured_is_reported_once() {
    let mut talk = Talk::open();
    check(talk.server(1, (5001, 3001, ACK, 600, 0)), &[Label::AckLostSegment]);
    check(talk.server(1, (5001, 4001, ACK, 600, 0)), &[]);
}

#[test]
fn a_closed_window_is_probed_and_answered() {
    let mut talk = Talk::open();
    check(talk.server(1, (5001, 1001, ACK, 0, 0)), &[Label::ZeroWindow]);
    check(talk.client(1, (1001, 5001, ACK, 500, 1)), &[Label::ZeroWindowProbe]);
    let answer = [Label::ZeroWindow, Label::ZeroWindowProbeAck];
    check(talk.server(1, (5001, 1001, ACK, 0, 0)), &answer);
    check(talk.server(1, (5001, 1001, ACK, 600, 0)), &[Label::WindowUpdate]);
}

#[test]
fn a_keep_alive_and_its_answer_are_no_loss() {
    let mut talk = Talk::open();
    talk.server(1, (5001, 1001, ACK, 600, 0));
    check(talk.client(9000, (1000, 5001, ACK, 500, 0)), &[Label::KeepAlive]);
    check(talk.server(1, (5001, 1001, ACK, 600, 0)), &[Label::KeepAliveAck]);
}

#[test]
fn a_window_that_is_filled_to_the_last_byte_is_reported() {
    let mut talk = Talk::open();
    talk.server(1, (5001, 1001, ACK, 300, 0));
    check(talk.client(1, (1001, 5001, ACK, 500, 299)), &[]);
    check(talk.client(1, (1300, 5001, ACK, 500, 1)), &[Label::WindowFull]);
}

#[test]
fn numbers_that_wrap_are_numbers_like_others() {
    let mut talk = Talk::new();
    check(talk.client(1, (0xffff_ff00, 5001, ACK, 500, 0x80)), &[]);
    check(talk.client(1, (0xffff_ff80, 5001, ACK, 500, 0x100)), &[]);
    check(talk.client(1, (0x80, 5001, ACK, 500, 0x100)), &[]);
    check(talk.client(1, (0x280, 5001, ACK, 500, 1)), &[Label::LostSegment]);
}

#[test]
fn half_the_circle_away_is_behind_as_well_as_before() {
    let mut talk = Talk::new();
    talk.server(1, (5001, 1001, ACK, 600, 0));
    talk.client(1, (1001, 5001, ACK, 500, 0));
    let far = 1001_u32.wrapping_add(1 << 31);
    assert!(talk.client(1, (far, 5001, ACK, 500, 0)).has(Label::LostSegment));
}

#[test]
fn round_trips_are_measured_on_what_was_sent_once() {
    let mut talk = Talk::open();
    talk.client(1, (1001, 5001, ACK, 500, 100));
    talk.client(300, (1001, 5001, ACK, 500, 100));
    talk.server(1, (5001, 1101, ACK, 600, 0));
    talk.client(1, (1101, 5001, ACK, 500, 100));
    talk.server(40, (5001, 1201, ACK, 600, 0));
    let [client, server] = *talk.flow.rtts.unwrap();
    assert_eq!((client.min(), client.max(), client.count()), (10 * MS, 40 * MS, 2));
    assert_eq!((server.max(), server.count()), (10 * MS, 1));
}

#[test]
fn an_end_that_answers_with_a_reset_refuses() {
    let mut talk = Talk::new();
    talk.client(1, (1000, 0, SYN, 500, 0));
    talk.server(1, (0, 1001, RST | ACK, 0, 0));
    assert!(talk.flow.turns.refused);
    let mut talk = Talk::new();
    talk.client(1, (1000, 0, SYN, 500, 0));
    talk.client(1, (1001, 0, RST, 0, 0));
    assert!(!talk.flow.turns.refused);
}

#[test]
fn a_reset_from_elsewhere_is_reported_and_one_of_the_same_path_is_not() {
    for (hops, origin) in [(60, Origin::Endpoint), (59, Origin::Unclear), (47, Origin::MiddleboxLikely)] {
        let mut talk = Talk::open();
        talk.hops = hops;
        talk.server(1, (5001, 1001, RST, 0, 0));
        assert_eq!(talk.flow.reset.unwrap().origin(), origin);
    }
}

#[test]
fn a_full_table_lets_the_silent_go_and_says_how_many() {
    let mut table = super::Table::with_room(4);
    for port in 0..100_u16 {
        for port in [40_000, port] {
            let (ends, flipped) = EndpointPair::new(NET, (port, 80));
            let place = table.index_of(ends, flipped);
            let flow = table.get_mut(place).unwrap();
            assert_eq!(flow.stream, if port == 40_000 { 0 } else { u64::from(port) + 1 });
        }
    }
    assert_eq!(table.evicted(), 97);
    assert_eq!(std::iter::from_fn(|| table.departed()).count(), 97);
    assert_eq!(table.into_flows().len(), 4);
}

#[test]
fn a_connection_is_small() {
    let flow = size_of::<Flow>();
    let deep = size_of::<super::direction::DirectionStates>();
    assert!(flow <= 640 && deep <= 900, "{flow} {deep}");
}
