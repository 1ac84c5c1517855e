//! Captures that tell of one trouble each: what it is called, and the frames.

use super::capture::Timed;
use super::packet::{
    ALL, Ask, CLIENT, ROUTER, SECOND, SERVER, arp, ask, datagram, error, error6, ether, ip, ip6, mac,
    neighbor, ping, six, syn,
};

/// The code of a finding, and a capture that has it.
pub(super) type Scenario = (&'static str, Vec<Timed>);

const MS: u64 = 1000;
const MISSING: Option<u16> = Some(0x8183);

fn asked(count: u64, apart: u64, what: impl Fn(u64) -> (String, Ask<'static>)) -> Vec<Timed> {
    let mut frames = Vec::new();
    for number in 0..count {
        let (name, question) = what(number);
        ask(&mut frames, number * apart, Ask { name: &name, ..question });
    }
    frames
}

/// Names.
pub(super) fn names() -> Vec<Scenario> {
    let plain = |number: u64| format!("host{number}.example.com");
    let made =
        ["xaji0y6d", "pbhsahxt", "hv3a3zmf", "8mdd4v30", "t9nt3w5u", "g0fn9xuy", "41ibljh7", "ujv6oh9s"];
    let long = |number: u64| format!("{number:02}bckcxaniweiigalcpbilqw.t.example.net");
    let of = |question: Ask<'static>| move |number: u64| (plain(number), question);
    let cut = Ask { answer: Some(0x8380), ..Ask::default() };
    let none = Ask { answer: MISSING, ..Ask::default() };
    vec![
        ("dns_slow", asked(20, SECOND, of(Ask { took: 400 * MS, ..Ask::default() }))),
        ("dns_failure", asked(20, SECOND, of(Ask { answer: Some(0x8182), ..Ask::default() }))),
        ("dns_unanswered", asked(20, SECOND, of(Ask { answer: None, ..Ask::default() }))),
        ("dns_truncated", asked(6, SECOND, of(cut))),
        ("dns_nxdomain", asked(20, 100 * MS, of(none))),
        (
            "dns_generated_names",
            asked(8, 9 * SECOND, |number| (format!("{}.com", made.get(number as usize).unwrap()), none)),
        ),
        (
            "dns_random_subdomains",
            asked(60, SECOND, |number| {
                let mark = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let client = [10, 3, 0, (number % 50) as u8];
                (format!("x7q{:08x}kzw.Victim.example", mark as u32), Ask { client, ..none })
            }),
        ),
        ("dns_tunnel", asked(12, SECOND, |number| (long(number), Ask { kind: 16, ..Ask::default() }))),
        (
            "dns_tunnel",
            asked(150, SECOND, |number| {
                let label: String =
                    (0..50).map(|at| char::from(b'a' + ((number * 7 + at) % 26) as u8)).collect();
                (format!("{label}{number:04}.example.net"), Ask::default())
            }),
        ),
        ("dns_any", asked(12, SECOND, of(Ask { kind: 255, ..Ask::default() }))),
        ("dns_reflection", {
            let all = asked(60, 10 * MS, of(Ask { size: 1200, ..Ask::default() }));
            all.into_iter().filter(|(_, frame)| frame.len() > 1000).collect()
        }),
    ]
}

/// Complaints, paths, pings.
pub(super) fn path() -> Vec<Scenario> {
    let ends = (CLIENT, SERVER);
    let (one, two) = (six(1), six(2));
    let large = ip(ends, 17, 64, (9, 0x4000), &datagram(4000, 4001, &[0; 1400]));
    let large6 = ip6((one, two), 17, 64, &datagram(4000, 4001, &[0; 1400]));
    let each = |apart: u64, frames: Vec<Vec<u8>>| -> Vec<Timed> {
        (0..6).flat_map(|at| frames.iter().map(move |frame| (at * apart, frame.clone()))).collect()
    };
    let filtered = syn(ends, 443, 64);
    let datagram6 = ip6((one, two), 17, 64, &datagram(4000, 4001, &[0; 9]));
    let lost = |answered: fn(u16) -> bool, took: fn(u16) -> u64| {
        let mut frames = Vec::new();
        for seq in 1..=30_u16 {
            let time = u64::from(seq) * SECOND;
            frames.push((time, ping(ends, 8, seq, 64)));
            if answered(seq) {
                frames.push((time + took(seq), ping((SERVER, CLIENT), 0, seq, 60)));
            }
        }
        frames
    };
    let mut redirect6 = vec![137, 0, 0, 0, 0, 0, 0, 0];
    redirect6.extend(six(9));
    redirect6.extend(two);
    vec![
        ("icmp_unreachable", {
            let error = error(ROUTER, (3, 13), [0; 4], &filtered);
            each(SECOND, vec![filtered.clone(), error])
        }),
        ("icmp_unreachable", {
            let error = error6(six(9), (1, 4), 0, &datagram6);
            each(SECOND, vec![datagram6.clone(), error])
        }),
        ("pmtu_blackhole", {
            let error = error(ROUTER, (3, 4), [0, 0, 5, 0], &large);
            each(SECOND, vec![large.clone(), error])
        }),
        ("pmtu_blackhole", {
            let error = error6(six(9), (2, 0), 1280, &large6);
            each(SECOND, vec![large6.clone(), error])
        }),
        ("path_mtu", vec![(0, large.clone()), (5, error(ROUTER, (3, 4), [0, 0, 5, 0], &large))]),
        ("routing_loop", {
            let error = error(ROUTER, (11, 0), [0; 4], &filtered);
            each(SECOND, vec![filtered.clone(), error])
        }),
        ("routing_loop", {
            let error = error6(six(9), (3, 0), 0, &datagram6);
            each(SECOND, vec![datagram6, error])
        }),
        ("forwarding_loop", (0..20).map(|pass| (u64::from(pass), ping(ends, 8, 1, 60 - 2 * pass))).collect()),
        ("icmp_redirect", vec![(0, error(ROUTER, (5, 1), [10, 0, 0, 253], &filtered))]),
        ("icmp_redirect", vec![(0, ip6((six(9), one), 58, 255, &redirect6))]),
        ("ping_loss", lost(|seq| seq % 3 > 0, |_| 5 * MS)),
        ("ping_latency", lost(|_| true, |seq| if seq % 5 == 0 { 300 * MS } else { 5 * MS })),
    ]
}

/// Links.
pub(super) fn link() -> Vec<Scenario> {
    let host = [10, 0, 0, 5];
    let (one, two, group) = (six(1), six(5), [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let paced = |apart: u64, frames: Vec<Vec<u8>>| -> Vec<Timed> {
        (0..).step_by(apart as usize).zip(frames).collect()
    };
    let claims = |from: u8| arp(2, mac(from), (host, CLIENT));
    let advertises = |from: u8| neighbor(136, 0x20, mac(from), two, (group, two));
    let wants = arp(1, mac(7), ([0; 4], host));
    vec![
        ("arp_conflict", paced(SECOND, [5, 6, 5, 6, 5].map(claims).to_vec())),
        ("arp_conflict", paced(SECOND, [5, 6, 5, 6, 5].map(advertises).to_vec())),
        ("arp_takeover", paced(SECOND, vec![arp(1, mac(1), (CLIENT, host)), claims(5), claims(6)])),
        ("arp_moved", paced(60 * SECOND, vec![claims(5), claims(6)])),
        ("arp_unanswered", paced(SECOND, vec![arp(1, mac(1), (CLIENT, host)); 8])),
        ("arp_unanswered", paced(SECOND, vec![neighbor(135, 0, mac(1), one, (group, two)); 8])),
        ("address_taken", paced(SECOND / 10, vec![wants, claims(5)])),
        (
            "address_taken",
            paced(SECOND / 10, vec![neighbor(135, 0, mac(7), [0; 16], (group, two)), advertises(5)]),
        ),
        ("arp_announcements", paced(SECOND / 10, vec![arp(1, mac(5), (host, host)); 40])),
        ("arp_unasked", paced(20 * SECOND, vec![claims(5); 12])),
        ("broadcast_storm", paced(MS, vec![arp(1, mac(1), (CLIENT, CLIENT)); 900])),
        ("broadcast_storm", {
            let frame = |from: u8| ether([2, 0, 0, 0, 1, from], ALL, 0x88b5, &[0; 46]);
            paced(MS, (0..900_u16).map(|number| frame((number % 200) as u8)).collect())
        }),
        ("multicast_storm", paced(100, vec![ether(mac(1), [1, 0, 0x5e, 1, 1, 1], 0x88b5, &[0; 46]); 9900])),
        ("fragments_lost", {
            let first =
                |mark: u16| ip((CLIENT, SERVER), 17, 64, (mark, 0x2000), &datagram(4000, 4001, &[0; 64]));
            paced(SECOND, (1..9).map(first).collect())
        }),
        ("fragments_lost", {
            let chunk = |mark: u8| {
                let header = [17, 0, 0, 1, 0, 0, 0, mark];
                ip6((one, two), 44, 64, &[&header[..], &datagram(4000, 4001, &[0; 64])].concat())
            };
            paced(SECOND, (1..9).map(chunk).collect())
        }),
        ("fragments_overlap", {
            let chunk = |chunks: u16| ip((CLIENT, SERVER), 17, 64, (7, chunks), &[chunks as u8; 64]);
            paced(SECOND, vec![chunk(0x2000), chunk(0x2004)])
        }),
    ]
}
