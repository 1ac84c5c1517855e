//! `qperf`.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::iperf::whole;
use super::option::seconds;
use super::rate::streams;
use crate::host::simulated::wire::conversation::{Script, Turn};
use crate::host::simulated::wire::journal::Exchange;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::wire::path::Line;
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::Protocol;

/// Where its server listens.
const PORT: u16 = 19_765;
/// How long it tries to reach its server.
const SERVER_TIMEOUT: u64 = 5 * SECOND;
/// How long a connection is tried that nobody answers.
const CONNECT_TIMEOUT: u64 = 134 * SECOND;
/// The most exchanges that are drawn one by one; beyond, they go on as they went.
const MAX_DRAWN_EXCHANGES: u64 = 60_000;
/// The most exchanges of a measurement that a capture shows.
const MAX_CAPTURED_EXCHANGES: usize = 1_500;
/// Options with a value.
const VALUED_OPTIONS: [&str; 14] =
    ["-lp", "-ip", "-t", "-to", "-m", "-oo", "-sl", "-rl", "-la", "-ra", "-l", "-r", "-ws", "-sb"];

#[derive(Debug, Default)]
struct QperfArgs {
    host: Option<String>,
    tests: Vec<String>,
    port: Option<u16>,
    data_port: Option<u16>,
    time: Option<u64>,
    patience: Option<u64>,
    size: Option<u64>,
    wordy: bool,
}

/// Measures a path, as one program with another.
pub(super) fn qperf(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let asked = match read(argv) {
        Ok(asked) => asked,
        Err(said) => return said,
    };
    let Some(host) = asked.host.clone() else {
        // A server that nobody put into the background stays.
        return ProgramResult {
            took: std::time::Duration::from_secs(3_600),
            code: 143,
            ..ProgramResult::default()
        };
    };
    let mut net = Net::new(world, machine, "qperf");
    let mut out = String::new();
    let mut code = 0;
    let to = net.resolve(&host);
    for test in &asked.tests {
        let _ = writeln!(out, "{test}:");
        let measured = match &to {
            Ok(to) => measure(&mut net, &asked, &host, *to, test),
            Err(unresolved) => Err(format!("getaddrinfo failed: {}\n", unresolved.text)),
        };
        match measured {
            Ok(text) => out.push_str(&text),
            Err(text) => {
                out.push_str(&text);
                code = 1;
                break;
            }
        }
    }
    ProgramResult { out, err: String::new(), code, took: net.took() }
}

fn read(argv: &[String]) -> Result<QperfArgs, ProgramResult> {
    let mut asked = QperfArgs::default();
    let mut words = argv.iter().skip(1).take(256);
    while let Some(word) = words.next() {
        if VALUED_OPTIONS.contains(&word.as_str()) {
            let Some(value) = words.next() else {
                return Err(ProgramResult::failed(1, format!("missing argument to {word}\n")));
            };
            match word.as_str() {
                "-lp" => asked.port = value.parse().ok(),
                "-ip" => asked.data_port = value.parse().ok(),
                "-t" => asked.time = seconds(value.trim_end_matches('s')),
                "-to" => asked.patience = seconds(value.trim_end_matches('s')),
                "-m" => asked.size = size(value),
                _ => {}
            }
        } else if word == "--version" || word == "-V" {
            return Err(ProgramResult::printed("qperf 0.4.11\n"));
        } else if word == "--help" {
            return Err(ProgramResult::printed(
                "Synopsis\n    qperf\n    qperf SERVERNODE [OPTIONS] TESTS\n",
            ));
        } else if word.starts_with("-v") || word.starts_with("-u") {
            asked.wordy |= word.starts_with("-v");
        } else if word.starts_with('-') {
            return Err(ProgramResult::failed(1, format!("{word}: bad option; try: qperf --help options\n")));
        } else if asked.host.is_none() {
            asked.host = Some(word.clone());
        } else {
            asked.tests.push(word.clone());
        }
    }
    if asked.host.is_some() && asked.tests.is_empty() {
        return Err(ProgramResult::failed(1, "must specify at least one test\n"));
    }
    let known = ["tcp_lat", "tcp_bw", "udp_lat", "udp_bw", "conf"];
    match asked.tests.iter().find(|test| !known.contains(&test.as_str())) {
        Some(bad) => Err(ProgramResult::failed(1, format!("{bad}: bad test; try: qperf --help tests\n"))),
        None => Ok(asked),
    }
}

/// Reads a size, as in `1024`, `64K`.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        _ => return None,
    };
    Some(digits.parse::<u64>().ok()?.saturating_mul(factor).clamp(1, 1 << 24))
}

fn measure(
    net: &mut Net<'_>,
    asked: &QperfArgs,
    host: &str,
    to: IpAddr,
    test: &str,
) -> Result<String, String> {
    let failed = || format!("{host}: failed to connect\n");
    let patience = asked.patience.unwrap_or(SERVER_TIMEOUT);
    let traffic = Turn { request: 360, think: 40_000, answer: 360 };
    let outcome = net.tcp(to, asked.port.unwrap_or(PORT), vec![traffic, traffic], patience).1.outcome;
    let Some(connected) = outcome.connected else {
        net.passed += patience + 6_000_000;
        return Err(failed());
    };
    net.passed += outcome.done.unwrap_or(connected);
    if test == "conf" {
        return Ok("    loc_node   =  lab\n".to_owned());
    }
    let port = asked.data_port.unwrap_or_else(|| net.port());
    let protocol = if test.starts_with("udp") { Protocol::Udp } else { Protocol::Tcp };
    let line = net.served(to, protocol, port);
    if !line.open() {
        // It waits for as long as the kernel tries.
        net.passed += if protocol == Protocol::Tcp { CONNECT_TIMEOUT } else { patience };
        return Err(failed());
    }
    let time = asked.time.unwrap_or(2 * SECOND).max(SECOND / 10);
    let latency = test.ends_with("_lat");
    let size = asked.size.unwrap_or(if latency { 1 } else { 65_536 });
    shown(net, &line, size, latency);
    let rows = if latency { lat(net, &line, time, size, asked) } else { bw(net, &line, time, size, asked) };
    net.passed += time + 20_000_000;
    match rows {
        Some(rows) => Ok(table(&rows)),
        None => Err(format!("{host}: timed out while waiting for response\n")),
    }
}

/// Remembers the beginning of a measurement for captures.
fn shown(net: &mut Net<'_>, line: &Line, size: u64, latency: bool) {
    let act = if line.protocol == Protocol::Udp {
        let bytes = vec![b'.'; usize::try_from(size.min(1_400)).unwrap_or(1)];
        Exchange::Datagram { request: bytes.clone(), answer: latency.then_some(bytes), think: 10_000 }
    } else if latency {
        let turn = Turn { request: size, think: 8_000, answer: size };
        Exchange::Tcp(Script {
            turns: vec![turn; MAX_CAPTURED_EXCHANGES],
            patience: 2 * SECOND,
            most: 4 * MAX_CAPTURED_EXCHANGES,
        })
    } else {
        let turn = Turn { request: 1 << 26, ..Turn::default() };
        Exchange::Tcp(Script { turns: vec![turn], patience: 2 * SECOND, most: 4 * MAX_CAPTURED_EXCHANGES })
    };
    net.say(line, act);
}

/// One message goes back and forth; what it takes on average, in one direction.
fn lat(net: &mut Net<'_>, line: &Line, time: u64, size: u64, asked: &QperfArgs) -> Option<Vec<Row>> {
    let tcp = line.protocol == Protocol::Tcp;
    // How busy a network is differs from one minute to the next.
    let busy = net.chance.between(0.98, 1.16);
    let serial = size.saturating_mul(16);
    let base = float(line.there.base + line.back.base + serial) * busy + 9_000.0;
    let slow = line.narrow.is_some_and(|(mtu, heeded)| !heeded && size + 52 > u64::from(mtu));
    if slow {
        return None;
    }
    let shaped: Vec<_> = [&line.there, &line.back]
        .into_iter()
        .flat_map(|leg| leg.between.iter().chain([&leg.own]).copied())
        .collect();
    let lost = [line.there.lost(), line.back.lost()];
    let wait = |round: f64| round + 200e6_f64.max(round * 0.1);
    let (mut at, mut count) = (0.0, 0_u64);
    let limit = float(time);
    while at < limit && count < MAX_DRAWN_EXCHANGES {
        let mut took = base + net.chance.wait(base * 0.03);
        for shaping in &shaped {
            let swing = net.chance.between(-1.0, 1.0) * shaping.jitter.as_secs_f64() * 1e9;
            took += (shaping.delay.as_secs_f64() * 1e9 + swing).max(0.0);
            took += shaping.rate.map_or(0.0, |(bits, _)| float(size + 66) * 8e9 / float(bits.max(1)) * 0.05);
        }
        for lost in lost {
            let mut patience = wait(took.max(1e5));
            while net.chance.hit(lost) && at + took < limit * 4.0 {
                // Without a connection nobody repeats what was lost.
                if !tcp {
                    return None;
                }
                took += patience;
                patience *= 2.0;
            }
        }
        at += took;
        count += 1;
    }
    let one_direction = at / float(count.max(1)) / 2.0;
    let mut rows = vec![row_of_time("latency", one_direction)];
    if asked.wordy {
        rows.push(Row::new("msg_rate", 1e9 / one_direction / 1e3, "K/sec"));
        rows.push(Row::new("time", limit / 1e9, "sec"));
        rows.push(Row::new("loc_cpus_used", net.chance.between(14.0, 26.0), "% cpus"));
        rows.push(Row::new("rem_cpus_used", net.chance.between(14.0, 26.0), "% cpus"));
    }
    Some(rows)
}

fn bw(net: &mut Net<'_>, line: &Line, time: u64, size: u64, asked: &QperfArgs) -> Option<Vec<Row>> {
    let bits: f64 = streams(line, 1, float(time) / 1e9, &mut net.chance).iter().sum();
    if bits <= 0.0 {
        return None;
    }
    let bytes = bits / 8.0;
    net.carried(line, whole(bytes * float(time) / 1e9));
    let name = if line.protocol == Protocol::Udp { "send_bw" } else { "bw" };
    let row = |name: &str| match bytes {
        _ if bytes >= 1e9 => Row::new(name, bytes / 1e9, "GB/sec"),
        _ if bytes >= 1e6 => Row::new(name, bytes / 1e6, "MB/sec"),
        _ if bytes >= 1e3 => Row::new(name, bytes / 1e3, "KB/sec"),
        _ => Row::new(name, bytes, "bytes/sec"),
    };
    let mut rows = vec![row(name)];
    if line.protocol == Protocol::Udp {
        rows.push(row("recv_bw"));
    }
    if asked.wordy {
        rows.push(Row::new("msg_rate", bytes / float(size) / 1e3, "K/sec"));
        rows.push(Row::new("time", float(time) / 1e9, "sec"));
    }
    Some(rows)
}

#[derive(Debug)]
struct Row {
    name: String,
    value: String,
    unit: &'static str,
}

impl Row {
    fn new(name: &str, value: f64, unit: &'static str) -> Self {
        Self { name: name.to_owned(), value: three(value), unit }
    }
}

fn row_of_time(name: &str, nanos: f64) -> Row {
    match nanos {
        _ if nanos >= 1e9 => Row::new(name, nanos / 1e9, "sec"),
        _ if nanos >= 1e6 => Row::new(name, nanos / 1e6, "ms"),
        _ if nanos >= 1e3 => Row::new(name, nanos / 1e3, "us"),
        _ => Row::new(name, nanos, "ns"),
    }
}

/// Three digits that matter, and no zeros after them.
fn three(value: f64) -> String {
    let text = match value {
        _ if value >= 100.0 => return format!("{value:.0}"),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ if value >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn table(rows: &[Row]) -> String {
    let name = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let value = rows.iter().map(|row| row.value.len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "    {:<name$}  =  {:>value$} {}", row.name, row.value, row.unit);
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "times and sizes are far below what is exact")]
fn float(number: u64) -> f64 {
    number as f64
}
