//! The account of a capture: what its connections, errors and names show.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Suspect, once};
use crate::finding::Fault;

/// Fewer packets without an answer are an accident.
const FEW: u64 = 3;
/// So many names in a row that do not exist are no slip of a finger.
const MANY: u64 = 5;

/// What is read of the account of a capture. A part that an earlier version did not write is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Account {
    tcp: Tcp,
    icmp: Icmp,
    dns: Dns,
    arp: Arp,
    findings: Vec<Found>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tcp {
    vantage: Vantage,
    flows: Vec<Flow>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Vantage {
    one_direction: bool,
}

#[derive(Debug, Deserialize)]
struct Flow {
    a: SocketAddr,
    b: SocketAddr,
    state: String,
    packets: u64,
    #[serde(default)]
    retransmission_pct: f64,
    #[serde(default)]
    trouble: Vec<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Icmp {
    unreachable: Vec<Unreachable>,
    path_mtu: Vec<PathMtu>,
}

#[derive(Debug, Deserialize)]
struct Unreachable {
    #[serde(rename = "type")]
    kind: u8,
    code: u8,
    /// What it quotes: an address with a port, where the protocol has ports.
    about: String,
}

#[derive(Debug, Deserialize)]
struct PathMtu {
    source: IpAddr,
    destination: IpAddr,
    mtu: u32,
    ignored: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Dns {
    responses: u64,
    rcodes: BTreeMap<String, u64>,
    servers: Vec<NameServer>,
}

#[derive(Debug, Deserialize)]
struct NameServer {
    server: IpAddr,
    queries: u64,
    unanswered: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Arp {
    conflicts: Vec<Conflict>,
}

#[derive(Debug, Deserialize)]
struct Conflict {
    ip: IpAddr,
    macs: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Found {
    code: String,
}

impl Account {
    fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }
}

/// Returns what captures show: their semantic documents, the source's first where there are two.
///
/// # Errors
/// Says which document cannot be read.
pub fn wire(documents: &[&str]) -> Result<Vec<Suspect>, serde_json::Error> {
    let mut found = Vec::new();
    for text in documents {
        let account: Account = serde_json::from_str(text)?;
        found.extend(path_mtu(&account));
        found.extend(connections(&account));
        found.extend(names(&account));
        found.extend(stations(&account));
    }
    // Where one end sees that an answer was sent, the other end's silence is not the service's.
    let strayed: Vec<String> = found
        .iter()
        .filter(|one| one.fault() == Some(Fault::AsymmetricPath))
        .map(|one| one.object.clone())
        .collect();
    found.retain(|one| one.fault() != Some(Fault::SynUnanswered) || !strayed.contains(&one.object));
    Ok(once(found))
}

/// Who asks whom at which port.
type Service = (IpAddr, SocketAddr);

fn object((from, to): Service) -> String {
    format!("flow/{from}/{}/tcp/{}", to.ip(), to.port())
}

/// Connections that came to nothing, by service.
fn connections(account: &Account) -> Vec<Suspect> {
    let one_direction = account.tcp.vantage.one_direction;
    let mut refused: BTreeMap<Service, u64> = BTreeMap::new();
    let mut silent: BTreeMap<Service, u64> = BTreeMap::new();
    let mut strayed: BTreeMap<Service, u64> = BTreeMap::new();
    let mut answered: BTreeMap<Service, u64> = BTreeMap::new();
    for Flow { a, b, state, packets, .. } in &account.tcp.flows {
        let (table, number) = match state.as_str() {
            "refused" => (&mut refused, 1),
            "syn_sent" => (&mut silent, *packets),
            "half_open" => (&mut strayed, *packets),
            // Of answers alone the asker is the other end: the service has the smaller port.
            "one_way" if !one_direction => {
                let pair = if a.port() < b.port() { (b.ip(), *a) } else { (a.ip(), *b) };
                *strayed.entry(pair).or_default() += packets;
                continue;
            }
            "established" | "closing" | "closed" | "reset" => (&mut answered, 1),
            _ => continue,
        };
        *table.entry((a.ip(), *b)).or_default() += number;
    }
    let mut found = Vec::new();
    for (service, number) in &refused {
        let why = format!("{} refused {number} connections of {} with RST", service.1, service.0);
        found.push(Suspect::new(Fault::TcpRefused, object(*service), why));
    }
    for (service, number) in &silent {
        if *number >= FEW && !one_direction {
            let why = format!("{} answered none of {number} SYNs of {}", service.1, service.0);
            found.push(Suspect::new(Fault::SynUnanswered, object(*service), why));
        }
    }
    for (service, number) in &strayed {
        if *number >= FEW && !answered.contains_key(service) {
            let why = format!(
                "of {number} packets between {} and {} one direction is missing: the answers take another path",
                service.0, service.1
            );
            found.push(Suspect::new(Fault::AsymmetricPath, object(*service), why));
        }
    }
    found
}

/// Packets that are too large for their path, and go on being so.
fn path_mtu(account: &Account) -> Vec<Suspect> {
    let ignored: Vec<&PathMtu> = account.icmp.path_mtu.iter().filter(|path| path.ignored > 0).collect();
    let mut found = Vec::new();
    // Errors quote the packet: they name the service, and connections name who talks to it.
    for Unreachable { kind, code, about } in &account.icmp.unreachable {
        let (Ok(about), 3, 4) = (about.parse::<SocketAddr>(), kind, code) else { continue };
        for PathMtu { source: from, destination: to, mtu, .. } in
            ignored.iter().copied().filter(|path| path.destination == about.ip())
        {
            let (service, talks) = talk(account, *from, about);
            if talks {
                found.push(blackhole(
                    service,
                    &format!(
                        "a router takes {mtu} bytes at most from {from} to {to}, and larger packets went on"
                    ),
                ));
            }
        }
    }
    // No error came: large segments are sent again and again, and small ones pass.
    if found.is_empty() && (account.has("tcp_large_lost") || account.has("pmtu_blackhole")) {
        for flow in account.tcp.flows.iter().filter(|flow| stuck(flow, &ignored)) {
            found.push(blackhole(
                (flow.a.ip(), flow.b),
                "large segments were sent again and again, and small ones pass",
            ));
        }
    }
    found
}

fn blackhole(service: Service, why: &str) -> Suspect {
    Suspect::new(Fault::PmtuBlackhole, object(service), why)
}

/// Returns the service of a connection in which one end sends to another, and whether there is one.
fn talk(account: &Account, from: IpAddr, about: SocketAddr) -> (Service, bool) {
    let flows = || account.tcp.flows.iter().map(|flow| (flow.a, flow.b));
    if flows().any(|(a, b)| a.ip() == from && b == about) {
        return ((from, about), true);
    }
    // The one that answers sends what is too large.
    match flows().find(|(a, b)| b.ip() == from && *a == about) {
        Some((a, b)) => ((a.ip(), b), true),
        // The quoted port is the service's unless a connection shows otherwise.
        None => ((from, about), about.port() < 32_768),
    }
}

fn stuck(flow: &Flow, ignored: &[&PathMtu]) -> bool {
    let is_ignored = |from: SocketAddr, to: SocketAddr| {
        ignored.iter().any(|path| (path.source, path.destination) == (from.ip(), to.ip()))
    };
    let troubled = !flow.trouble.is_empty() && flow.retransmission_pct >= 10.0;
    troubled && (ignored.is_empty() || is_ignored(flow.a, flow.b) || is_ignored(flow.b, flow.a))
}

/// Name servers that fail.
fn names(account: &Account) -> Vec<Suspect> {
    let dns = &account.dns;
    let mut found = Vec::new();
    if account.has("dns_unanswered") {
        let mute = |server: &&NameServer| {
            server.unanswered >= FEW && server.unanswered.saturating_mul(2) >= server.queries
        };
        for NameServer { server: ip, queries, unanswered } in dns.servers.iter().filter(mute) {
            let why = format!("{ip} left {unanswered} of {queries} questions unanswered");
            found.push(Suspect::new(Fault::DnsFailure, format!("dns/{ip}"), why));
        }
    }
    let rcode = |name: &str| dns.rcodes.get(name).copied().unwrap_or_default();
    let (failed, missing) = (rcode("SERVFAIL") + rcode("REFUSED"), rcode("NXDOMAIN"));
    let all = dns.responses;
    let bad = (account.has("dns_failure") && failed > 0)
        || ((account.has("dns_nxdomain") || missing >= MANY) && missing * 10 >= all * 9);
    let answering: Vec<&NameServer> =
        dns.servers.iter().filter(|server| server.queries > server.unanswered).collect();
    if let (true, [NameServer { server: ip, .. }]) = (bad, answering.as_slice()) {
        let why = format!(
            "{} of {all} answers of {ip} say that it failed, or that no such name exists",
            failed + missing
        );
        found.push(Suspect::new(Fault::DnsFailure, format!("dns/{ip}"), why));
    }
    found
}

/// Stations that claim one address.
fn stations(account: &Account) -> Vec<Suspect> {
    if !(account.has("arp_conflict") || account.has("arp_takeover")) {
        return Vec::new();
    }
    let claimed =
        account.arp.conflicts.iter().filter(|one| one.macs.len() > 1).map(|Conflict { ip, macs }| {
            let why = format!("{} stations claim {ip}, and take it from each other", macs.len());
            Suspect::new(Fault::ArpConflict, format!("host/{ip}"), why)
        });
    claimed.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(account: &Value) -> Vec<String> {
        let all = wire(&[&account.to_string()]).unwrap();
        all.into_iter().map(|one| format!("{} {}", one.code, one.object)).collect()
    }

    fn flow(a: &str, b: &str, state: &str, packets: u64) -> Value {
        json!({"a": a, "b": b, "state": state, "packets": packets, "retransmission_pct": 0.0, "trouble": []})
    }

    #[test]
    fn a_name_server_that_knows_no_name_at_all_fails() {
        let account = |missing: u64, all: u64| {
            json!({"dns": {"responses": all, "rcodes": {"NXDOMAIN": missing, "NOERROR": all - missing},
                "servers": [{"server": "168.63.129.16", "queries": all, "unanswered": 0}]}})
        };
        assert_eq!(found(&account(16, 16)), ["dns_failure dns/168.63.129.16"]);
        assert!(found(&account(2, 2)).is_empty() && found(&account(16, 32)).is_empty());
    }

    #[test]
    fn connections_that_come_to_nothing_are_named_by_who_asks() {
        let account = json!({"tcp": {"flows": [
            flow("10.0.1.4:40001", "10.0.1.5:9999", "refused", 2),
            flow("10.0.1.4:40002", "10.0.1.5:9999", "refused", 2),
            flow("10.0.1.4:40003", "10.0.1.5:7000", "syn_sent", 4),
            flow("10.0.1.4:40004", "10.0.1.5:7001", "syn_sent", 1),
            flow("10.0.1.4:40005", "10.0.1.5:8080", "closed", 20),
        ]}});
        assert_eq!(
            found(&account),
            ["tcp_refused flow/10.0.1.4/10.0.1.5/tcp/9999", "syn_unanswered flow/10.0.1.4/10.0.1.5/tcp/7000"]
        );
    }

    #[test]
    fn an_answer_that_strays_is_no_silence() {
        let source =
            json!({"tcp": {"flows": [flow("10.0.1.4:40001", "10.0.1.5:80", "syn_sent", 4)]}}).to_string();
        let target =
            json!({"tcp": {"flows": [flow("10.0.1.4:40001", "10.0.1.5:80", "half_open", 8)]}}).to_string();
        let all = wire(&[&source, &target]).unwrap();
        let codes: Vec<&str> = all.iter().map(|one| one.code.as_str()).collect();
        assert_eq!(codes, ["asymmetric_path"]);
        assert_eq!(all[0].object, "flow/10.0.1.4/10.0.1.5/tcp/80");
    }

    #[test]
    fn a_path_that_nobody_heeds_is_a_black_hole() {
        let said = |ignored: u64| {
            json!({"tcp": {"flows": [flow("10.0.1.4:40001", "10.0.1.5:8080", "established", 90)]},
                "icmp": {"unreachable": [{"type": 3, "code": 4, "from": "10.0.1.1", "about": "10.0.1.5:8080", "count": 20}],
                    "path_mtu": [{"source": "10.0.1.4", "destination": "10.0.1.5", "from": "10.0.1.1", "mtu": 1500, "ignored": ignored}]}})
        };
        assert_eq!(found(&said(5)), ["pmtu_blackhole flow/10.0.1.4/10.0.1.5/tcp/8080"]);
        assert!(found(&said(0)).is_empty());
    }

    #[test]
    fn a_server_that_fails_and_an_address_with_two_owners_are_named() {
        let account = json!({"findings": [{"code": "dns_failure"}, {"code": "arp_conflict"}],
            "dns": {"responses": 10, "rcodes": {"SERVFAIL": 9, "NOERROR": 1}, "servers": [{"server": "10.0.1.9", "queries": 10, "unanswered": 0}]},
            "arp": {"conflicts": [{"ip": "10.0.1.5", "macs": ["02:00:00:00:00:05", "02:00:00:00:00:99"]}]}});
        assert_eq!(found(&account), ["dns_failure dns/10.0.1.9", "arp_conflict host/10.0.1.5"]);
        assert!(wire(&["nonsense"]).is_err());
    }
}
