//! A connection that is really tried.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

use crate::host::port::ConnectOutcome;

/// How long an answer is waited for: two packets may be lost.
const DIAL_TIMEOUT: Duration = Duration::from_millis(3_500);

/// Tries a TCP connection.
pub(super) async fn tcp(to: IpAddr, port: u16) -> ConnectOutcome {
    let begun = Instant::now();
    match timeout(DIAL_TIMEOUT, TcpStream::connect(SocketAddr::new(to, port))).await {
        Ok(Ok(_)) => ConnectOutcome::Open(begun.elapsed()),
        Ok(Err(error)) => refusal(error.kind()),
        Err(_) => ConnectOutcome::Silent,
    }
}

/// Sends a datagram and waits for one.
pub(super) async fn udp(to: IpAddr, port: u16) -> ConnectOutcome {
    let begun = Instant::now();
    let any: SocketAddr = if to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let exchange = async {
        let socket = UdpSocket::bind(any).await?;
        socket.connect(SocketAddr::new(to, port)).await?;
        // A name server answers a question only.
        match socket.send(&super::dns::question(1)).await {
            // The machine's own filter stopped it; where it refused, the word about that is in transit.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            sent => drop(sent?),
        }
        socket.recv(&mut [0_u8; 512]).await
    };
    match timeout(DIAL_TIMEOUT, exchange).await {
        Ok(Ok(_)) => ConnectOutcome::Open(begun.elapsed()),
        Ok(Err(error)) => refusal(error.kind()),
        Err(_) => ConnectOutcome::Silent,
    }
}

/// Reads what `ping` says.
pub(super) fn echoed(out: &str, code: u8) -> ConnectOutcome {
    let time = out.split("time=").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    match time.filter(|_| code == 0) {
        Some(time) => ConnectOutcome::Open(Duration::try_from_secs_f64(time / 1_000.0).unwrap_or_default()),
        None if ["nreachable", "rohibited", "iltered"].iter().any(|word| out.contains(word)) => {
            ConnectOutcome::Refused
        }
        None => ConnectOutcome::Silent,
    }
}

fn refusal(kind: ErrorKind) -> ConnectOutcome {
    // Somebody refused. What the machine itself drops gets no answer.
    let refusals = [
        ErrorKind::ConnectionRefused,
        ErrorKind::ConnectionReset,
        ErrorKind::HostUnreachable,
        ErrorKind::NetworkUnreachable,
    ];
    if refusals.contains(&kind) { ConnectOutcome::Refused } else { ConnectOutcome::Silent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_tells_its_time_a_refusal_or_nothing() {
        let answered = "64 bytes from 10.0.1.5: icmp_seq=1 ttl=63 time=0.250 ms\n";
        assert_eq!(echoed(answered, 0), ConnectOutcome::Open(Duration::from_micros(250)));
        let refused = "From 10.0.1.5 icmp_seq=1 Destination Port Unreachable\n";
        assert_eq!(echoed(refused, 1), ConnectOutcome::Refused);
        assert_eq!(echoed("1 packets transmitted, 0 received\n", 1), ConnectOutcome::Silent);
        assert_eq!(echoed("time=x", 0), ConnectOutcome::Silent);
    }
}
