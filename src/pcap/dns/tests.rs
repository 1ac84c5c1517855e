//! Which question got which answer.

use super::{At, Message, Tally};
use crate::pcap::layers::{Net, View};
use crate::pcap::tcp::Ends;

const NET: Net = Net::Four([10, 0, 0, 1], [10, 0, 0, 53]);
const BACK: Net = Net::Four([10, 0, 0, 53], [10, 0, 0, 1]);

/// A message between one client port and the server, at a time in milliseconds.
fn say(tally: &mut Tally, time: u64, response: bool, port: u16, id: u16, name: &str, rcode: u8) {
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend(if response { [0x81, 0x80 | rcode] } else { [1, 0] });
    bytes.extend([0, 1, 0, 0, 0, 0, 0, 0, u8::try_from(name.len()).unwrap()]);
    bytes.extend(name.as_bytes());
    bytes.extend([0, 0, 1, 0, 1]);
    let (net, ports) = if response { (BACK, (53, port)) } else { (NET, (port, 53)) };
    let (ends, flipped) = Ends::new(net, ports);
    let message = Message::read(View::new(&bytes, bytes.len())).unwrap();
    tally.take(&message, At { ends, flipped, frame: time + 1, time: time * 1_000_000, stream: false });
}

const END: u64 = 100_000_000_000;

#[test]
fn an_answer_belongs_to_its_number_its_ends_and_its_question() {
    let mut tally = Tally::default();
    say(&mut tally, 0, false, 4000, 7, "a", 0);
    say(&mut tally, 1, false, 4001, 7, "a", 0);
    say(&mut tally, 2, false, 4000, 7, "b", 0);
    say(&mut tally, 30, true, 4000, 7, "A", 0);
    assert_eq!((tally.queries, tally.responses, tally.finish(END)), (3, 1, 2));
    assert_eq!(tally.latency.most(), 30_000_000);
}

#[test]
fn a_question_that_was_asked_again_is_answered_as_a_whole() {
    let mut tally = Tally::default();
    say(&mut tally, 0, false, 4000, 7, "a", 0);
    say(&mut tally, 5000, false, 4000, 7, "a", 0);
    say(&mut tally, 5020, true, 4000, 7, "a", 0);
    say(&mut tally, 5021, true, 4000, 7, "a", 0);
    assert_eq!((tally.retries, tally.responses, tally.finish(END)), (1, 2, 0));
    // Who asks waits from the first question on.
    assert_eq!((tally.latency.count(), tally.latency.most()), (1, 5_020_000_000));
}

#[test]
fn an_answer_before_its_question_answers_nothing() {
    let mut tally = Tally::default();
    say(&mut tally, 0, true, 4000, 7, "a", 0);
    say(&mut tally, 1, false, 4000, 7, "a", 0);
    assert_eq!(tally.finish(END), 1);
}

#[test]
fn what_was_asked_just_before_the_end_is_held_against_nobody() {
    let mut tally = Tally::default();
    say(&mut tally, 0, false, 4000, 7, "a", 0);
    say(&mut tally, 9500, false, 4000, 8, "b", 0);
    assert_eq!(tally.finish(10_000_000_000), 2);
    assert_eq!(tally.servers.values().map(|server| server.unanswered).sum::<u64>(), 1);
}

#[test]
fn failures_are_kept_with_their_names_and_frames() {
    let mut tally = Tally::default();
    for id in 0..9 {
        say(&mut tally, u64::from(id), true, 4000, id, if id < 6 { "gone" } else { "lost" }, 3);
    }
    assert_eq!((tally.missing.count, tally.missing.frames.len(), tally.missing.names["gone"]), (9, 5, 6));
    assert_eq!(tally.rcodes["NXDOMAIN"], 9);
}
