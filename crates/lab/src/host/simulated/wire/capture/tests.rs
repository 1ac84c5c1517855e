//! What captures are like: read again by the crate that reads captures.

use std::time::Duration;

use super::pcap;
use crate::host::port::{CaptureFilter, CaptureOrder};
use crate::host::simulated::wire::tests::{DEST, SOURCE, service, traffic, world};
use crate::host::simulated::world::{Capture, World};
use crate::host::stage::{Behavior, DnsFault, Oddity, Protocol};
use ghost_base::Timestamp;

/// Captures on a machine for so many seconds.
fn capture(world: &mut World, machine: &str, seconds: u64) -> Vec<u8> {
    let since = world.now;
    let order = CaptureOrder { machine: machine.to_owned(), snaplen: 0, most: 0, filters: Vec::new() };
    world.now = since.plus(Duration::from_secs(seconds));
    let bytes = pcap(world, &Capture { order, since });
    world.now = since;
    bytes
}

/// The records: when, how long, the bytes.
fn records(file: &[u8]) -> Vec<(u64, usize, Vec<u8>)> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!(word(0), 0xa1b2_c3d4);
    let (mut at, mut all) = (24, Vec::new());
    while at < file.len() {
        let kept = word(at + 8) as usize;
        let time = u64::from(word(at)) * 1_000_000 + u64::from(word(at + 4));
        all.push((time, word(at + 12) as usize, file[at + 16..at + 16 + kept].to_vec()));
        at += 16 + kept;
    }
    all
}

/// The TCP flags of the records that go to or come from a port.
fn flags(file: &[u8], port: u16) -> Vec<u8> {
    let tcp = records(file).into_iter().filter(|(_, _, frame)| frame[12..14] == [8, 0] && frame[23] == 6);
    let ports = |frame: &[u8]| [frame[34..36].to_vec(), frame[36..38].to_vec()];
    tcp.filter(|(_, _, frame)| ports(frame).contains(&port.to_be_bytes().to_vec()))
        .map(|(_, _, frame)| frame[47])
        .collect()
}

#[test]
fn a_healthy_connection_begins_and_ends() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
    world.stage.flows.push(traffic(Protocol::Tcp, 8080, 10_000));
    let flags = flags(&capture(&mut world, "tf-source-vm", 12), 8080);
    assert_eq!(flags.first().copied(), Some(2));
    assert_eq!(flags.get(1).copied(), Some(18));
    assert_eq!(flags.iter().filter(|flags| **flags & 1 != 0).count(), 2);
    assert!(flags.iter().all(|flags| flags & 4 == 0));
}

#[test]
fn a_closed_port_answers_with_resets() {
    let mut world = world();
    world.stage.flows.push(traffic(Protocol::Tcp, 9999, 1_000));
    let flags = flags(&capture(&mut world, "tf-source-vm", 20), 9999);
    assert!(flags.len() >= 36, "{flags:?}");
    assert!(flags.chunks(2).all(|pair| pair == [2, 20]), "{flags:?}");
}

#[test]
fn a_full_queue_leaves_only_syns() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Silent));
    world.stage.flows.push(traffic(Protocol::Tcp, 8080, 30_000));
    let flags = flags(&capture(&mut world, "tf-source-vm", 31), 8080);
    assert!(flags.len() >= 4 && flags.iter().all(|flags| *flags == 2), "{flags:?}");
}

#[test]
fn both_ends_see_the_same_bytes() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 7070, Behavior::Answers));
    world.stage.flows.push(traffic(Protocol::Tcp, 7070, 500));
    let near = records(&capture(&mut world, "tf-source-vm", 10));
    let far = records(&capture(&mut world, "tf-dest-vm", 10));
    let sorted = |records: Vec<(u64, usize, Vec<u8>)>| {
        let mut frames: Vec<Vec<u8>> = records.into_iter().map(|(_, _, frame)| frame).collect();
        frames.sort();
        frames
    };
    assert!(near.len() > 100);
    assert_eq!(sorted(near), sorted(far));
}

#[test]
fn one_seed_gives_the_same_capture() {
    let make = || {
        let mut world = world();
        world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
        world.stage.flows.push(traffic(Protocol::Tcp, 8080, 100));
        capture(&mut world, "tf-source-vm", 5)
    };
    assert_eq!(make(), make());
}

#[test]
fn large_segments_meet_a_narrow_path_and_small_ones_do_not() {
    let mut world = world();
    world.guests.values_mut().for_each(|guest| guest.mtu = 9000);
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
    world
        .stage
        .flows
        .push(crate::host::stage::TrafficFlow { request: 20_000, ..traffic(Protocol::Tcp, 8080, 30_000) });
    world.stage.oddities.push(Oddity::PathMtu { mtu: 1500, heeded: false });
    let file = capture(&mut world, "tf-source-vm", 60);
    let output =
        records(&file).iter().filter(|(_, _, frame)| frame[23] == 1 && frame[34..36] == [3, 4]).count();
    assert!(output > 4, "{output}");
    let large = records(&file).iter().filter(|(_, length, _)| *length > 8_000).count();
    assert!(large > 4, "{large}");
    // The far end never sees them.
    let far = capture(&mut world, "tf-dest-vm", 60);
    assert!(records(&far).iter().all(|(_, length, _)| *length < 1_600));
}

#[test]
fn limits_and_filters_hold() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
    world.stage.flows.push(traffic(Protocol::Tcp, 8080, 100));
    world.stage.flows.push(traffic(Protocol::Icmp, 0, 100));
    let since = world.now;
    world.now = since.plus(Duration::from_secs(10));
    let filter = CaptureFilter {
        protocol: "TCP".to_owned(),
        remote_port: "8000-9000".to_owned(),
        ..CaptureFilter::default()
    };
    let order =
        CaptureOrder { machine: "tf-source-vm".to_owned(), snaplen: 60, most: 4_000, filters: vec![filter] };
    let file = pcap(&mut world, &Capture { order, since });
    assert!(file.len() <= 4_000 && file.len() > 3_800);
    let records = records(&file);
    assert!(records.iter().all(|(_, length, frame)| frame.len() == (*length).min(60) && frame[23] == 6));
}

#[test]
fn two_stations_claim_one_address() {
    let mut world = world();
    world.stage.oddities.push(Oddity::ArpConflict { address: DEST, mac: "00:0d:3a:99:99:99".to_owned() });
    let frames = records(&capture(&mut world, "tf-source-vm", 30));
    let mut stations: Vec<Vec<u8>> = frames.iter().map(|(_, _, frame)| frame[22..28].to_vec()).collect();
    stations.sort();
    stations.dedup();
    assert_eq!(stations.len(), 2);
}

#[test]
fn a_name_server_fails_as_it_is_asked_to() {
    for (fault, code) in
        [(DnsFault::Servfail, Some(2)), (DnsFault::Nxdomain, Some(3)), (DnsFault::Silent, None)]
    {
        let mut world = world();
        world.stage.services.push(crate::host::stage::Service {
            protocol: Protocol::Udp,
            ..service("tf-dest-vm", 53, Behavior::Answers)
        });
        world.stage.flows.push(traffic(Protocol::Udp, 53, 1_000));
        world.stage.oddities.push(Oddity::Dns { server: DEST, fault });
        let frames = records(&capture(&mut world, "tf-source-vm", 10));
        let answers: Vec<u8> = frames
            .iter()
            .filter(|(_, _, frame)| frame[23] == 17 && frame[34..36] == [0, 53])
            .map(|(_, _, frame)| frame[45] & 15)
            .collect();
        assert_eq!(answers.first().copied(), code);
    }
}

#[test]
fn well_known_ports_speak_their_protocol() {
    let mut world = world();
    for port in
        [22, 80, 443, 1433, 3306, 3389, 5001, 5432, 5672, 6379, 7070, 8443, 9092, 9999, 11_211, 27_017]
    {
        world.stage.services.push(service("tf-dest-vm", port, Behavior::Answers));
        for (request, answer) in [(180, 900), (20, 9), (0, 0), (1_500, 40_000), (7, 31)] {
            let traffic = traffic(Protocol::Tcp, port, 2_000);
            world.stage.flows.push(crate::host::stage::TrafficFlow { request, answer, ..traffic });
        }
    }
    let frames = records(&capture(&mut world, "tf-source-vm", 4));
    let said =
        |text: &[u8]| frames.iter().any(|(_, _, frame)| frame.windows(text.len()).any(|part| part == text));
    assert!(said(b"SSH-2.0-") && said(b"HTTP/1.1 200 OK") && said(b"ECHO") && said(b"user\0lab\0"));
}

#[test]
fn a_rough_path_shows_in_both_captures() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
    let traffic = traffic(Protocol::Tcp, 8080, 400);
    world.stage.flows.push(crate::host::stage::TrafficFlow { request: 30_000, answer: 60_000, ..traffic });
    let argv = "tc qdisc add dev eth0 root netem delay 10ms 2ms loss 10% corrupt 2% duplicate 1% reorder 5%";
    let argv: Vec<String> = argv.split(' ').map(str::to_owned).collect();
    let mut shell = crate::host::simulated::command::Shell::new(&mut world, "tf-source-vm");
    assert_eq!(crate::host::script::Calls::call(&mut shell, &argv, "").code, 0);
    let near = records(&capture(&mut world, "tf-source-vm", 30));
    let mut ends: Vec<&Vec<u8>> = near.iter().map(|(_, _, frame)| frame).collect();
    ends.sort();
    let all = ends.len();
    ends.dedup();
    // What went twice is there twice.
    assert!(all > 1_000 && ends.len() < all, "{all}");
    // A device loses packets before anybody captures them: numbers are missing, and come later.
    let far = records(&capture(&mut world, "tf-dest-vm", 30));
    assert!(far.len().abs_diff(near.len()) < 60, "{} {}", far.len(), near.len());
}

#[test]
fn hostile_stages_end() {
    let mut world = world();
    world.stage.services.push(service("tf-dest-vm", 8080, Behavior::Answers));
    for every_ms in [0, 1, u64::MAX] {
        world.stage.flows = vec![crate::host::stage::TrafficFlow {
            request: u32::MAX,
            answer: u32::MAX,
            think_ms: u64::MAX,
            ..traffic(Protocol::Tcp, 8080, every_ms)
        }];
        world.stage.flows.push(traffic(Protocol::Udp, 53, every_ms));
        capture(&mut world, "tf-source-vm", 1);
    }
    world.now = Timestamp::from_millis(i64::MAX);
    capture(&mut world, "nobody", 1);
    assert_eq!(SOURCE, std::net::IpAddr::from([10, 0, 1, 4]));
}
