//! The account of a capture: what its connections, errors and names show.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

use super::{Suspect, once};

/// Fewer packets without an answer are an accident.
const FEW: u64 = 3;
/// So many names in a row that do not exist are no slip of a finger.
const MANY: u64 = 5;

/// Returns what captures show: their semantic documents, the source's first where there are two.
///
/// # Errors
/// Says which document cannot be read.
pub fn wire(documents: &[&str]) -> Result<Vec<Suspect>, String> {
    let mut found = Vec::new();
    for text in documents {
        let account: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        found.extend(path_mtu(&account));
        found.extend(connections(&account));
        found.extend(names(&account));
        found.extend(stations(&account));
    }
    // Where one end sees that an answer was sent, the other end's silence is not the service's.
    let strayed: Vec<String> =
        found.iter().filter(|one| one.code == "asymmetric_path").map(|one| one.object.clone()).collect();
    found.retain(|one| one.code != "syn_unanswered" || !strayed.contains(&one.object));
    Ok(once(found))
}

fn list<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

fn has(account: &Value, code: &str) -> bool {
    list(account, "/findings").any(|finding| finding.get("code").and_then(Value::as_str) == Some(code))
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn count(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}

fn ends(flow: &Value) -> Option<(SocketAddr, SocketAddr)> {
    Some((word(flow, "a").parse().ok()?, word(flow, "b").parse().ok()?))
}

/// Who asks whom at which port.
type Service = (IpAddr, SocketAddr);

fn object((from, to): Service) -> String {
    format!("flow/{from}/{}/tcp/{}", to.ip(), to.port())
}

/// Connections that came to nothing, by service.
fn connections(account: &Value) -> Vec<Suspect> {
    let one_direction = account.pointer("/tcp/vantage/one_direction").and_then(Value::as_bool) == Some(true);
    let mut refused: BTreeMap<Service, u64> = BTreeMap::new();
    let mut silent: BTreeMap<Service, u64> = BTreeMap::new();
    let mut strayed: BTreeMap<Service, u64> = BTreeMap::new();
    let mut answered: BTreeMap<Service, u64> = BTreeMap::new();
    for flow in list(account, "/tcp/flows") {
        let Some((a, b)) = ends(flow) else { continue };
        let packets = flow.get("packets").and_then(Value::as_u64).unwrap_or(1);
        let (table, number) = match word(flow, "state") {
            "refused" => (&mut refused, 1),
            "syn_sent" => (&mut silent, packets),
            "half_open" => (&mut strayed, packets),
            // Of answers alone the asker is the other end: the service has the smaller port.
            "one_way" if !one_direction => {
                let pair = if a.port() < b.port() { (b.ip(), a) } else { (a.ip(), b) };
                *strayed.entry(pair).or_default() += packets;
                continue;
            }
            "established" | "closing" | "closed" | "reset" => (&mut answered, 1),
            _ => continue,
        };
        *table.entry((a.ip(), b)).or_default() += number;
    }
    let mut found = Vec::new();
    for (service, number) in &refused {
        let why = format!("{} refused {number} connections of {} with RST", service.1, service.0);
        found.push(Suspect::new("tcp_refused", object(*service), why));
    }
    for (service, number) in &silent {
        if *number >= FEW && !one_direction {
            let why = format!("{} answered none of {number} SYNs of {}", service.1, service.0);
            found.push(Suspect::new("syn_unanswered", object(*service), why));
        }
    }
    for (service, number) in &strayed {
        if *number >= FEW && !answered.contains_key(service) {
            let why = format!(
                "of {number} packets between {} and {} one direction is missing: the answers take another path",
                service.0, service.1
            );
            found.push(Suspect::new("asymmetric_path", object(*service), why));
        }
    }
    found
}

/// Packets that are too large for their path, and go on being so.
fn path_mtu(account: &Value) -> Vec<Suspect> {
    let address = |value: &Value, name: &str| word(value, name).parse::<IpAddr>().ok();
    let ignored: Vec<(IpAddr, IpAddr, u64)> = list(account, "/icmp/path_mtu")
        .filter(|flow| count(flow, "/ignored") > 0)
        .filter_map(|flow| {
            Some((address(flow, "source")?, address(flow, "destination")?, count(flow, "/mtu")))
        })
        .collect();
    let mut found = Vec::new();
    // Errors quote the packet: they name the service, and connections name who talks to it.
    for said in list(account, "/icmp/unreachable") {
        let about: Option<SocketAddr> = word(said, "about").parse().ok();
        let (Some(about), 3, 4) = (about, count(said, "/type"), count(said, "/code")) else { continue };
        for (from, to, mtu) in ignored.iter().filter(|(_, to, _)| *to == about.ip()) {
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
    if found.is_empty() && (has(account, "tcp_large_lost") || has(account, "pmtu_blackhole")) {
        for flow in list(account, "/tcp/flows").filter(|flow| stuck(flow, &ignored)) {
            if let Some((a, b)) = ends(flow) {
                found.push(blackhole(
                    (a.ip(), b),
                    "large segments were sent again and again, and small ones pass",
                ));
            }
        }
    }
    found
}

fn blackhole(service: Service, why: &str) -> Suspect {
    Suspect::new("pmtu_blackhole", object(service), why)
}

/// Returns the service of a connection in which one end sends to another, and whether there is one.
fn talk(account: &Value, from: IpAddr, about: SocketAddr) -> (Service, bool) {
    let flows = || list(account, "/tcp/flows").filter_map(ends);
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

fn stuck(flow: &Value, ignored: &[(IpAddr, IpAddr, u64)]) -> bool {
    let again = flow.get("retransmission_pct").and_then(Value::as_f64).unwrap_or_default();
    let Some((a, b)) = ends(flow) else { return false };
    let is_ignored = |from: SocketAddr, to: SocketAddr| {
        ignored.iter().any(|(own, other, _)| (*own, *other) == (from.ip(), to.ip()))
    };
    let troubled = list(flow, "/trouble").next().is_some() && again >= 10.0;
    if ignored.is_empty() { troubled } else { troubled && (is_ignored(a, b) || is_ignored(b, a)) }
}

/// Name servers that fail.
fn names(account: &Value) -> Vec<Suspect> {
    let servers: Vec<&Value> = list(account, "/dns/servers").collect();
    let address = |server: &&Value| word(server, "server").parse::<IpAddr>().ok();
    let mut found = Vec::new();
    if has(account, "dns_unanswered") {
        let mute = |server: &&&Value| {
            let (asked, unanswered) = (count(server, "/queries"), count(server, "/unanswered"));
            unanswered >= FEW && unanswered * 2 >= asked
        };
        for server in servers.iter().filter(mute) {
            if let Some(ip) = address(server) {
                let why = format!(
                    "{ip} left {} of {} questions unanswered",
                    count(server, "/unanswered"),
                    count(server, "/queries")
                );
                found.push(Suspect::new("dns_failure", format!("dns/{ip}"), why));
            }
        }
    }
    let rcode = |name: &str| count(account, &format!("/dns/rcodes/{name}"));
    let (failed, missing) = (rcode("SERVFAIL") + rcode("REFUSED"), rcode("NXDOMAIN"));
    let all = count(account, "/dns/responses");
    let bad = (has(account, "dns_failure") && failed > 0)
        || ((has(account, "dns_nxdomain") || missing >= MANY) && missing * 10 >= all * 9);
    let answering: Vec<IpAddr> = servers
        .iter()
        .filter(|server| count(server, "/queries") > count(server, "/unanswered"))
        .filter_map(address)
        .collect();
    if let (true, [ip]) = (bad, answering.as_slice()) {
        let why = format!(
            "{} of {all} answers of {ip} say that it failed, or that no such name exists",
            failed + missing
        );
        found.push(Suspect::new("dns_failure", format!("dns/{ip}"), why));
    }
    found
}

/// Stations that claim one address.
fn stations(account: &Value) -> Vec<Suspect> {
    if !(has(account, "arp_conflict") || has(account, "arp_takeover")) {
        return Vec::new();
    }
    let claimed = list(account, "/arp/conflicts").filter_map(|one| {
        let ip: IpAddr = word(one, "ip").parse().ok()?;
        let stations = list(one, "/macs").count();
        let why = format!("{stations} stations claim {ip}, and take it from each other");
        (stations > 1).then(|| Suspect::new("arp_conflict", format!("host/{ip}"), why))
    });
    claimed.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
