//! Who talks to whom, again and again: real connections from the machine's namespace.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::dns;
use crate::host::stage::{Protocol, TrafficFlow};

/// How long one exchange may take beside what the far side thinks.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(3);
/// The most bytes of a request.
const MAX_REQUEST_BYTES: u32 = 1 << 20;

/// Talks, for ever.
pub(super) async fn traffic(traffic: TrafficFlow) {
    let mut next = interval(Duration::from_millis(traffic.every_ms.max(5)));
    next.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let limit = EXCHANGE_TIMEOUT + Duration::from_millis(traffic.think_ms);
    let mut number = 0_u16;
    loop {
        next.tick().await;
        number = number.wrapping_add(1);
        // What does not succeed is what the traffic is there for.
        match traffic.protocol {
            Protocol::Tcp => drop(timeout(limit, tcp(&traffic)).await),
            Protocol::Udp => drop(timeout(limit, udp(&traffic, number)).await),
            Protocol::Icmp => return,
        }
    }
}

async fn tcp(traffic: &TrafficFlow) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(SocketAddr::new(traffic.to, traffic.port)).await?;
    let length = usize::try_from(traffic.request.clamp(1, MAX_REQUEST_BYTES)).unwrap_or(1);
    let mut request = if matches!(traffic.port, 80 | 8080) {
        format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", traffic.to).into_bytes()
    } else {
        Vec::new()
    };
    if request.is_empty() {
        request.resize(length, b'.');
    } else {
        let rest = length.saturating_sub(request.len() + 14);
        request.extend(format!("X-Padding: {}\r\n\r\n", ".".repeat(rest)).into_bytes());
    }
    stream.write_all(&request).await?;
    let mut left = u64::from(traffic.answer.max(1));
    let mut buffer = vec![0_u8; 16 << 10];
    while left > 0 {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            break;
        }
        left = left.saturating_sub(u64::try_from(count).unwrap_or(left));
    }
    Ok(())
}

async fn udp(traffic: &TrafficFlow, number: u16) -> std::io::Result<()> {
    let any: SocketAddr =
        if traffic.to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(SocketAddr::new(traffic.to, traffic.port)).await?;
    let length = usize::try_from(traffic.request.clamp(1, 60_000)).unwrap_or(1);
    let said = if traffic.port == 53 { dns::question(number) } else { vec![b'.'; length] };
    socket.send(&said).await?;
    socket.recv(&mut [0_u8; 2_048]).await.map(drop)
}
