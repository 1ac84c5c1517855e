//! Who listens: real sockets in the machine's namespace.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::dns;
use crate::host::stage::{DnsFault, reason, status};

/// How long somebody who says nothing is listened to.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How many connections are served at once.
const MAX_CONNECTIONS: usize = 256;
/// The most bytes of an answer.
const MAX_ANSWER_BYTES: u32 = 8 << 20;
/// How often a port that is taken is asked for, and so long in between.
const MAX_BIND_TRIES: u32 = 25;
const BIND_RETRY_DELAY: Duration = Duration::from_millis(20);

/// What a listener says to whoever spoke.
#[derive(Debug, Clone, Default)]
pub(in crate::host) struct ListenerBehavior {
    /// How many bytes are waited for.
    pub(super) request: u32,
    /// How many are said then; none is an echo.
    pub(super) answer: u32,
    /// How long it thinks.
    pub(super) think: Duration,
    /// The status of its pages by path.
    pub(super) pages: Arc<BTreeMap<String, u16>>,
}

/// A listener that is shut when it is dropped, not only closed: a program that is just being started elsewhere in this process holds a copy
/// for a moment, and the port would stay taken for so long.
#[derive(Debug)]
pub(in crate::host) struct OpenPort(TcpListener);

impl Drop for OpenPort {
    fn drop(&mut self) {
        // What cannot be shut is closed all the same.
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Both);
    }
}

/// Opens a TCP listener for both families, or for the one that this machine has.
pub(in crate::host) fn tcp(at: Option<IpAddr>, port: u16, waiting: u32) -> std::io::Result<OpenPort> {
    let open = |socket: std::io::Result<TcpSocket>, any: IpAddr| {
        let socket = socket?;
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::new(any, port))?;
        socket.listen(waiting)
    };
    match at {
        Some(address @ IpAddr::V4(_)) => return open(TcpSocket::new_v4(), address).map(OpenPort),
        Some(address @ IpAddr::V6(_)) => return open(TcpSocket::new_v6(), address).map(OpenPort),
        None => {}
    }
    open(TcpSocket::new_v6(), Ipv6Addr::UNSPECIFIED.into())
        .or_else(|_| open(TcpSocket::new_v4(), Ipv4Addr::UNSPECIFIED.into()))
        .map(OpenPort)
}

/// Serves whoever connects, for ever.
pub(in crate::host) async fn serve(listening: OpenPort, manner: ListenerBehavior) {
    let mut guests = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listening.0.accept(), if guests.len() < MAX_CONNECTIONS => {
                if let Ok((stream, _)) = accepted {
                    guests.spawn(traffic(stream, manner.clone()));
                }
            }
            Some(_) = guests.join_next() => {}
        }
    }
}

/// Listens and never takes anybody: once the queue is full, the first packet of a connection is not answered.
pub(in crate::host) async fn silent(port: u16) -> std::io::Result<()> {
    let listening = tcp(None, port, 0)?;
    let waiting = fill_queue(port).await;
    std::future::pending::<()>().await;
    drop((listening, waiting));
    Ok(())
}

/// Connects from the machine itself to a port that takes nobody until nobody else can wait there.
pub(in crate::host) async fn fill_queue(port: u16) -> Vec<TcpStream> {
    let mut waiting = Vec::new();
    // A queue holds one more than it says.
    for _ in 0..4 {
        let own = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
        match timeout(Duration::from_millis(300), TcpStream::connect(own)).await {
            Ok(Ok(stream)) => waiting.push(stream),
            Ok(Err(_)) | Err(_) => break,
        }
    }
    waiting
}

async fn traffic(mut stream: TcpStream, manner: ListenerBehavior) {
    let mut buffer = vec![0_u8; 16 << 10];
    let (mut received, mut first, want) = (0_u64, true, u64::from(manner.request.max(1)));
    loop {
        let Ok(Ok(count)) = timeout(IDLE_TIMEOUT, stream.read(&mut buffer)).await else { return };
        let some = buffer.get(..count).unwrap_or_default();
        if some.is_empty() {
            return;
        }
        let is_web = first && [&b"GET "[..], b"HEAD ", b"POST "].iter().any(|verb| some.starts_with(verb));
        first = false;
        received += u64::try_from(count).unwrap_or_default();
        if received < want && !is_web {
            continue;
        }
        received = 0;
        tokio::time::sleep(manner.think).await;
        let length = usize::try_from(manner.answer.min(MAX_ANSWER_BYTES)).unwrap_or_default();
        let said = match (is_web, length) {
            (true, _) => web(length, status(&manner.pages, path(some))),
            (false, 0) => some.to_vec(),
            (false, length) => vec![b'.'; length],
        };
        if stream.write_all(&said).await.is_err() || is_web {
            return;
        }
        first = true;
    }
}

/// Reads the path of a request.
fn path(request: &[u8]) -> &str {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let word = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    std::str::from_utf8(word).unwrap_or("/")
}

/// Writes a page of some length.
fn web(length: usize, status: u16) -> Vec<u8> {
    let body = if length == 0 { "ok\n".to_owned() } else { ".".repeat(length) };
    let head = "Server: lab\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ";
    let first = format!("HTTP/1.1 {status} {}", reason(status));
    format!("{first}\r\n{head}{}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Opens a UDP socket on an address.
pub(super) async fn udp(address: IpAddr, port: u16) -> std::io::Result<UdpSocket> {
    for _ in 0..MAX_BIND_TRIES {
        match UdpSocket::bind(SocketAddr::new(address, port)).await {
            // No call closes it for new connections alone, and nothing reports when a program that is just being started lets go of its copy.
            Err(error) if error.kind() == ErrorKind::AddrInUse => tokio::time::sleep(BIND_RETRY_DELAY).await,
            bound => return bound,
        }
    }
    UdpSocket::bind(SocketAddr::new(address, port)).await
}

/// Answers datagrams, for ever: questions on the port of name servers as such, others with what they hold.
pub(super) async fn answer(socket: UdpSocket, fault: Option<DnsFault>) {
    let names = socket.local_addr().is_ok_and(|own| own.port() == 53);
    let mut buffer = vec![0_u8; 64 << 10];
    loop {
        // An error is about a datagram before: whoever sent it is gone.
        let Ok((count, from)) = socket.recv_from(&mut buffer).await else { continue };
        let some = buffer.get(..count).unwrap_or_default();
        let said = if names { dns::answer(some, fault) } else { Some(some.to_vec()) };
        if let Some(said) = said {
            drop(socket.send_to(&said, from).await);
        }
    }
}
