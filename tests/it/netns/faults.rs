//! The faults of cases, as the tool that a person would use sees them: there, and gone after a reset.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ghost_lab::host::{
    Behavior, CaptureFilter, CaptureOrder, ConnectOutcome, Host as _, HostError, Protocol, ScriptTransport,
    Service, Stage,
};

use super::place::{
    DEST, DEST_ADDRESS, Place, SOURCE, fabric, gates, held, machine, route, routes, rule, script, skipped,
};

/// Shapes what leaves a machine, but for SSH, as the use cases do.
fn shaped(what: &str) -> String {
    format!(
        "tc qdisc add dev eth0 root handle 1: prio bands 3\n\
         tc qdisc add dev eth0 parent 1:3 handle 30: {what}\n\
         tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip sport 22 0xffff flowid 1:1\n\
         tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip dport 22 0xffff flowid 1:1\n\
         tc filter add dev eth0 protocol ip parent 1:0 prio 2 u32 match u32 0 0 flowid 1:3"
    )
}

fn service(machine: &str, protocol: Protocol, port: u16, program: &str) -> Service {
    let (machine, program) = (machine.to_owned(), program.to_owned());
    Service {
        machine,
        protocol,
        port,
        program,
        behavior: Behavior::Answers,
        address: None,
        pages: BTreeMap::new(),
    }
}

fn listening(ports: &[(u16, &str)]) -> Stage {
    let services = ports.iter().map(|(port, program)| service(DEST, Protocol::Tcp, *port, program)).collect();
    Stage { services, ..Stage::default() }
}

fn dest() -> IpAddr {
    DEST_ADDRESS.parse().unwrap()
}

impl Place {
    async fn tcp(&self, from: &str, port: u16) -> &'static str {
        match self.host.dial(from, dest(), Protocol::Tcp, port).await.unwrap() {
            ConnectOutcome::Open(_) => "open",
            ConnectOutcome::Refused => "refused",
            ConnectOutcome::Silent => "silent",
        }
    }

    async fn pings(&self, to: &str) -> bool {
        let ran = self.run(SOURCE, &format!("ping -n -c 2 -i 0.2 -W 1 {to}")).await;
        ran.code == 0 && ran.out.contains("2 received")
    }

    /// What `iperf` measures, in Gbit a second.
    async fn throughput(&self) -> f64 {
        let reported = self.ask(SOURCE, "iperf -c 10.0.1.5 -t 2 -f m").await;
        let last = reported.lines().rev().find(|line| line.contains("Mbits/sec")).unwrap();
        let words: Vec<&str> = last.split_whitespace().collect();
        words[words.len() - 2].parse::<f64>().unwrap() / 1_000.0
    }
}

#[tokio::test]
async fn k_a_thief_of_bandwidth_and_no_ping_are_two_faults() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    place.host.stage(listening(&[(5001, "iperf")])).await.unwrap();
    assert!(place.pings(DEST_ADDRESS).await);
    place.host.keep().await.unwrap();
    place.ask(SOURCE, &shaped("tbf rate 5mbit burst 20kb latency 400ms")).await;
    place.ask(DEST, "iptables -I INPUT 1 -p icmp -j DROP").await;
    let slow = place.throughput().await;
    assert!((0.002..0.02).contains(&slow), "{slow} Gbit/s");
    assert!(!place.pings(DEST_ADDRESS).await);
    let reported = place.ask(SOURCE, "tc -s qdisc show dev eth0").await;
    assert!(reported.contains("tbf 30: parent 1:3 rate 5Mbit burst 20Kb lat 400ms"), "{reported}");
    place.host.restore().await.unwrap();
    assert!(place.pings(DEST_ADDRESS).await);
    let fast = place.throughput().await;
    assert!(fast > 10.0 * slow, "{fast} Gbit/s");
    assert!(!place.ask(SOURCE, "tc qdisc show dev eth0").await.contains("tbf"));
    place.host.close().await;
}

#[tokio::test]
async fn m_a_banned_guest_is_refused_and_others_are_not() {
    if skipped() {
        return;
    }
    let mut estate = fabric();
    let near = route("Default", "203.0.113.0/24", "VnetLocal", None);
    let mut partner = machine("partner", 47);
    partner.nics[0].addresses = vec![([203, 0, 113, 47].into(), 24)];
    partner.nics[0].rules = gates(None, None);
    estate.machines.push(partner);
    for machine in &mut estate.machines {
        machine.nics[0].routes = routes(vec![near.clone()]);
    }
    let ssh = rule("securityRules/ssh", 300, "Inbound", "Allow", "Tcp", "0.0.0.0/0", "0.0.0.0/0", "22-22");
    estate.machines[1].nics[0].rules = gates(None, Some(vec![ssh]));
    let place = Place::new(estate).await;
    place.host.stage(listening(&[(22, "sshd")])).await.unwrap();
    assert_eq!(place.tcp("partner", 22).await, "open");
    place.host.keep().await.unwrap();
    let ban = "iptables -N f2b-sshd\n\
        iptables -A f2b-sshd -s 203.0.113.47/32 -j REJECT --reject-with icmp-port-unreachable\n\
        iptables -A f2b-sshd -j RETURN\n\
        iptables -I INPUT 1 -p tcp --dport 22 -j f2b-sshd";
    place.ask(DEST, ban).await;
    assert_eq!(place.tcp("partner", 22).await, "refused");
    assert_eq!(place.tcp(SOURCE, 22).await, "open");
    assert!(place.ask(DEST, "iptables -S f2b-sshd").await.contains("203.0.113.47/32"));
    place.host.restore().await.unwrap();
    assert_eq!(place.tcp("partner", 22).await, "open");
    assert!(!place.ask(DEST, "iptables-save").await.contains("f2b"));
    place.host.close().await;
}

#[tokio::test]
async fn n_a_hardened_machine_answers_ssh_and_its_agent_alone() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    place.host.stage(listening(&[(22, "sshd"), (8080, "python3")])).await.unwrap();
    place.host.keep().await.unwrap();
    let hardening = "iptables -A INPUT -s 168.63.129.16/32 -j ACCEPT\n\
        iptables -A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n\
        iptables -A INPUT -p tcp --dport 22 -j ACCEPT\n\
        iptables -P INPUT DROP";
    let ran = place.host.run(DEST, &script(hardening, ScriptTransport::Agent)).await.unwrap();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!((place.tcp(SOURCE, 22).await, place.tcp(SOURCE, 8080).await), ("open", "silent"));
    assert!(place.ask(DEST, "iptables -S INPUT").await.starts_with("-P INPUT DROP"));
    place.host.restore().await.unwrap();
    assert_eq!(place.tcp(SOURCE, 8080).await, "open");
    assert!(place.ask(DEST, "iptables -S INPUT").await.starts_with("-P INPUT ACCEPT"));
    // Without the first rule, its agent does not answer again.
    let cut = "iptables -A OUTPUT -p tcp -d 168.63.129.16 --dport 80 -j DROP";
    let cut = place.host.run(DEST, &script(cut, ScriptTransport::Agent)).await;
    assert_eq!(cut, Err(HostError::Silent(DEST.to_owned())));
    place.host.close().await;
}

#[tokio::test]
async fn o_chains_of_docker_stop_what_a_machine_forwards() {
    if skipped() {
        return;
    }
    let mut estate = fabric();
    estate.machines.push(machine("behind", 6));
    estate.machines[0].nics[0].routes =
        routes(vec![route("User", "10.0.1.6/32", "VirtualAppliance", Some(DEST_ADDRESS))]);
    estate.machines[1].nics[0].forwards = true;
    let place = Place::new(estate).await;
    assert!(place.pings("10.0.1.6").await);
    place.host.keep().await.unwrap();
    let docker = "iptables -N DOCKER\niptables -N DOCKER-USER\n\
        iptables -N DOCKER-ISOLATION-STAGE-1\niptables -N DOCKER-ISOLATION-STAGE-2\n\
        iptables -A FORWARD -j DOCKER-USER\niptables -A FORWARD -j DOCKER-ISOLATION-STAGE-1\n\
        iptables -A DOCKER-ISOLATION-STAGE-1 -j DOCKER-ISOLATION-STAGE-2\n\
        iptables -A DOCKER-ISOLATION-STAGE-2 -j DROP\n\
        iptables -t nat -A POSTROUTING -s 172.17.0.0/16 -j MASQUERADE";
    place.ask(DEST, docker).await;
    assert!(!place.pings("10.0.1.6").await);
    assert!(place.pings(DEST_ADDRESS).await);
    let reported = place.ask(DEST, "iptables -L DOCKER-ISOLATION-STAGE-2 -nvx").await;
    let counted = reported.lines().find(|line| line.contains("DROP")).unwrap();
    assert!(!counted.trim_start().starts_with("0 "), "{reported}");
    place.host.restore().await.unwrap();
    assert!(place.pings("10.0.1.6").await);
    assert!(!place.ask(DEST, "iptables-save").await.contains("DOCKER"));
    place.host.close().await;
}

#[tokio::test]
async fn u_a_gate_of_the_subnet_is_shut_and_j_a_firewall_hides() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    place.host.stage(listening(&[(5432, "postgres"), (5001, "iperf")])).await.unwrap();
    assert_eq!((place.tcp(SOURCE, 5432).await, place.tcp(SOURCE, 5001).await), ("open", "open"));
    let mut shut = fabric();
    let deny = rule(
        "securityRules/ghost-demo-block-pgsql",
        200,
        "Inbound",
        "Deny",
        "Tcp",
        "10.0.1.0/24",
        "0.0.0.0/0",
        "5432-5432",
    );
    shut.machines[1].nics[0].rules = gates(Some(vec![deny]), Some(Vec::new()));
    place.host.fabric(shut).await.unwrap();
    assert_eq!((place.tcp(SOURCE, 5432).await, place.tcp(SOURCE, 5001).await), ("silent", "open"));
    // Nothing of it is to be seen in the machine.
    assert!(!place.ask(DEST, "iptables-save").await.contains("5432"));
    place.host.fabric(fabric()).await.unwrap();
    assert_eq!(place.tcp(SOURCE, 5432).await, "open");
    place.host.keep().await.unwrap();
    place.ask(DEST, "iptables -I INPUT 1 -p tcp --dport 5001 -j DROP").await;
    assert_eq!((place.tcp(SOURCE, 5432).await, place.tcp(SOURCE, 5001).await), ("open", "silent"));
    place.host.restore().await.unwrap();
    assert_eq!(place.tcp(SOURCE, 5001).await, "open");
    place.host.close().await;
}

#[tokio::test]
async fn what_the_kernel_has_not_is_reported_and_not_played() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    let ran = place.run(SOURCE, "tc qdisc add dev eth0 root netem loss 20%").await;
    let reported = place.host.lacks().iter().any(|lack| lack.contains("no netem"));
    assert_eq!(ran.code != 0, reported, "{ran:?}");
    place.host.close().await;
}

#[tokio::test]
async fn routes_of_users_lead_astray_and_whoever_is_away_is_silent() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    assert!(place.pings(DEST_ADDRESS).await);
    for (hop, address) in
        [("None", None), ("VirtualAppliance", Some("10.0.1.100")), ("VirtualAppliance", Some("10.0.1.5"))]
    {
        let mut estate = fabric();
        estate.machines[0].nics[0].routes = routes(vec![route("User", "10.0.1.5/32", hop, address)]);
        place.host.fabric(estate).await.unwrap();
        let reported = place.run(SOURCE, "ping -n -c 1 -W 1 10.0.1.5").await;
        assert!(
            reported.code != 0 && !reported.out.contains("nreachable"),
            "{hop} {address:?}: {reported:?}"
        );
    }
    place.host.fabric(fabric()).await.unwrap();
    assert!(place.pings(DEST_ADDRESS).await && place.pings("198.51.100.7").await);
    let mut off = fabric();
    off.machines[1].running = false;
    place.host.fabric(off).await.unwrap();
    assert!(!place.pings(DEST_ADDRESS).await);
    let ran = place.host.run(DEST, &script("hostname", ScriptTransport::Ssh)).await;
    assert_eq!(ran, Err(HostError::Off(DEST.to_owned())));
    let ran = place.host.run("nobody", &script("hostname", ScriptTransport::Ssh)).await;
    assert_eq!(ran, Err(HostError::Unknown("nobody".to_owned())));
    place.host.close().await;
    let closed = place.host.run(SOURCE, &script("hostname", ScriptTransport::Ssh)).await;
    assert!(matches!(closed, Err(HostError::Failed { .. })), "{closed:?}");
}

#[tokio::test]
async fn a_capture_shows_what_is_asked_again_and_never_answered() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    place.host.stage(listening(&[(22, "sshd")])).await.unwrap();
    place.ask(DEST, "iptables -I INPUT 1 -p tcp --dport 5001 -j DROP").await;
    let filters = vec![CaptureFilter {
        protocol: "TCP".to_owned(),
        remote_port: "5001".to_owned(),
        ..CaptureFilter::default()
    }];
    let order = CaptureOrder { machine: SOURCE.to_owned(), snaplen: 0, most: 0, filters };
    place.host.capture("one", order.clone()).await.unwrap();
    place.host.capture("one", order).await.unwrap_err();
    assert_eq!((place.tcp(SOURCE, 5001).await, place.tcp(SOURCE, 22).await), ("silent", "open"));
    let file = place.host.captured("one").await.unwrap();
    place.host.captured("one").await.unwrap_err();
    let flags = tcp_flags(&file);
    assert!(flags.len() >= 2 && flags.iter().all(|flags| *flags & 0x12 == 2), "{flags:?}");
    place.host.close().await;
}

/// The flags of all TCP packets of a capture.
fn tcp_flags(file: &[u8]) -> Vec<u8> {
    let (mut at, mut flags) = (24, Vec::new());
    while at + 16 <= file.len() {
        let length = usize::try_from(u32::from_ne_bytes(file[at + 8..at + 12].try_into().unwrap())).unwrap();
        flags.push(file[at + 16 + 14 + 20 + 13]);
        at += 16 + length;
    }
    flags
}

#[tokio::test]
async fn jumbo_frames_meet_a_path_that_says_so() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    for machine in [SOURCE, DEST] {
        place.ask(machine, "ip link set dev eth0 mtu 9000").await;
    }
    let reported = place.run(SOURCE, "ping -n -c 1 -W 1 -M do -s 4000 10.0.1.5").await;
    assert!(reported.out.contains("Frag needed") && reported.out.contains("mtu = 1500"), "{reported:?}");
    assert!(place.pings(DEST_ADDRESS).await);
    place.host.close().await;
}

#[tokio::test]
async fn listeners_have_the_names_that_the_stage_gives_them() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    let mut stage = listening(&[(5432, "postgres"), (19_765, "qperf")]);
    stage
        .services
        .push(Service { behavior: Behavior::Silent, ..service(DEST, Protocol::Tcp, 6379, "redis-server") });
    stage.services.push(service(DEST, Protocol::Udp, 53, "named"));
    place.host.stage(stage).await.unwrap();
    let reported = place.ask(DEST, "ss -ltnp").await;
    assert!(reported.contains("((\"postgres\"") && reported.contains("((\"qperf\""), "{reported}");
    let reported = place.ask(SOURCE, "qperf -t 1 10.0.1.5 tcp_lat").await;
    assert!(reported.contains("latency"), "{reported}");
    let name = place.host.dial(SOURCE, dest(), Protocol::Udp, 53).await.unwrap();
    assert!(matches!(name, ConnectOutcome::Open(_)), "{name:?}");
    assert_eq!((place.tcp(SOURCE, 6379).await, place.tcp(SOURCE, 7).await), ("silent", "refused"));
    place.host.close().await;
}

#[tokio::test]
async fn every_machine_lets_its_people_in_on_port_22_until_it_is_gone() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    assert_eq!(place.tcp(SOURCE, 22).await, "open");
    assert!(place.ask(DEST, "ss -ltnp").await.contains("((\"sshd\""));
    // The machine is made anew, again and again: whoever listened before is gone by then.
    for _ in 0..3 {
        let mut off = fabric();
        off.machines[1].running = false;
        place.host.fabric(off).await.unwrap();
        assert_eq!(place.tcp(SOURCE, 22).await, "silent");
        place.host.fabric(fabric()).await.unwrap();
        assert_eq!(place.tcp(SOURCE, 22).await, "open");
        place.host.stage(listening(&[(22, "dropbear")])).await.unwrap();
        assert!(place.ask(DEST, "ss -ltnp").await.contains("((\"dropbear\""));
        place.ask(DEST, "iptables -I INPUT 1 -p tcp --dport 22 -j DROP").await;
        assert_eq!(place.tcp(SOURCE, 22).await, "silent");
        place.host.restore().await.unwrap();
        assert_eq!(place.tcp(SOURCE, 22).await, "open");
        assert!(place.ask(DEST, "ss -ltnp").await.contains("((\"sshd\""));
    }
    place.host.close().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_lab_that_was_closed() {
    if skipped() {
        return;
    }
    let place = Place::new(fabric()).await;
    let names: Vec<String> = held();
    place.ask(DEST, "iperf -s -D -p 5002").await;
    place.host.close().await;
    let folder = std::fs::read_dir(place.folder.path()).unwrap().count();
    assert_eq!(folder, 0);
    let left = held();
    // Other tests of this process hold some of their own.
    assert!(names.iter().any(|name| !left.contains(name)), "{names:?} {left:?}");
}
