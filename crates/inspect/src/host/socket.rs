//! Who listens, and what TCP knows of connections: the lines of `ss`.

use std::net::{IpAddr, Ipv4Addr};

/// A socket that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// tcp or udp.
    pub protocol: &'static str,
    /// The address, none for all of both families.
    pub address: Option<IpAddr>,
    /// The device that it is bound to.
    pub device: Option<String>,
    /// The port.
    pub port: u16,
    /// Connections that wait to be taken.
    pub waiting: u64,
    /// How many may wait.
    pub backlog: u64,
    /// The program, where that may be seen.
    pub program: Option<String>,
    /// The line.
    pub line: String,
}

impl Listener {
    /// Tells whether packets to an address reach it.
    #[must_use]
    pub fn hears(&self, ip: IpAddr) -> bool {
        match self.address {
            None => true,
            Some(own) if own.is_unspecified() => own.is_ipv6() || ip.is_ipv4(),
            Some(own) => own == ip || (own == IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        }
    }

    /// Tells whether only its own machine reaches it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.address.is_some_and(|own| own.is_loopback())
    }
}

/// A connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// ESTAB, SYN-RECV, SYN-SENT, TIME-WAIT …
    pub state: String,
    /// Bytes that the program did not read yet.
    pub unread: u64,
    /// Bytes that the peer did not confirm yet.
    pub unsent: u64,
    /// This machine's end.
    pub local: (IpAddr, u16),
    /// The other end.
    pub peer: (IpAddr, u16),
    /// What TCP knows: words such as `rwnd_limited:852ms(83.5%)`.
    pub details: String,
}

impl Connection {
    /// Returns the value of a word such as `retrans:`.
    #[must_use]
    pub fn detail(&self, name: &str) -> Option<&str> {
        self.details.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'))
    }
}

/// Reads `ADDRESS%DEVICE:PORT`, with brackets or without; `*` is every address.
fn end(text: &str) -> Option<(Option<IpAddr>, Option<String>, Option<u16>)> {
    let (address, port) = text.rsplit_once(':')?;
    let (address, device) = match address.split_once('%') {
        Some((address, device)) => (address, Some(device.trim_end_matches(']').to_owned())),
        None => (address, None),
    };
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let port = if port == "*" { None } else { Some(port.parse().ok()?) };
    if address == "*" {
        return Some((None, device, port));
    }
    let address: IpAddr = address.parse().ok()?;
    Some((Some(address.to_canonical()), device, port))
}

/// Reads `ss -Hltunp`.
pub(super) fn listeners(text: &str) -> (Vec<Listener>, Vec<String>) {
    let (mut found, mut odd) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match listener(line) {
            Some(listener) => found.push(listener),
            None => odd.push(short(line)),
        }
    }
    (found, odd)
}

fn listener(line: &str) -> Option<Listener> {
    let mut words = line.split_whitespace();
    let protocol = match words.next()? {
        "tcp" => "tcp",
        "udp" => "udp",
        _ => return None,
    };
    let (_, waiting, backlog, local) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let (address, device, port) = end(local)?;
    let program = line.split_once("users:((\"").and_then(|(_, rest)| rest.split('"').next());
    Some(Listener {
        protocol,
        address,
        device,
        port: port?,
        waiting: waiting.parse().ok()?,
        backlog: backlog.parse().ok()?,
        program: program.map(str::to_owned),
        line: short(line),
    })
}

/// Reads `ss -Htinoem`: a line a connection, and what TCP knows behind it or on the next line.
pub(super) fn connections(text: &str) -> (Vec<Connection>, Vec<String>) {
    let (mut found, mut odd): (Vec<Connection>, Vec<String>) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with([' ', '\t']) {
            if let Some(last) = found.last_mut() {
                last.details.push(' ');
                last.details.push_str(line.trim());
            }
            continue;
        }
        match connection(line) {
            Some(connection) => found.push(connection),
            None => odd.push(short(line)),
        }
    }
    (found, odd)
}

fn connection(line: &str) -> Option<Connection> {
    let mut words = line.split_whitespace();
    let (state, unread, unsent) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (local, peer) = (end(words.next()?)?, end(words.next()?)?);
    Some(Connection {
        state: state.to_owned(),
        unread,
        unsent,
        local: (local.0?, local.2?),
        peer: (peer.0?, peer.2?),
        details: words.collect::<Vec<_>>().join(" "),
    })
}

/// A UDP socket that lost datagrams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UdpSocket {
    /// Its port.
    pub port: u16,
    /// Datagrams that nobody read in time.
    pub drops: u64,
}

/// Reads `/proc/net/udp`.
pub(super) fn udp(text: &str) -> Vec<UdpSocket> {
    let read = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let port = words.get(1)?.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok())?;
        Some(UdpSocket { port, drops: words.last()?.parse().ok()? })
    };
    text.lines().filter_map(read).collect()
}

/// Cuts a line to a readable length.
pub(super) fn short(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_sockets_are_read_in_every_form() {
        let text = "tcp   LISTEN 2 1 0.0.0.0:8080 0.0.0.0:* users:((\"nginx\",pid=9,fd=3))\n\
            udp UNCONN 0 0 127.0.0.53%lo:53 0.0.0.0:*\ntcp LISTEN 0 128 [::]:22 [::]:*\ntcp LISTEN 0 5 *:80 *:*\nodd\n";
        let (found, odd) = listeners(text);
        assert_eq!(odd, ["odd"]);
        let ip: IpAddr = "10.0.0.1".parse().unwrap();
        let facts: Vec<_> =
            found.iter().map(|one| (one.protocol, one.port, one.hears(ip), one.is_local())).collect();
        assert_eq!(
            facts,
            [
                ("tcp", 8080, true, false),
                ("udp", 53, false, true),
                ("tcp", 22, true, false),
                ("tcp", 80, true, false)
            ]
        );
        assert_eq!(found[0].program.as_deref(), Some("nginx"));
        assert_eq!((found[0].waiting, found[0].backlog), (2, 1));
    }

    #[test]
    fn what_tcp_knows_belongs_to_the_line_before() {
        let text = "ESTAB 0 10 10.0.0.1:22 [::ffff:10.0.0.2]:4000 timer:(on)\n\t cubic rtt:1 rwnd_limited:852ms(83.5%)\n";
        let (found, odd) = connections(text);
        assert!(odd.is_empty());
        assert_eq!(found[0].detail("rwnd_limited"), Some("852ms(83.5%)"));
        assert_eq!(found[0].peer, ("10.0.0.2".parse().unwrap(), 4000));
    }
}
