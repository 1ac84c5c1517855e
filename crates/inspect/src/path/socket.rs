//! Who listens: what `ss -tlnp` and `ss -ulnp` print.

use std::net::{IpAddr, Ipv4Addr};

use super::estate::Connection;
use super::flow::Protocol;

/// A listening socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listener {
    /// The protocol.
    pub(super) protocol: Protocol,
    /// Where it listens.
    pub(super) address: Bound,
    /// The port.
    pub(super) port: u16,
    /// The program, where it is reported.
    pub(super) program: Option<String>,
    /// The device to which it is bound.
    pub(super) device: Option<String>,
}

/// Where a socket listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// At every address of both families.
    Any,
    /// At every address of IPv4.
    AnyV4,
    /// At every address of IPv6 alone.
    AnyV6,
    /// At one address.
    At(IpAddr),
}

impl Bound {
    /// Tells whether what comes for an address comes here.
    #[must_use]
    pub(super) fn takes(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::AnyV4 => address.is_ipv4(),
            Self::AnyV6 => address.is_ipv6(),
            Self::At(own) => own == address,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => out.write_str("*"),
            Self::AnyV4 => out.write_str("0.0.0.0"),
            Self::AnyV6 => out.write_str("[::]"),
            Self::At(address) => write!(out, "{address}"),
        }
    }
}

/// Reads what `ss` prints for one protocol. A table of both has a column that tells them apart.
///
/// # Errors
/// Fails where the text is no table of sockets: an empty one would mean that nobody listens.
pub(super) fn read(text: &str, protocol: Protocol) -> Result<Vec<Listener>, String> {
    let mut recognized = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            // The line of headings, of `ss` and of `netstat`.
            ["State" | "Netid" | "Proto", ..] => recognized = true,
            ["Active", "Internet", ..] => recognized = true,
            _ => {
                let Some(line) = socket(&words, protocol) else {
                    return Err(format!("line {} is no socket", number + 1));
                };
                recognized = true;
                found.extend(line);
            }
        }
    }
    if recognized { Ok(found) } else { Err("it is no table of sockets".to_owned()) }
}

/// Reads one line; nothing inside where it is about another protocol or no listener.
fn socket(words: &[&str], wanted: Protocol) -> Option<Option<Listener>> {
    let first = words.first()?.to_ascii_lowercase();
    let named = match first.trim_end_matches('6') {
        "tcp" => Some(Protocol::Tcp),
        "udp" | "udplite" => Some(Protocol::Udp),
        _ => None,
    };
    if named.is_none()
        && !matches!(first.as_str(), "listen" | "unconn" | "estab" | "u_str" | "nl" | "raw" | "p_raw")
    {
        return None;
    }
    // Whatever says that it is no listener of the protocol is none.
    let listens =
        words.iter().any(|word| matches!(*word, "LISTEN" | "UNCONN")) || first == "udp" || first == "udp6";
    let (word, (address, port)) = words.iter().find_map(|word| Some((word, local(word)?)))?;
    let device = word.rsplit_once(':').and_then(|(address, _)| address.split_once('%'));
    let device = device.map(|(_, device)| device.trim_end_matches(']').to_owned());
    if named.is_some_and(|named| named != wanted) || !listens {
        return Some(None);
    }
    let program = words.iter().find_map(|word| {
        let quoted = word.split_once("((\"").map(|(_, rest)| rest);
        let of_ss = quoted.and_then(|rest| rest.split('"').next());
        of_ss.or_else(|| {
            word.split_once('/').filter(|(pid, _)| pid.parse::<u32>().is_ok()).map(|(_, name)| name)
        })
    });
    let program = program.map(str::to_owned);
    Some(Some(Listener { protocol: wanted, address, port, program, device }))
}

/// Reads the local end: the first word of the line that has an address and a port.
fn local(word: &str) -> Option<(Bound, u16)> {
    let (address, port) = word.rsplit_once(':')?;
    let port = port.parse().ok()?;
    let bare = address.split('%').next().unwrap_or(address);
    let bound = match bare {
        "*" => Bound::Any,
        "0.0.0.0" => Bound::AnyV4,
        "[::]" => Bound::AnyV6,
        // Older programs print so what takes both.
        "::" | "" => Bound::Any,
        _ => {
            let inner = bare.trim_start_matches('[').trim_end_matches(']');
            let address: IpAddr = inner.parse().ok()?;
            match address.to_canonical() {
                IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Bound::AnyV4,
                own @ (IpAddr::V4(_) | IpAddr::V6(_)) => Bound::At(own),
            }
        }
    };
    Some((bound, port))
}

/// Reads counted states and peers, one pair a line: `3 ESTAB 10.0.1.5:8080`. Lines of another form are passed over: a connection that is
/// not known says nothing.
pub(super) fn connections(text: &str) -> Vec<Connection> {
    let connection = |line: &str| {
        let mut words = line.split_whitespace();
        words.next()?.parse::<u32>().ok()?;
        let (state, peer) = (words.next()?, words.next()?);
        match local(peer)? {
            (Bound::At(address), port) => Some(Connection { peer: address, port, state: state.to_owned() }),
            (Bound::Any | Bound::AnyV4 | Bound::AnyV6, _) => None,
        }
    };
    text.lines().filter_map(connection).collect()
}

/// What is known about who listens at an address and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Listens<'a> {
    /// Somebody does.
    Here(&'a Listener),
    /// Somebody listens on the port, at other addresses alone.
    Elsewhere(Vec<&'a Listener>),
    /// Nobody does.
    Nobody,
}

/// Finds who listens.
///
/// `through` are the devices by which it is reached; empty if they are not known, and then a socket of any device may take it.
pub(super) fn listens<'a>(
    listeners: &'a [Listener],
    address: IpAddr,
    port: u16,
    through: &[&str],
) -> Listens<'a> {
    let at_device = |listener: &Listener| {
        listener.device.as_deref().is_none_or(|own| through.is_empty() || through.contains(&own))
    };
    let on_port: Vec<&Listener> = listeners.iter().filter(|listener| listener.port == port).collect();
    if let Some(here) = on_port.iter().find(|listener| listener.address.takes(address) && at_device(listener))
    {
        return Listens::Here(here);
    }
    if on_port.is_empty() { Listens::Nobody } else { Listens::Elsewhere(on_port) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SS: &str = "\
State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
LISTEN 0      128          0.0.0.0:22         0.0.0.0:*     users:((\"sshd\",pid=812,fd=3))
LISTEN 0      128        127.0.0.1:5432       0.0.0.0:*
LISTEN 0      511                *:80               *:*     users:((\"nginx\",pid=1,fd=6))
LISTEN 0      511             [::]:8443          [::]:*
LISTEN 0      4096   127.0.0.53%lo:53         0.0.0.0:*
LISTEN 0      4096      0.0.0.0%tun0:9000     0.0.0.0:*
LISTEN 0      4096      0.0.0.0%eth0:9001     0.0.0.0:*
";

    fn at(address: &str, port: u16) -> String {
        let all = read(SS, Protocol::Tcp).unwrap();
        match listens(&all, address.parse().unwrap(), port, &["eth0"]) {
            Listens::Here(one) => one.program.clone().unwrap_or_else(|| "here".to_owned()),
            Listens::Elsewhere(all) => format!("at {}", all[0].address),
            Listens::Nobody => "nobody".to_owned(),
        }
    }

    #[test]
    fn who_listens_is_reported_by_address_and_port() {
        assert_eq!(at("10.0.0.4", 22), "sshd");
        assert_eq!(at("10.0.0.4", 5432), "at 127.0.0.1");
        assert_eq!(at("127.0.0.1", 5432), "here");
        assert_eq!(at("fd00::4", 80), "nginx");
        assert_eq!(at("10.0.0.4", 8443), "at [::]");
        assert_eq!(at("fd00::4", 8443), "here");
        assert_eq!(at("10.0.0.4", 23), "nobody");
        assert_eq!(at("10.0.0.4", 9000), "at 0.0.0.0");
        assert_eq!(at("10.0.0.4", 9001), "here");
    }

    #[test]
    fn connections_are_states_with_peers() {
        let found = connections(
            "      3 SYN-SENT 10.0.1.5:8080\n      1 ESTAB [fd00::5]:443\nodd\n 2 TIME-WAIT *:*\n",
        );
        let found: Vec<String> =
            found.iter().map(|one| format!("{} {} {}", one.state, one.peer, one.port)).collect();
        assert_eq!(found, ["SYN-SENT 10.0.1.5 8080", "ESTAB fd00::5 443"]);
    }

    #[test]
    fn a_table_of_both_protocols_is_distinguished() {
        let both = "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n\
            udp   UNCONN 0 0 0.0.0.0:53 0.0.0.0:*\ntcp   LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n";
        let ports = |protocol| read(both, protocol).unwrap().iter().map(|one| one.port).collect::<Vec<_>>();
        assert_eq!((ports(Protocol::Tcp), ports(Protocol::Udp)), (vec![22], vec![53]));
        let netstat = "tcp        0      0 0.0.0.0:22      0.0.0.0:*     LISTEN      812/sshd\n";
        assert_eq!(read(netstat, Protocol::Tcp).unwrap()[0].program.as_deref(), Some("sshd"));
    }

    #[test]
    fn spaces_before_the_port_do_not_hide_it() {
        let padded = "State  Recv-Q Send-Q      Local Address:Port   Peer Address:Port \n\
            LISTEN 0      128               0.0.0.0:22          0.0.0.0:*    \n";
        assert_eq!(read(padded, Protocol::Tcp).unwrap()[0].port, 22);
    }

    #[test]
    fn what_is_no_table_of_sockets_says_nothing_about_listeners() {
        for text in ["", "ss: command not found", "LISTEN what", "LISTEN 0 128 10.0.0.1:99999 0.0.0.0:*"] {
            assert!(read(text, Protocol::Tcp).is_err(), "{text}");
        }
        assert_eq!(
            read("State Recv-Q Send-Q Local Address:Port Peer Address:Port\n", Protocol::Tcp),
            Ok(vec![])
        );
    }
}
