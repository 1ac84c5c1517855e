//! What is found in frames, layer by layer.

use super::{Arp, HeaderContext, IpPair, Quote, Sink, View, Walker};
use crate::label::Label;
use crate::read::Frame;

/// Notes its input, as words.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn note(&mut self, what: String, context: &HeaderContext) {
        let quoted = if context.quoted { " quoted" } else { "" };
        self.0.push(format!("{what} {}>{}{quoted}", context.net.source(), context.net.destination()));
    }
}

impl Sink for Notes {
    fn mark(&mut self, _label: Label) {}
    fn tcp(&mut self, view: View<'_>, context: &HeaderContext) {
        self.note(format!("tcp:{}", view.wire), context);
    }
    fn udp(&mut self, ports: (u16, u16), payload: View<'_>, context: &HeaderContext) {
        self.note(format!("udp:{}>{}:{}", ports.0, ports.1, payload.wire), context);
    }
    fn dns(&mut self, _ports: (u16, u16), message: View<'_>, context: &HeaderContext) {
        self.note(format!("dns:{}", message.wire), context);
    }
    fn icmp(&mut self, six: bool, _view: View<'_>, context: &HeaderContext) {
        self.note(if six { "icmp6" } else { "icmp" }.to_owned(), context);
    }
    fn about(&mut self, quote: &Quote, net: IpPair, ports: Option<(u16, u16)>) {
        self.0.push(format!("about:{}/{} {} {ports:?}", quote.kind, quote.code, net.destination()));
    }
    fn arp(&mut self, arp: &Arp) {
        self.0.push(format!("arp:{}", arp.operation));
    }
    fn packet(&mut self, _packet: View<'_>, _place: &HeaderContext) {}
    fn unknown_link(&mut self, link: u16) {
        self.0.push(format!("link:{link}"));
    }
}

const UDP: [u8; 12] = [0x30, 0x39, 0x30, 0x3a, 0, 12, 0, 0, 1, 2, 3, 4];
const SEEN: &str = "udp:12345>12346:4 10.0.0.1>10.0.0.2";

fn four(protocol: u8, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(20 + body.len()).unwrap().to_be_bytes();
    let mut packet =
        vec![0x45, 0, size[0], size[1], 0, 7, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet.extend(body);
    packet
}

fn behind(header: &[u8], body: &[u8]) -> Vec<u8> {
    [header, body].concat()
}

fn ether(kind: u16, body: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind.to_be_bytes(), body].concat()
}

fn walked(link: u16, frames: &[Vec<u8>]) -> Vec<String> {
    let (mut walker, mut notes) = (Walker::default(), Notes::default());
    for (number, data) in (1..).zip(frames) {
        walker.walk(&Frame { number, time: 0, interface: 0, link, wire: data.len(), data }, &mut notes);
    }
    notes.0
}

#[track_caller]
fn check(link: u16, frame: Vec<u8>, expected: &[&str]) {
    assert_eq!(walked(link, &[frame]), expected);
}

#[test]
fn every_link_type_leads_to_the_packet() {
    let packet = four(17, &UDP);
    let cooked = behind(&[0, 0, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0, 8, 0], &packet);
    let cooked_two = behind(&[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0], &packet);
    let nflog = behind(&[2, 0, 0, 0, 8, 0, 1, 0, 0, 0, 0, 0, 36, 0, 9, 0], &packet);
    for (link, frame) in [
        (1, ether(0x0800, &packet)),
        (0, behind(&[2, 0, 0, 0], &packet)),
        (0, behind(&[0, 0, 0, 2], &packet)),
        (108, behind(&[0, 0, 0, 2], &packet)),
        (9, behind(&[0xff, 3, 0, 0x21], &packet)),
        (50, behind(&[0x0f, 0, 8, 0], &packet)),
        (51, behind(&[0x11, 0, 0, 1, 0, 34, 0, 0x21], &packet)),
        (104, behind(&[0x0f, 0, 8, 0], &packet)),
        (101, packet.clone()),
        (12, packet.clone()),
        (113, cooked),
        (276, cooked_two),
        (228, packet.clone()),
        (239, nflog),
    ] {
        check(link, frame, &[SEEN]);
    }
    check(147, packet, &["link:147"]);
}

#[test]
fn tunnels_lead_to_the_innermost_packet_with_its_own_addresses() {
    let packet = four(17, &UDP);
    let inner = ether(0x0800, &packet);
    let over = |port: u16, header: &[u8], body: &[u8]| {
        let payload = behind(header, body);
        let size = u16::try_from(8 + payload.len()).unwrap();
        let udp =
            [&40_000_u16.to_be_bytes()[..], &port.to_be_bytes(), &size.to_be_bytes(), &[0, 0], &payload];
        four(17, &udp.concat())
    };
    let outer =
        |frame: &Vec<u8>, port: u16| format!("udp:40000>{port}:{} 10.0.0.1>10.0.0.2", frame.len() - 28);
    for (port, frame) in [
        (4789, over(4789, &[8, 0, 0, 0, 0, 0, 7, 0], &inner)),
        (6081, over(6081, &[1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4], &inner)),
        (2152, over(2152, &[0x30, 0xff, 0, 0, 0, 0, 0, 1], &packet)),
        (4341, over(4341, &[0; 8], &packet)),
        (4754, over(4754, &[0, 0, 8, 0], &packet)),
        (6635, over(6635, &[0, 1, 1, 64], &packet)),
    ] {
        let first = outer(&frame, port);
        check(101, frame, &[&first, SEEN]);
    }
    for header in [
        &[0, 0, 8, 0][..],
        &[0xb0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2],
        &[0x30, 0x81, 0x88, 0x0b, 0, 34, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 3, 0, 0x21],
    ] {
        check(101, four(47, &behind(header, &packet)), &[SEEN]);
    }
    let mirrored = behind(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 1, 0, 0, 0, 0], &inner);
    check(101, four(47, &mirrored), &[SEEN]);
    check(101, four(4, &packet), &[SEEN]);
    check(101, four(97, &behind(&[0x30, 0], &inner)), &[SEEN]);
    check(101, four(143, &inner), &[SEEN]);
    // Behind a header of segment routing.
    let segments = [[143, 2, 4, 0, 0, 0, 0, 0].as_slice(), &[0xfd; 16], &inner].concat();
    let length = u16::try_from(segments.len()).unwrap().to_be_bytes();
    let outer = [[0x60, 0, 0, 0, length[0], length[1], 43, 64].as_slice(), &[0xfd; 32], &segments].concat();
    check(101, outer, &[SEEN]);
}

#[test]
fn tags_and_labels_lead_to_the_packet() {
    let packet = four(17, &UDP);
    check(1, ether(0x88a8, &behind(&[0, 1, 0x81, 0, 0, 2, 8, 0], &packet)), &[SEEN]);
    check(1, ether(0x8847, &behind(&[0, 1, 0, 64, 0, 2, 1, 64], &packet)), &[SEEN]);
    let wired = behind(&[0, 1, 1, 64, 0, 0, 0, 0], &ether(0x0800, &packet));
    check(1, ether(0x8847, &wired), &[SEEN]);
    check(1, ether(0x8864, &behind(&[0x11, 0, 0, 1, 0, 34, 0, 0x21], &packet)), &[SEEN]);
    let snap = behind(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &packet);
    check(1, ether(u16::try_from(snap.len()).unwrap(), &snap), &[SEEN]);
}

#[test]
fn what_an_error_quotes_is_reported_as_quoted_and_what_it_is_about() {
    let quoted = four(17, &UDP);
    let error = four(1, &behind(&[3, 3, 0, 0, 0, 0, 0, 0], &quoted));
    let expected = [
        "icmp 10.0.0.1>10.0.0.2",
        "about:3/3 10.0.0.2 Some((12345, 12346))",
        "udp:12345>12346:4 10.0.0.1>10.0.0.2 quoted",
    ];
    check(101, error, &expected);
    // A redirect quotes eight bytes, whatever follows.
    let redirect = four(1, &behind(&[5, 1, 0, 0, 10, 0, 0, 9], &four(6, &[0; 20])));
    check(
        101,
        redirect,
        &["icmp 10.0.0.1>10.0.0.2", "about:5/1 10.0.0.2 Some((0, 0))", "tcp:8 10.0.0.1>10.0.0.2 quoted"],
    );
}

#[test]
fn fragments_count_where_the_packet_becomes_complete() {
    let whole = four(17, &UDP);
    let part = |offset: [u8; 2], bytes: &[u8]| {
        let mut packet = four(17, bytes);
        packet[6..8].copy_from_slice(&offset);
        packet
    };
    let (first, second) = (part([0x20, 0], &whole[20..28]), part([0, 1], &whole[28..]));
    assert_eq!(walked(101, &[second.clone(), first.clone()]), [SEEN]);
    assert!(walked(101, &[second]).is_empty());
    // A fragment that was captured in part does not wait; of this one not even the UDP header is there.
    let mut notes = Notes::default();
    let cut = Frame { number: 1, time: 0, interface: 0, link: 101, wire: first.len(), data: &first[..26] };
    let mut walker = Walker::default();
    walker.walk(&cut, &mut notes);
    assert!(notes.0.is_empty() && walker.fragments_given_up() == (0, 0));
}

#[test]
fn nothing_nests_for_ever() {
    let mut packet = four(17, &UDP);
    for _ in 0..1000 {
        packet = four(4, &packet);
    }
    assert!(walked(101, &[packet]).is_empty());
    assert!(walked(1, &[ether(0x8100, &[0x81, 0, 0x81, 0].repeat(10_000))]).is_empty());
}
