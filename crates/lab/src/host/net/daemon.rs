//! What runs inside of machines: real daemons where they are installed, sockets of this process elsewhere.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use tokio::net::{TcpSocket, TcpStream, UdpSocket};

use crate::host::exec::{ProcessRequest, Running};
use crate::host::netns::{
    ListenerBehavior, Namespace, NamespaceThread, Program, dns_answer, fill_queue, serve, silent, tcp,
};
use crate::host::port::HostError;

/// How many connections may wait.
const BACKLOG: u32 = 64;
/// How long a slow name server thinks.
const SLOW: Duration = Duration::from_millis(700);
/// Where it listens.
const UPSTREAM_PORT: u16 = 5_353;
/// Half-open connections come from so many addresses.
const ATTACKERS: u8 = 8;
/// And so often.
const SYN_INTERVAL: Duration = Duration::from_millis(5);
const DATAGRAM_INTERVAL: Duration = Duration::from_micros(500);

/// Something that runs in a machine. Dropped, it ends.
#[derive(Debug)]
pub(super) enum Daemon {
    Thread(#[expect(dead_code, reason = "it runs until it is dropped")] NamespaceThread),
    Program(#[expect(dead_code, reason = "it runs until it is dropped")] Running),
    /// A DHCP client, of which a machine has one.
    Client(#[expect(dead_code, reason = "it runs until it is dropped")] Running),
}

pub(super) fn wrong(what: &str) -> HostError {
    HostError::Failed { what: "starting a daemon".to_owned(), error: what.to_owned() }
}

fn port(text: &str) -> Result<u16, HostError> {
    text.parse().map_err(|_| wrong(&format!("`{text}` is no port")))
}

fn address(text: &str) -> Result<IpAddr, HostError> {
    text.parse().map_err(|_| wrong(&format!("`{text}` is no address")))
}

/// Listens with TCP on an address, or on all.
pub(super) fn listen(space: &Namespace, at: &str, on: &str) -> Result<Daemon, HostError> {
    let at = if at == "*" { None } else { Some(address(at)?) };
    let (thread, on) = (NamespaceThread::enter(space)?, port(on)?);
    let open = thread.block(async move { tcp(at, on, BACKLOG) });
    let open = open.ok_or_else(|| wrong("its thread is gone"))?.map_err(|error| wrong(&error.to_string()))?;
    thread.spawn(serve(open, ListenerBehavior::default()));
    Ok(Daemon::Thread(thread))
}

fn has_nginx() -> bool {
    Program::named("nginx").is_some_and(|program| program.path().is_some())
}

/// Serves pages on an address, or on all: nginx where it is installed, else a socket of this process.
pub(super) fn web(space: &Namespace, folder: &Path, at: &str, on: &str) -> Result<Daemon, HostError> {
    if !has_nginx() {
        return listen(space, at, on);
    }
    Ok(Daemon::Program(nginx(space, folder, at, on, "")?))
}

/// Serves pages no longer: the program hangs, and whoever connected to it fills its queue.
pub(super) fn hung_web(space: &Namespace, folder: &Path, on: &str) -> Result<Vec<Daemon>, HostError> {
    let thread = NamespaceThread::enter(space)?;
    let number = port(on)?;
    if !has_nginx() {
        thread.spawn(async move {
            drop(silent(number).await);
        });
        settled(space, &format!(":{on} "), 1)?;
        return Ok(vec![Daemon::Thread(thread)]);
    }
    let running = nginx(space, folder, "*", on, " backlog=1")?;
    running.pause();
    let waiting = thread.block(fill_queue(number)).ok_or_else(|| wrong("its thread is gone"))?;
    thread.spawn(async move {
        std::future::pending::<()>().await;
        drop(waiting);
    });
    Ok(vec![Daemon::Program(running), Daemon::Thread(thread)])
}

fn nginx(space: &Namespace, folder: &Path, to: &str, on: &str, words: &str) -> Result<Running, HostError> {
    let listen = match to {
        "*" => format!("listen {on}{words}; listen [::]:{on}{words};"),
        _ => format!("listen {to}:{on}{words};"),
    };
    let at = folder.display();
    let config = format!(
        "daemon off; master_process off; pid {at}/nginx.pid; error_log /dev/null;\nevents {{ worker_connections 64; }}\n\
         http {{ access_log off; client_body_temp_path {at}/body; proxy_temp_path {at}/proxy; fastcgi_temp_path {at}/fastcgi;\n\
         uwsgi_temp_path {at}/uwsgi; scgi_temp_path {at}/scgi; server {{ {listen} return 200 ok; }} }}\n"
    );
    let path = folder.join("nginx.conf");
    std::fs::write(&path, config).map_err(|error| wrong(&error.to_string()))?;
    let path = path.display().to_string();
    let running =
        ProcessRequest::own("nginx", &["-c", &path, "-p", &at.to_string()])?.within(space).start(None)?;
    // All addresses are those of both families.
    settled(space, &format!(":{on} "), if to == "*" { 2 } else { 1 })?;
    Ok(running)
}

/// Serves names: dnsmasq, which knows one.
pub(super) fn names(space: &Namespace, web: &str, own: &str) -> Result<Daemon, HostError> {
    dnsmasq(space, own, &[&format!("--address=/web.lab/{web}")])
}

fn dnsmasq(space: &Namespace, own: &str, more: &[&str]) -> Result<Daemon, HostError> {
    let listen = format!("--listen-address={own}");
    let mut words = vec![
        "--keep-in-foreground",
        "--no-resolv",
        "--no-hosts",
        "--conf-file=/dev/null",
        "--pid-file=",
        "--user=root",
        "--bind-interfaces",
        "--listen-address=127.0.0.1",
        &listen,
    ];
    words.extend(more);
    let running = ProcessRequest::own("dnsmasq", &words)?.within(space).start(None)?;
    // Two addresses, each with UDP and TCP.
    settled(space, ":53 ", 4)?;
    Ok(Daemon::Program(running))
}

/// Serves names that it asks for elsewhere: dnsmasq before a server of this process that thinks long about each.
pub(super) fn slow_names(space: &Namespace, web: &str, own: &str) -> Result<Vec<Daemon>, HostError> {
    let IpAddr::V4(web) = address(web)? else { return Err(wrong("names lead to IPv4 here")) };
    let thread = NamespaceThread::enter(space)?;
    let upstream = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), UPSTREAM_PORT);
    let socket = thread.block(async move { UdpSocket::bind(upstream).await });
    let socket =
        socket.ok_or_else(|| wrong("its thread is gone"))?.map_err(|error| wrong(&error.to_string()))?;
    thread.spawn(async move {
        let mut buffer = vec![0_u8; 4096];
        loop {
            let Ok((count, from)) = socket.recv_from(&mut buffer).await else { continue };
            let Some(mut said) = dns_answer(buffer.get(..count).unwrap_or_default(), None) else { continue };
            tokio::time::sleep(SLOW).await;
            // The last four bytes of an answer are the address.
            let has_address = said.get(7) == Some(&1);
            let at = said.len().saturating_sub(4);
            if let Some(last) = said.get_mut(at..).filter(|_| has_address) {
                last.copy_from_slice(&web.octets());
            }
            drop(socket.send_to(&said, from).await);
        }
    });
    let server = format!("--server=127.0.0.1#{UPSTREAM_PORT}");
    Ok(vec![Daemon::Thread(thread), dnsmasq(space, own, &[&server, "--cache-size=0"])?])
}

/// Has a UDP socket that is never read.
pub(super) fn mute(space: &Namespace, on: &str) -> Result<Daemon, HostError> {
    let (thread, on) = (NamespaceThread::enter(space)?, port(on)?);
    let at = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), on);
    let socket = thread.block(async move { UdpSocket::bind(at).await });
    let socket =
        socket.ok_or_else(|| wrong("its thread is gone"))?.map_err(|error| wrong(&error.to_string()))?;
    thread.spawn(async move {
        std::future::pending::<()>().await;
        drop(socket);
    });
    Ok(Daemon::Thread(thread))
}

/// Sends datagrams without end.
pub(super) fn send(space: &Namespace, to: &str, on: &str) -> Result<Daemon, HostError> {
    let (thread, to) = (NamespaceThread::enter(space)?, SocketAddr::new(address(to)?, port(on)?));
    thread.spawn(async move {
        let Ok(socket) = UdpSocket::bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0)).await else {
            return;
        };
        loop {
            // Nobody has to be there.
            drop(socket.send_to(&[7; 1_200], to).await);
            tokio::time::sleep(DATAGRAM_INTERVAL).await;
        }
    });
    Ok(Daemon::Thread(thread))
}

/// Opens connections and keeps them.
pub(super) fn hold(space: &Namespace, to: &str, on: &str, count: &str) -> Result<Daemon, HostError> {
    let (thread, to) = (NamespaceThread::enter(space)?, SocketAddr::new(address(to)?, port(on)?));
    let count: u32 = count.parse().map_err(|_| wrong("no number"))?;
    let opened = thread.block(async move {
        let mut open = Vec::new();
        for _ in 0..count {
            let tried = tokio::time::timeout(Duration::from_millis(600), TcpStream::connect(to)).await;
            open.extend(tried.ok().and_then(Result::ok));
        }
        open
    });
    let opened = opened.ok_or_else(|| wrong("its thread is gone"))?;
    thread.spawn(async move {
        std::future::pending::<()>().await;
        drop(opened);
    });
    Ok(Daemon::Thread(thread))
}

/// Begins connections from many addresses and finishes none: the filter of the machine drops every answer.
pub(super) fn flood(space: &Namespace, to: &str, on: &str) -> Result<Daemon, HostError> {
    let to = SocketAddr::new(address(to)?, port(on)?);
    let IpAddr::V4(target) = to.ip() else { return Err(wrong("it floods IPv4")) };
    let [one, two, three, _] = target.octets();
    let from: Vec<Ipv4Addr> = (0..ATTACKERS).map(|at| Ipv4Addr::new(one, two, three, 105 + at)).collect();
    for own in &from {
        let text = format!("{own}/32");
        let order = ProcessRequest::own("ip", &["addr", "add", &text, "dev", "eth0"])?.within(space);
        order.run()?;
    }
    let thread = NamespaceThread::enter(space)?;
    thread.spawn(async move {
        let mut pending = tokio::task::JoinSet::new();
        loop {
            for own in &from {
                let Ok(socket) = TcpSocket::new_v4() else { continue };
                if socket.bind(SocketAddr::new((*own).into(), 0)).is_ok() {
                    pending.spawn(async move {
                        drop(tokio::time::timeout(Duration::from_millis(300), socket.connect(to)).await);
                    });
                }
            }
            tokio::time::sleep(SYN_INTERVAL).await;
            while pending.try_join_next().is_some() {}
        }
    });
    Ok(Daemon::Thread(thread))
}

/// Takes a device down and up without end.
pub(super) fn flap(space: &Namespace, device: &str) -> Result<Daemon, HostError> {
    let (thread, space, device) = (NamespaceThread::enter(space)?, space.clone(), device.to_owned());
    thread.spawn(async move {
        for state in ["down", "up"].into_iter().cycle() {
            let order = ProcessRequest::own("ip", &["link", "set", &device, state]);
            // What does not work shows where the fault is not found.
            drop(order.map(|order| order.within(&space).run()));
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    });
    Ok(Daemon::Thread(thread))
}

/// Waits until so many sockets listen: a program that starts reports it by nothing else.
pub(super) fn settled(space: &Namespace, port: &str, sockets: usize) -> Result<(), HostError> {
    for _ in 0..200 {
        let listening = ProcessRequest::own("ss", &["-Hltun"])?.within(space).run()?;
        if listening.out.lines().filter(|line| line.contains(port)).count() >= sockets {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(wrong(&format!("nobody listens on{port}after two seconds")))
}
