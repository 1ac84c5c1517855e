//! Which question got which answer.

use super::{DnsStats, Message, MessageContext};
use crate::layers::{IpPair, View};
use crate::tcp::EndpointPair;

const NET: IpPair = IpPair::Four([10, 0, 0, 1], [10, 0, 0, 53]);
const BACK: IpPair = IpPair::Four([10, 0, 0, 53], [10, 0, 0, 1]);

/// A message with flags between the client and the server, by UDP or TCP.
fn tell(tally: &mut DnsStats, time: u64, flags: u16, name: &str, stream: bool) {
    let mut bytes = [7, flags, 1, 0, 0, 0].map(u16::to_be_bytes).concat();
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.bytes());
    }
    bytes.extend([0, 0, 1, 0, 1]);
    let (net, ports) = if flags & 0x8000 != 0 { (BACK, (53, 4000)) } else { (NET, (4000, 53)) };
    let (ends, flipped) = EndpointPair::new(net, ports);
    let message = Message::read(View::new(&bytes, bytes.len())).unwrap();
    tally.take(&message, MessageContext { ends, flipped, frame: time + 1, time: time * 1_000_000, stream });
}

/// A message between one client port and the server, at a time in milliseconds.
fn say(tally: &mut DnsStats, time: u64, response: bool, port: u16, id: u16, name: &str, rcode: u8) {
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend(if response { [0x81, 0x80 | rcode] } else { [1, 0] });
    bytes.extend([0, 1, 0, 0, 0, 0, 0, 0, u8::try_from(name.len()).unwrap()]);
    bytes.extend(name.as_bytes());
    bytes.extend([0, 0, 1, 0, 1]);
    let (net, ports) = if response { (BACK, (53, port)) } else { (NET, (port, 53)) };
    let (ends, flipped) = EndpointPair::new(net, ports);
    let message = Message::read(View::new(&bytes, bytes.len())).unwrap();
    tally.take(
        &message,
        MessageContext { ends, flipped, frame: time + 1, time: time * 1_000_000, stream: false },
    );
}

const END: u64 = 100_000_000_000;

#[test]
fn an_answer_belongs_to_its_number_its_ends_and_its_question() {
    let mut tally = DnsStats::default();
    say(&mut tally, 0, false, 4000, 7, "a", 0);
    say(&mut tally, 1, false, 4001, 7, "a", 0);
    say(&mut tally, 2, false, 4000, 7, "b", 0);
    say(&mut tally, 30, true, 4000, 7, "A", 0);
    assert_eq!((tally.queries, tally.responses, tally.finish(END)), (3, 1, 2));
    assert_eq!(tally.latency.max(), 30_000_000);
}

#[test]
fn a_question_that_was_asked_again_is_answered_as_a_whole() {
    let mut tally = DnsStats::default();
    say(&mut tally, 0, false, 4000, 7, "a", 0);
    say(&mut tally, 5000, false, 4000, 7, "a", 0);
    say(&mut tally, 5020, true, 4000, 7, "a", 0);
    say(&mut tally, 5021, true, 4000, 7, "a", 0);
    assert_eq!((tally.retries, tally.responses, tally.finish(END)), (1, 2, 0));
    // Who asks waits from the first question on.
    assert_eq!((tally.latency.count(), tally.latency.max()), (1, 5_020_000_000));
}

#[test]
fn an_answer_before_its_question_answers_nothing() {
    let mut tally = DnsStats::default();
    say(&mut tally, 0, true, 4000, 7, "a", 0);
    say(&mut tally, 1, false, 4000, 7, "a", 0);
    assert_eq!(tally.finish(END), 1);
}

#[test]
fn what_was_asked_just_before_the_end_is_held_against_nobody() {
    let mut tally = DnsStats::default();
    say(&mut tally, 0, false, 4000, 7, "a", 0);
    say(&mut tally, 9500, false, 4000, 8, "b", 0);
    assert_eq!(tally.finish(10_000_000_000), 2);
    assert_eq!(tally.servers.values().map(|server| server.unanswered).sum::<u64>(), 1);
}

#[test]
fn failures_are_kept_with_their_names_and_frames() {
    let mut tally = DnsStats::default();
    for id in 0..9 {
        say(&mut tally, u64::from(id), true, 4000, id, if id < 6 { "gone" } else { "lost" }, 3);
    }
    assert_eq!(
        (tally.nonexistent.count, tally.nonexistent.frames.len(), tally.nonexistent.names["gone"]),
        (9, 5, 6)
    );
    assert_eq!(tally.rcodes["NXDOMAIN"], 9);
}

#[test]
fn the_same_question_much_later_is_another_one() {
    let mut tally = DnsStats::default();
    say(&mut tally, 0, false, 4000, 7, "a", 0);
    say(&mut tally, 600_000, false, 4000, 7, "a", 0);
    say(&mut tally, 600_020, true, 4000, 7, "a", 0);
    assert_eq!((tally.retries, tally.latency.max()), (0, 20_000_000));
    // The answer lies later than both.
    assert_eq!(tally.finish(700_000_000_000), 0);
}

#[test]
fn an_answer_that_did_not_fit_is_asked_for_by_tcp_or_not() {
    let mut tally = DnsStats::default();
    for (time, name) in [(0, "one"), (10, "two"), (20, "three")] {
        tell(&mut tally, time, 0x0100, name, false);
        tell(&mut tally, time + 5, 0x8380, name, false);
    }
    tell(&mut tally, 30, 0x0100, "one", true);
    tell(&mut tally, 40, 0x8180, "two", false);
    assert_eq!((tally.truncated, tally.mended, tally.cut.len()), (3, 2, 1));
}

fn answers_counted(names: &[(u64, &str, u16)]) -> (u64, u64) {
    let mut tally = DnsStats::default();
    for (time, name, rcode) in names {
        tell(&mut tally, *time, 0x8180 | rcode, name, false);
    }
    tally.finish(END);
    let client = tally.clients.all.values().next().unwrap();
    (client.nonexistent, client.excused)
}

#[test]
fn a_search_list_that_finds_the_host_misses_nothing() {
    let list = [(0, "db.a.test", 3), (10, "db.b.test", 3), (20, "db.test", 0)];
    assert_eq!(answers_counted(&list), (0, 2));
    // A typed name with dots, found as it was typed.
    assert_eq!(answers_counted(&[(0, "www.example.com.corp.test", 3), (9, "www.example.com", 0)]), (0, 1));
}

#[test]
fn another_host_or_the_same_one_much_later_finds_nothing() {
    assert_eq!(answers_counted(&[(0, "db.a.test", 3), (9, "web.a.test", 0)]), (1, 0));
    assert_eq!(answers_counted(&[(0, "db.a.test", 3), (60_000, "db.test", 0)]), (1, 0));
    // Any two sites have a host of that name.
    assert_eq!(answers_counted(&[(0, "www.one.test", 3), (9, "www.two.test", 0)]), (1, 0));
}

#[test]
fn floods_of_names_and_clients_are_remembered_in_bounded_memory() {
    let mut tally = DnsStats::default();
    for number in 0..60_000_u32 {
        let mut bytes = [7_u16, 0x8183, 1, 0, 0, 0].map(u16::to_be_bytes).concat();
        let label = format!("x7q{number}kzw9v");
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.bytes());
        bytes.extend(format!("\u{6}{:06}\u{4}test", number).bytes());
        bytes.extend([0, 0, 16, 0, 1]);
        let [one, two, three, four] = number.to_be_bytes();
        let net = IpPair::Four([10, 0, 0, 53], [10 + one, two, three, four]);
        let message = Message::read(View::new(&bytes, bytes.len())).unwrap();
        let time = u64::from(number);
        let (ends, flipped) = EndpointPair::new(net, (53, 4000));
        tally.take(&message, MessageContext { ends, flipped, frame: 1, time, stream: false });
        let question = Message { response: false, ..message };
        let (ends, flipped) = EndpointPair::new(NET, (4000, 53));
        tally.take(&question, MessageContext { ends, flipped, frame: 1, time, stream: false });
    }
    tally.finish(END);
    assert_eq!((tally.clients.all.len(), tally.parents.all.len()), (16_384, 4096));
    assert_eq!(tally.parents.left_out, 60_000 - 4096);
    let odd: usize = tally.clients.all.values().map(|client| client.odd.len()).sum();
    assert!(odd <= 4096 && tally.clients.left_out > 40_000, "{odd}");
}

#[test]
fn distinct_names_below_a_domain_are_counted_within_a_tenth() {
    for count in [8_u64, 100, 3000] {
        let mut tally = DnsStats::default();
        for number in 0..count * 3 {
            let name = format!("{:050}.below.example.test", number % count);
            tell(&mut tally, number, 0x0100, &name, false);
        }
        let parent = tally.parents.all.values().next().unwrap();
        let distinct = parent.distinct();
        assert!(distinct.abs_diff(count) * 10 <= count, "{distinct} instead of {count}");
        assert_eq!((parent.name.as_str(), parent.mean()), ("example.test", 50.0));
    }
}
