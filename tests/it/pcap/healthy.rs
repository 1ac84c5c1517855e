//! Traffic as it should be, and programs that only look like trouble: nothing above info is found.

use super::capture::{End, Segment, Timed, tcp};
use super::evidence::{account, codes};
use super::packet::{
    Ask, CLIENT, ROUTER, SECOND, SERVER, arp, ask, datagram, error, ether, ip, mac, ping, syn,
};

const MS: u64 = 1000;
const MISSING: Option<u16> = Some(0x8183);

#[track_caller]
fn healthy(all: &[Timed]) {
    let account = account(all);
    let serious: Vec<_> = codes(&account).into_iter().filter(|(_, severity)| *severity != "info").collect();
    assert!(serious.is_empty(), "{}", account.get("findings").unwrap());
}

fn asked<'a>(names: impl IntoIterator<Item = (&'a str, u16, Option<u16>)>) -> Vec<Timed> {
    let mut frames = Vec::new();
    for (number, (name, kind, answer)) in (0..).zip(names) {
        ask(&mut frames, number * 30 * MS, Ask { name, kind, answer, ..Ask::default() });
    }
    frames
}

#[test]
fn a_search_list_that_ends_well_is_no_burst() {
    let mut all = Vec::new();
    let typed = ["api.github.com", "db", "redis-master.cache", "storage.googleapis.com", "kafka-0.kafka"];
    for round in 0..12 {
        for (number, host) in (0..).zip(typed) {
            let lists =
                ["default.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example.com"];
            for (step, suffix) in (0..).zip(lists) {
                let time = round * SECOND + number * 100 * MS + step * 5 * MS;
                let name = format!("{host}.{suffix}");
                for kind in [1, 28] {
                    ask(
                        &mut all,
                        time,
                        Ask { name: &name, kind, answer: MISSING, took: MS, ..Ask::default() },
                    );
                }
            }
            let time = round * SECOND + number * 100 * MS + 30 * MS;
            let name = if host.contains(".com") { host.to_owned() } else { format!("{host}.example.net") };
            ask(&mut all, time, Ask { name: &name, ..Ask::default() });
        }
    }
    all.sort_by_key(|(time, _)| *time);
    healthy(&all);
    let account = account(&all);
    assert!(account.pointer("/dns/search_list").unwrap().as_u64().unwrap() > 400);
}

#[test]
fn names_of_clouds_and_services_are_not_suspicious() {
    let hashed: Vec<String> = (0..60_u64)
        .flat_map(|number| {
            let mark = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let host = format!("{}.{}", number % 250, number % 7);
            [
                format!("d{:013x}.cloudfront.net", mark >> 12),
                format!("ip-10-0-{}-{}.eu-west-1.compute.internal", number % 7, number),
                format!(
                    "internal-k8s-prod-ingress-{:08x}-1234567890.us-east-1.elb.amazonaws.com",
                    mark as u32
                ),
                format!("rr{number}---sn-{:06x}.googlevideo.com", mark as u32 >> 8),
                format!("e{}.dscb.akamaiedge.net", mark as u16),
                format!("{:08x}.blob.core.windows.net", mark as u32),
                format!("{host}.0.10.in-addr.arpa"),
                format!("{host}.168.192.zen.spamhaus.org"),
            ]
        })
        .collect();
    let texts: Vec<String> = (0..40)
        .flat_map(|number| {
            [
                format!("_acme-challenge.site{number}.example.org"),
                format!("selector{number}._domainkey.example.org"),
                format!("_dmarc.site{number}.example.com"),
                format!("{number}.0.168.192.bl.example.net"),
            ]
        })
        .collect();
    let services: Vec<String> = (0..40)
        .flat_map(|number| {
            [
                format!("_ldap._tcp.site-{number}._sites.dc._msdcs.corp.example.com"),
                format!("_kerberos._tcp.branch{number}.corp.example.com"),
                format!("_sip._tls.branch{number}.example.com"),
            ]
        })
        .collect();
    let found = hashed.iter().map(|name| (name.as_str(), 1, Some(0x8180)));
    let text = texts.iter().map(|name| (name.as_str(), 16, Some(0x8180)));
    let service = services.iter().map(|name| (name.as_str(), 33, Some(0x8180)));
    let all = asked(found.chain(text).chain(service));
    healthy(&all);
    assert_eq!(account(&all).pointer("/dns/suspicious").unwrap(), &serde_json::json!([]));
}

#[test]
fn some_names_that_do_not_exist_are_everyday_life() {
    // A mail server searches lists of bad senders, a browser checks three times whether answers are forged.
    let mut all = Vec::new();
    for number in 0..60_u64 {
        let name = format!("{}.2.0.192.zen.spamhaus.org", number);
        let answer = if number % 12 == 0 { Some(0x8180) } else { MISSING };
        ask(&mut all, number * 2 * SECOND, Ask { name: &name, answer, ..Ask::default() });
    }
    for name in ["kqzjxwvbp", "zxqvjkwpl", "vbxkqjzwt"] {
        let time = 130 * SECOND;
        ask(&mut all, time, Ask { name, answer: MISSING, ..Ask::default() });
    }
    healthy(&all);
}

#[test]
fn a_trace_of_the_path_is_no_trouble() {
    // As mtr does it: pings with more and more hops, round after round, and one router that stays silent.
    let (mut all, mut seq) = (Vec::new(), 0_u16);
    for round in 0..40_u64 {
        for hops in 1..=5_u8 {
            seq += 1;
            let time = round * SECOND + u64::from(hops) * 100 * MS;
            let request = ping((CLIENT, SERVER), 8, seq, hops);
            let back = match hops {
                3 => None,
                5 => Some(ping((SERVER, CLIENT), 0, seq, 60)),
                _ => Some(error([10, 0, hops, 254], (11, 0), [0; 4], &request)),
            };
            all.push((time, request));
            all.extend(back.map(|frame| (time + 4 * MS, frame)));
        }
    }
    healthy(&all);
    let account = account(&all);
    assert_eq!(account.pointer("/icmp/traces/0/wanted").unwrap(), true);
    // As traceroute does it: datagrams to one port after the other, past a single router.
    let mut all = Vec::new();
    for probe in 0..60_u16 {
        let time = u64::from(probe) * SECOND;
        let hops = if probe % 6 < 3 { 1 } else { 2 };
        let body = datagram(42_315, 33_434 + probe, &[0; 12]);
        let request = ip((CLIENT, SERVER), 17, hops, (probe, 0), &body);
        let back = match hops {
            1 => error(ROUTER, (11, 0), [0; 4], &request),
            _ => error(SERVER, (3, 3), [0; 4], &request),
        };
        all.extend([(time, request), (time + MS, back)]);
    }
    healthy(&all);
}

#[test]
fn a_source_that_finds_the_size_of_its_path_is_no_trouble() {
    let packet =
        |mark, size| ip((CLIENT, SERVER), 17, 64, (mark, 0x4000), &datagram(4000, 4001, &vec![0; size]));
    let mut all: Vec<Timed> = (0..8).map(|mark| (u64::from(mark), packet(mark, 1400))).collect();
    let errors: Vec<Timed> = all
        .iter()
        .map(|(time, frame)| (time + 20 * MS, error(ROUTER, (3, 4), [0, 0, 5, 0], frame)))
        .collect();
    all.extend(errors);
    all.extend((0..40).map(|mark| (SECOND + u64::from(mark) * MS, packet(100 + mark, 1200))));
    healthy(&all);
}

#[test]
fn routers_that_share_an_address_and_take_turns_are_no_trouble() {
    let (gateway, routers) = ([10, 0, 0, 254], [[0, 0, 0x5e, 0, 1, 5], [0, 7, 0xb4, 0, 1, 2]]);
    let mut all: Vec<Timed> = Vec::new();
    for round in 0..30_u64 {
        let time = round * SECOND;
        all.push((time, arp(1, mac(1), (CLIENT, gateway))));
        let router = routers[usize::from(round % 2 == 0)];
        all.push((time + MS, arp(2, router, (gateway, CLIENT))));
    }
    healthy(&all);
}

#[test]
fn a_switch_shows_questions_alone_and_that_is_no_trouble() {
    // Every answer is unicast and not seen here; each host asks again when it has forgotten it.
    let mut all: Vec<Timed> = Vec::new();
    for round in 0..30_u64 {
        for host in 1..20_u8 {
            let asks = arp(1, mac(host), ([10, 0, 0, host], [10, 0, 0, 254]));
            all.push((round * 40 * SECOND + u64::from(host) * 200 * MS, asks));
        }
    }
    healthy(&all);
}

#[test]
fn the_same_address_in_two_lans_is_no_trouble() {
    let tagged = |lan: u8, from: u8| {
        let plain = arp(2, mac(from), (SERVER, CLIENT));
        let (addresses, rest) = plain.split_at(12);
        [addresses, &[0x81, 0, 0, lan], rest].concat()
    };
    let all: Vec<Timed> = (0..20_u64)
        .map(|at| (at * SECOND, if at % 2 == 0 { tagged(10, 5) } else { tagged(20, 6) }))
        .collect();
    healthy(&all);
}

#[test]
fn a_mirror_that_shows_everything_twice_is_no_trouble() {
    let mut all: Vec<Timed> = Vec::new();
    for seq in 1..40_u16 {
        let time = u64::from(seq) * SECOND;
        all.push((time, ping((CLIENT, SERVER), 8, seq, 64)));
        all.push((time + 5 * MS, ping((SERVER, CLIENT), 0, seq, 60)));
        let chunks = [(0x2000, 64), (8, 20)];
        for (chunk, size) in chunks {
            all.push((time + 9 * MS, ip((CLIENT, SERVER), 17, 64, (seq, chunk), &vec![0; size])));
        }
    }
    let twice: Vec<Timed> =
        all.iter().flat_map(|(time, frame)| [(*time, frame.clone()), (time + 20, frame.clone())]).collect();
    healthy(&twice);
}

#[test]
fn films_for_a_group_and_hosts_that_start_are_no_trouble() {
    let film = ether(mac(9), [1, 0, 0x5e, 1, 1, 1], 0x88b5, &[0; 1316]);
    let mut all: Vec<Timed> = (0..1500).map(|at| (at * MS, film.clone())).collect();
    for host in 1..50_u8 {
        let address = [10, 0, 0, host];
        let start = 2 * SECOND + u64::from(host) * 20 * MS;
        all.extend((0..3).map(|at| (start + at * SECOND, arp(1, mac(host), ([0; 4], address)))));
        all.extend((3..5).map(|at| (start + at * SECOND, arp(1, mac(host), (address, address)))));
    }
    all.sort_by_key(|(time, _)| *time);
    healthy(&all);
}

#[test]
fn a_ping_and_a_connection_just_before_the_end_are_no_trouble() {
    let mut all: Vec<Timed> = Vec::new();
    for seq in 1..20_u16 {
        let time = u64::from(seq) * 100 * MS;
        all.push((time, ping((CLIENT, SERVER), 8, seq, 64)));
        // The path takes 900 ms.
        if seq < 11 {
            all.push((time + 900 * MS, ping((SERVER, CLIENT), 0, seq, 60)));
        }
    }
    all.push((1_950_000, syn((CLIENT, SERVER), 443, 64)));
    all.sort_by_key(|(time, _)| *time);
    healthy(&all);
}

#[test]
fn a_capture_of_one_direction_blames_nobody_for_not_answering() {
    let mut all: Vec<Timed> = Vec::new();
    for number in 0..40_u16 {
        let time = u64::from(number) * 200 * MS;
        let (from, to) = (End { host: 1, port: 40_000 + number % 5 }, End { host: 9, port: 443 });
        let seq = u32::from(number / 5) * 100 + 1;
        let data = Segment { seq, ack: 1, flags: 16, win: 500, len: 100, ..Segment::default() };
        all.push((time, tcp(false, from, to, &data)));
        all.push((time + MS, ping((CLIENT, SERVER), 8, number, 64)));
        ask(&mut all, time + 2 * MS, Ask { answer: None, ..Ask::default() });
    }
    healthy(&all);
}
