//! What a server in the background prints about its clients.

use std::fmt::Write as _;

use super::amount::{moment, rate, transfer};
use super::iperf::{Stream, float, whole};
use super::option::Options;
use crate::host::simulated::wire::net::Net;
use crate::host::simulated::wire::path::Line;
use crate::host::simulated::world::World;
use crate::host::stage::Protocol;

/// Remembers into which file a program in the background prints, and prints what it prints when it begins.
pub(in crate::host) fn prints_to(world: &mut World, machine: &str, pid: u32, path: &str) {
    world.journal.prints_to(machine, pid, path);
    let guest = world.guests.get(machine);
    let process = guest.and_then(|guest| guest.processes.iter().find(|process| process.pid == pid));
    let begins = process.filter(|process| {
        let iperf = process.argv.first().is_some_and(|program| program.rsplit('/').next() == Some("iperf"));
        iperf && !process.argv.iter().any(|word| word.starts_with("-y"))
    });
    if let Some((protocol, port)) = begins.and_then(|process| process.listens.first().copied()) {
        print(world, machine, pid, &head(port, protocol));
    }
}

/// Prints what a program in the background prints.
fn print(world: &mut World, machine: &str, pid: u32, text: &str) {
    let Some(path) = world.journal.output(machine, pid) else { return };
    let Some(guest) = world.guests.get_mut(machine) else { return };
    let mut content = guest.files.get(&path).map(|file| file.content.clone()).unwrap_or_default();
    content.extend(text.as_bytes());
    guest.files.write(&path, content);
}

/// Prints what a server of iperf has of some streams, wherever its output goes.
pub(super) fn report(
    net: &mut Net<'_>,
    (far, port): (&str, u16),
    line: &Line,
    streams: &[Stream],
    begun: u64,
) {
    let protocol = line.protocol;
    let Some(process) =
        net.world.guests.get(far).and_then(|guest| {
            guest.processes.iter().find(|process| process.listens.contains(&(protocol, port)))
        })
    else {
        return;
    };
    let options = Options::read(
        &process.argv,
        &["s", "u", "D", "e", "N", "p=", "i=", "f=", "y=", "w=", "l=", "B=", "P="],
    );
    let pid = process.pid;
    let format = options.text(&["f"]).and_then(|text| text.chars().next());
    let served = net.world.journal.served(far, pid);
    let text = if options.has(&["y"]) {
        csv(net, line, streams, served, begun)
    } else {
        table(line, streams, served, format)
    };
    net.world.journal.serves(far, pid, streams.len());
    print(net.world, far, pid, &text);
}

/// What a server prints when it begins.
fn head(port: u16, protocol: Protocol) -> String {
    let rule = "------------------------------------------------------------\n";
    let kind = if protocol == Protocol::Udp { "UDP" } else { "TCP" };
    format!("{rule}Server listening on {kind} port {port}\n{kind} window size:  128 KByte (default)\n{rule}")
}

fn table(line: &Line, streams: &[Stream], served: usize, format: Option<char>) -> String {
    let mut text = String::new();
    let (near, far) = (&line.near, &line.far);
    let most = near.mtu.min(far.mtu).saturating_sub(52);
    for (at, stream) in streams.iter().enumerate() {
        let _ = writeln!(
            text,
            "[{:>3}] local {} port {} connected with {} port {} (icwnd/mss/irtt=14/{most}/{})",
            served + at + 1,
            far.address,
            far.port,
            near.address,
            stream.port,
            stream.round
        );
    }
    text.push_str("[ ID] Interval       Transfer     Bandwidth\n");
    let mut row = |name: &str, time: u64, bytes: u64| {
        let seconds = float(time) / 1e9;
        let bits = float(bytes) * 8.0 / seconds.max(1e-9);
        let _ = writeln!(
            text,
            "{name} 0.0000-{seconds:.4} sec  {}  {}",
            transfer(bytes, format),
            rate(bits, format)
        );
    };
    for (at, stream) in streams.iter().enumerate() {
        row(&format!("[{:>3}]", served + at + 1), stream.times.1, stream.bytes.1);
    }
    if streams.len() > 1 {
        let longest = streams.iter().map(|stream| stream.times.1).max().unwrap_or(0);
        row("[SUM]", longest, streams.iter().map(|stream| stream.bytes.1).sum());
    }
    text
}

fn csv(net: &Net<'_>, line: &Line, streams: &[Stream], served: usize, begun: u64) -> String {
    let at = moment(net.world.now.plus(std::time::Duration::from_nanos(begun)));
    let (near, far) = (&line.near, &line.far);
    let mut text = String::new();
    let mut row = |port: u16, id: i64, time: u64, bytes: u64| {
        let seconds = float(time) / 1e9;
        let bits = whole(float(bytes) * 8.0 / seconds.max(1e-9));
        let _ = writeln!(
            text,
            "{at},{},{},{},{port},{id},0.0-{seconds:.1},{bytes},{bits}",
            far.address, far.port, near.address
        );
    };
    for (location, stream) in streams.iter().enumerate() {
        let id = i64::try_from(served + location + 1).unwrap_or(1);
        row(stream.port, id, stream.times.1, stream.bytes.1);
    }
    if streams.len() > 1 {
        let longest = streams.iter().map(|stream| stream.times.1).max().unwrap_or(0);
        row(0, -1, longest, streams.iter().map(|stream| stream.bytes.1).sum());
    }
    text
}
