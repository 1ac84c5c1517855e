//! A connection that is really tried.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

use crate::host::port::Dialed;

/// So long an answer is waited for: two packets may be lost on the way.
const DIAL_TIMEOUT: Duration = Duration::from_millis(3_500);

/// Tries a TCP connection.
pub(super) async fn tcp(to: IpAddr, port: u16) -> Dialed {
    let begun = Instant::now();
    match timeout(DIAL_TIMEOUT, TcpStream::connect(SocketAddr::new(to, port))).await {
        Ok(Ok(_)) => Dialed::Open(begun.elapsed()),
        Ok(Err(error)) => refusal(error.kind()),
        Err(_) => Dialed::Silent,
    }
}

/// Sends a datagram and waits for one.
pub(super) async fn udp(to: IpAddr, port: u16) -> Dialed {
    let begun = Instant::now();
    let any: SocketAddr = if to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let exchange = async {
        let socket = UdpSocket::bind(any).await?;
        socket.connect(SocketAddr::new(to, port)).await?;
        // A name server answers a question only.
        match socket.send(&super::dns::question(1)).await {
            // The machine's own filter stopped it; where it refused, the word about that is on its way.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            sent => drop(sent?),
        }
        socket.recv(&mut [0_u8; 512]).await
    };
    match timeout(DIAL_TIMEOUT, exchange).await {
        Ok(Ok(_)) => Dialed::Open(begun.elapsed()),
        Ok(Err(error)) => refusal(error.kind()),
        Err(_) => Dialed::Silent,
    }
}

/// Reads what `ping` says.
pub(super) fn echoed(out: &str, code: u8) -> Dialed {
    let time = out.split("time=").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    match time.filter(|_| code == 0) {
        Some(time) => Dialed::Open(Duration::try_from_secs_f64(time / 1_000.0).unwrap_or_default()),
        None if ["nreachable", "rohibited", "iltered"].iter().any(|word| out.contains(word)) => {
            Dialed::Refused
        }
        None => Dialed::Silent,
    }
}

fn refusal(kind: ErrorKind) -> Dialed {
    // Somebody said no, in one way or another. What the machine itself drops ends in silence.
    let told = [
        ErrorKind::ConnectionRefused,
        ErrorKind::ConnectionReset,
        ErrorKind::HostUnreachable,
        ErrorKind::NetworkUnreachable,
    ];
    if told.contains(&kind) { Dialed::Refused } else { Dialed::Silent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_tells_its_time_a_refusal_or_nothing() {
        let answered = "64 bytes from 10.0.1.5: icmp_seq=1 ttl=63 time=0.250 ms\n";
        assert_eq!(echoed(answered, 0), Dialed::Open(Duration::from_micros(250)));
        let refused = "From 10.0.1.5 icmp_seq=1 Destination Port Unreachable\n";
        assert_eq!(echoed(refused, 1), Dialed::Refused);
        assert_eq!(echoed("1 packets transmitted, 0 received\n", 1), Dialed::Silent);
        assert_eq!(echoed("time=x", 0), Dialed::Silent);
    }
}
