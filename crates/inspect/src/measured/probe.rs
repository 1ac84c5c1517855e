//! What came of trying to reach a destination: echoes, packets of several sizes, a connection.

use std::net::IpAddr;

use serde::Serialize;

use super::weigh::Measured;

/// How a destination took a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "said")]
pub enum Handshake {
    /// It was taken.
    Open,
    /// Somebody refused it.
    Refused,
    /// Nothing came back.
    Silent,
    /// Somebody said that it leads nowhere.
    Unreachable,
    /// Something else was said.
    Other(String),
}

/// A destination, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The destination as it was named.
    pub host: String,
    /// The port, where one was named.
    pub port: Option<u16>,
    /// The address; none where the name led nowhere.
    pub address: Option<IpAddr>,
    /// What `ip route get` said.
    pub route: Option<String>,
    /// Echoes that were sent, and those that came back.
    pub echoes: Option<(u32, u32)>,
    /// How long they took: least, mean, most, deviation.
    pub round_trip: Option<String>,
    /// What somebody on the path said in their place.
    pub notices: Vec<String>,
    /// The largest packet that passed unfragmented, of those that were tried.
    pub passes: Option<u32>,
    /// Sizes that did not pass.
    pub lost: Vec<u32>,
    /// How it took the connection, where a port was named.
    pub tcp: Option<Handshake>,
}

impl Probe {
    /// Tells whether it was reached, by a connection where a port was named, else by an echo; nothing where neither could be tried.
    #[must_use]
    pub fn is_reached(&self) -> Option<bool> {
        match &self.tcp {
            Some(Handshake::Other(_)) => None,
            Some(handshake) => Some(*handshake == Handshake::Open),
            None if self.address.is_none() => Some(false),
            None => self.echoes.map(|(_, received)| received > 0),
        }
    }

    /// Returns what a connection showed; nothing where none was tried, or nobody can say what came of it. It says nothing of UDP.
    #[must_use]
    pub const fn connection(&self) -> Option<Measured> {
        match &self.tcp {
            Some(Handshake::Open) => Some(Measured::Reached),
            Some(Handshake::Refused | Handshake::Silent | Handshake::Unreachable) => {
                Some(Measured::NotReached)
            }
            Some(Handshake::Other(_)) | None => None,
        }
    }

    /// Returns what echoes showed. They say nothing of a port.
    #[must_use]
    pub const fn echo(&self) -> Option<Measured> {
        match self.echoes {
            Some((_, 0)) => Some(Measured::NotReached),
            Some((_, _)) => Some(Measured::Reached),
            None => None,
        }
    }

    /// True if the address that was tried is this one.
    #[must_use]
    pub fn is_to(&self, address: IpAddr) -> bool {
        self.address.or_else(|| self.host.parse().ok()) == Some(address)
    }
}

/// Reads what the script printed: `to HOST PORT`, then lines that begin with what they are about.
#[must_use]
pub fn read(text: &str) -> Vec<Probe> {
    let mut found: Vec<Probe> = Vec::new();
    for line in text.lines() {
        let (about, said) = line.split_once(' ').unwrap_or((line, ""));
        if about == "to" {
            let (host, port) = said.rsplit_once(' ').unwrap_or((said, "0"));
            let port = port.parse().ok().filter(|port| *port != 0);
            found.push(Probe { host: host.to_owned(), port, ..nothing() });
            continue;
        }
        let Some(last) = found.last_mut() else { continue };
        match about {
            "address" => last.address = said.parse().ok(),
            "route" => last.route = Some(short(said)),
            "ping" => match said.strip_prefix("rtt ") {
                Some(_) => last.round_trip = said.split_once("= ").map(|(_, times)| times.to_owned()),
                None => last.echoes = echoes(said),
            },
            "notice" => last.notices.push(short(said)),
            "passes" => last.passes = said.parse().ok(),
            "lost" => last.lost.extend(said.parse::<u32>()),
            "tcp" => last.tcp = Some(handshake(said)),
            _ => {}
        }
    }
    found
}

/// Cuts a line to a readable length.
fn short(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect()
}

const fn nothing() -> Probe {
    Probe {
        host: String::new(),
        port: None,
        address: None,
        route: None,
        echoes: None,
        round_trip: None,
        notices: Vec::new(),
        passes: None,
        lost: Vec::new(),
        tcp: None,
    }
}

/// Reads `3 packets transmitted, 2 received, …`.
fn echoes(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split(", ").map(|part| part.split_whitespace().next().unwrap_or_default().parse());
    match (numbers.next(), numbers.next()) {
        (Some(Ok(sent)), Some(Ok(received))) => Some((sent, received)),
        _ => None,
    }
}

/// Reads what `nc` said, or `curl`.
fn handshake(said: &str) -> Handshake {
    let lower = said.to_ascii_lowercase();
    let time = lower
        .split_once("connected after ")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
    if lower.contains("succeeded") || lower.contains(" open") || time.is_some_and(|time| time > 0.0) {
        Handshake::Open
    } else if lower.contains("refused") {
        Handshake::Refused
    } else if lower.contains("timed out") || lower.contains("timeout") {
        Handshake::Silent
    } else if lower.contains("no route") || lower.contains("unreachable") || lower.contains("prohibited") {
        Handshake::Unreachable
    } else {
        Handshake::Other(short(said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ping_and_nc_said_is_understood() {
        let text = "to 10.0.0.1 443\naddress 10.0.0.1\nroute 10.0.0.1 dev eth0 src 10.0.0.2 uid 0 \n\
            ping 3 packets transmitted, 2 received, 33% packet loss, time 400ms\nping rtt min/avg/max/mdev = 0.1/0.2/0.3/0.0 ms\n\
            lost 1500\npasses 1420\ntcp nc: connect to 10.0.0.1 port 443 (tcp) failed: Connection refused\n\
            to db.lab 0\naddress none\n";
        let found = read(text);
        assert_eq!(
            (found[0].echoes, found[0].passes, found[0].lost.as_slice()),
            (Some((3, 2)), Some(1420), &[1500][..])
        );
        assert_eq!(found[0].round_trip.as_deref(), Some("0.1/0.2/0.3/0.0 ms"));
        assert_eq!(found[0].tcp, Some(Handshake::Refused));
        assert_eq!((found[1].host.as_str(), found[1].port, found[1].address), ("db.lab", None, None));
        assert_eq!((found[0].is_reached(), found[1].is_reached()), (Some(false), Some(false)));
    }

    #[track_caller]
    fn check(said: &str, expected: &Handshake) {
        assert_eq!(handshake(said), *expected, "{said}");
    }

    #[test]
    fn a_connection_has_one_end_whatever_tried_it() {
        check("Connection to 10.0.0.1 22 port [tcp/ssh] succeeded!", &Handshake::Open);
        check(
            "nc: connect to 10.0.0.1 port 81 (tcp) timed out: Operation now in progress",
            &Handshake::Silent,
        );
        check("nc: connect to 10.0.0.1 port 81 (tcp) failed: No route to host", &Handshake::Unreachable);
        check(
            "curl: (7) Failed to connect to a port 1: Connection refused connected after 0.000000 s",
            &Handshake::Refused,
        );
        check("connected after 0.000213 s", &Handshake::Open);
    }
}
