//! `iperf`, version 2: the client, and what its server reports.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use super::amount::{moment, rate, transfer};
use super::option::Options;
use super::rate::streams;
use super::report::report;
use crate::host::simulated::wire::conversation::{Script, Turn};
use crate::host::simulated::wire::journal::Exchange;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::wire::path::Line;
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::Protocol;

const VERSION: &str = "iperf version 2.1.5 (3 December 2021) pthreads\n";
const RULE: &str = "------------------------------------------------------------\n";
/// A connection that nobody answers is given up after so long.
const CONNECT_TIMEOUT: u64 = 134 * SECOND;
/// The most streams.
const MAX_STREAMS: u64 = 128;
/// The most packets of a stream that a capture shows.
const MAX_CAPTURED_PACKETS: usize = 2_500;
const KNOWN_OPTIONS: [&str; 32] = [
    "c=",
    "s",
    "p=",
    "P=",
    "t=",
    "i=",
    "f=",
    "y=",
    "n=",
    "u",
    "e",
    "v",
    "b=",
    "w=",
    "l=",
    "D",
    "N",
    "M=",
    "B=",
    "h",
    "client=",
    "server",
    "port=",
    "parallel=",
    "time=",
    "interval=",
    "format=",
    "reportstyle=",
    "version",
    "udp",
    "daemon",
    "enhanced",
];

/// One stream, as both ends have it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stream {
    /// Its number.
    pub(super) id: usize,
    /// The port of the client.
    pub(super) port: u16,
    /// How long a round took in the beginning; microseconds.
    pub(super) round: u64,
    /// How long it went, as the client has it, and as the server has it; nanoseconds.
    pub(super) times: (u64, u64),
    /// What the client wrote, and what arrived.
    pub(super) bytes: (u64, u64),
}

/// Measures a path.
pub(super) fn iperf(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let options = Options::read(argv, &KNOWN_OPTIONS);
    if options.has(&["v", "version"]) {
        return ProgramResult { err: VERSION.to_owned(), ..ProgramResult::default() };
    }
    if let Some(bad) = &options.unknown {
        return ProgramResult::failed(
            1,
            format!("iperf: invalid option -- '{bad}'\nUsage: iperf [-s|-c host] [options]\n"),
        );
    }
    if options.has(&["s", "server"]) {
        // A server that nobody put into the background stays.
        return ProgramResult { took: Duration::from_secs(3_600), code: 143, ..ProgramResult::default() };
    }
    let Some(host) = options.text(&["c", "client"]) else {
        return ProgramResult::failed(
            1,
            "Usage: iperf [-s|-c host] [options]\nTry `iperf --help' for more information.\n",
        );
    };
    let mut net = Net::new(world, machine, "iperf");
    let Ok(to) = net.resolve(host) else {
        let err = format!("{host}: Host name lookup failure\n");
        return ProgramResult { err, code: 1, took: net.took(), ..ProgramResult::default() };
    };
    let mut run = Run {
        to,
        port: options.number(&["p", "port"]).unwrap_or(5_001),
        count: options.number::<u64>(&["P", "parallel"]).unwrap_or(1).clamp(1, MAX_STREAMS),
        time: options.seconds(&["t", "time"]).unwrap_or(10 * SECOND).max(SECOND / 10),
        every: options.seconds(&["i", "interval"]).filter(|every| *every >= SECOND / 2),
        format: options.text(&["f", "format"]).and_then(|text| text.chars().next()),
        csv: options.has(&["y", "reportstyle"]),
        udp: options.has(&["u", "udp"]),
        amount: options.text(&["n"]).and_then(super::amount::size),
        target: options.text(&["b"]).and_then(super::amount::size),
        out: String::new(),
        err: String::new(),
    };
    run.go(&mut net);
    ProgramResult { out: run.out, err: run.err, code: 0, took: net.took() }
}

struct Run {
    to: IpAddr,
    port: u16,
    count: u64,
    time: u64,
    every: Option<u64>,
    format: Option<char>,
    csv: bool,
    udp: bool,
    amount: Option<u64>,
    target: Option<u64>,
    out: String,
    err: String,
}

impl Run {
    fn go(&mut self, net: &mut Net<'_>) {
        let protocol = if self.udp { Protocol::Udp } else { Protocol::Tcp };
        let line = net.line(self.to, protocol, self.port);
        let connected = self.connect(net, &line);
        let lines = |run: &mut Self| {
            if !run.csv {
                run.head();
            }
        };
        if connected.is_empty() {
            lines(self);
            for id in (1..=self.count).rev().filter(|_| !self.csv) {
                let _ = writeln!(
                    self.out,
                    "[{id:>3}] local 0.0.0.0 port 0 connected with {} port {}",
                    self.to, self.port
                );
            }
            return;
        }
        lines(self);
        let measured = self.measure(net, &line, connected);
        // The first packets are played, and counted by that.
        let transcript = u64::try_from(MAX_CAPTURED_PACKETS).unwrap_or(0) * 1_448;
        net.carried(&line, measured.iter().map(|stream| stream.bytes.1.saturating_sub(transcript)).sum());
        let own = line.near.address;
        for stream in measured.iter().filter(|_| !self.csv) {
            let _ = writeln!(
                self.out,
                "[{:>3}] local {own} port {} connected with {} port {}{}",
                stream.id,
                stream.port,
                self.to,
                self.port,
                self.details(&line, stream)
            );
        }
        self.table(net, &measured, &line);
        let longest = measured.iter().map(|stream| stream.times.0).max().unwrap_or(self.time);
        let begun = net.passed;
        net.passed += longest;
        if let Some(far) = line.far.machine.clone() {
            report(net, (&far, self.port), &line, &measured, begun);
        }
    }

    fn details(&self, line: &Line, stream: &Stream) -> String {
        if self.udp {
            return String::new();
        }
        let most = line.near.mtu.min(line.far.mtu).saturating_sub(52);
        format!(" (icwnd/mss/irtt=14/{most}/{})", stream.round)
    }

    fn head(&mut self) {
        let kind = if self.udp { "UDP" } else { "TCP" };
        let (to, port) = (self.to, self.port);
        self.out.push_str(RULE);
        let _ = writeln!(self.out, "Client connecting to {to}, {kind} port {port}");
        if self.udp {
            self.out.push_str("Sending 1470 byte datagrams, IPG target: 11215.21 us (kalman adjust)\n");
            self.out.push_str("UDP buffer size:  208 KByte (default)\n");
        } else {
            self.out.push_str("TCP window size: 16.0 KByte (default)\n");
        }
        self.out.push_str(RULE);
    }

    /// Opens every stream; returns the ports and the rounds of those that came up.
    fn connect(&mut self, net: &mut Net<'_>, first: &Line) -> Vec<(u16, u64)> {
        if self.udp {
            let port = first.near.port;
            return (0..self.count)
                .map(|at| (port.wrapping_add(u16::try_from(at).unwrap_or(0)), 0))
                .collect();
        }
        let mut up = Vec::new();
        let mut waited = 0;
        for _ in 0..self.count {
            let mut line = first.clone();
            line.near.port = net.port();
            let turn = Turn { request: self.amount.unwrap_or(1 << 30), ..Turn::default() };
            let script = Script { turns: vec![turn], patience: self.time, most: MAX_CAPTURED_PACKETS };
            let outcome = net.say(&line, Exchange::Tcp(script)).outcome;
            // A handshake that loses packets goes on for as long as a kernel tries.
            let late = outcome.connected.is_none() && outcome.refused.is_none() && line.open();
            match (outcome.connected, outcome.refused) {
                (Some(took), _) => up.push((line.near.port, took)),
                (None, _) if late => up.push((line.near.port, self.time)),
                (None, Some(took)) => {
                    waited = waited.max(took);
                    self.err.push_str("tcp connect failed: Connection refused\n");
                }
                (None, None) => {
                    waited = CONNECT_TIMEOUT;
                    self.err.push_str("tcp connect failed: Connection timed out\n");
                }
            }
        }
        if up.is_empty() {
            net.passed += waited;
        }
        up
    }

    fn measure(&self, net: &mut Net<'_>, line: &Line, up: Vec<(u16, u64)>) -> Vec<Stream> {
        let seconds = float(self.time) / 1e9;
        let mut shares = streams(line, up.len() as u64, seconds, &mut net.chance);
        if self.udp {
            let target = float(self.target.unwrap_or(1_048_576));
            let open = line.open();
            let kept = 1.0 - line.there.lost();
            shares
                .iter_mut()
                .for_each(|share| *share = if open { target.min(*share * 1.2) * kept } else { 0.0 });
        }
        // What a socket takes before anything is acknowledged: with a slow path it fills, with a fast one it does not show.
        let all: f64 = shares.iter().sum();
        let mut measured = Vec::new();
        for (at, ((port, round), share)) in up.into_iter().zip(shares).enumerate() {
            let seconds = seconds - float(round.min(self.time / 2)) / 1e9;
            let buffered = if all < 200e6 && !self.udp { 64e3 + net.chance.between(0.0, 60e3) } else { 0.0 };
            // The last bytes leave the socket before a stream ends.
            let drains = if share > 0.0 { (buffered * 8.0 / share).min(2.0) } else { 0.0 };
            let arrived = self.amount.map_or(share * (seconds + drains) / 8.0, float);
            let wrote = if self.amount.is_some() { arrived } else { blocks(arrived) };
            let lasts = match self.amount {
                Some(amount) => float(amount) * 8.0 / share.max(1.0),
                None => float(self.time) / 1e9 + drains + net.chance.between(0.000_2, 0.012),
            };
            let received = lasts + net.chance.between(-0.003, 0.006).max(0.001 - lasts);
            let times = (whole(lasts * 1e9), whole(received * 1e9));
            let round = (round / 1_000).clamp(9, 9_999_999);
            measured.push(Stream { id: at + 1, port, round, times, bytes: (whole(wrote), whole(arrived)) });
        }
        measured
    }

    fn table(&mut self, net: &mut Net<'_>, streams: &[Stream], line: &Line) {
        if self.csv {
            return self.rows(net, streams, line);
        }
        self.out.push_str("[ ID] Interval       Transfer     Bandwidth\n");
        if let Some(every) = self.every {
            self.intervals(streams, every);
        }
        for stream in streams {
            self.row(&format!("[{:>3}]", stream.id), (0, stream.times.0), stream.bytes.0);
        }
        if streams.len() > 1 {
            let bytes = streams.iter().map(|stream| stream.bytes.0).sum();
            // The sum ends when the clients stop writing, though what they wrote goes on: it flatters a slow path.
            let written = self.amount.is_none().then_some(self.time + 5_000_000);
            let longest = streams.iter().map(|stream| stream.times.0).max().unwrap_or(0);
            self.row("[SUM]", (0, written.unwrap_or(longest).min(longest)), bytes);
        }
        if self.udp {
            for stream in streams {
                let _ =
                    writeln!(self.out, "[{:>3}] Sent {} datagrams", stream.id, stream.bytes.0 / 1_470 + 1);
            }
            if !line.open() {
                let _ =
                    writeln!(self.err, "[  1] WARNING: did not receive ack of last datagram after 10 tries.");
            }
        }
    }

    fn intervals(&mut self, streams: &[Stream], every: u64) {
        let most = (self.time / every).min(3_600);
        for at in 0..most {
            let mut sum = 0;
            for stream in streams {
                let bytes = stream.bytes.0 / most.max(1);
                sum += bytes;
                self.row(&format!("[{:>3}]", stream.id), (at * every, (at + 1) * every), bytes);
            }
            if streams.len() > 1 {
                self.row("[SUM]", (at * every, (at + 1) * every), sum);
            }
        }
    }

    fn row(&mut self, name: &str, (from, to): (u64, u64), bytes: u64) {
        let seconds = float(to - from) / 1e9;
        let bits = if seconds > 0.0 { float(bytes) * 8.0 / seconds } else { 0.0 };
        let _ = writeln!(
            self.out,
            "{name} {:.4}-{:.4} sec  {}  {}",
            float(from) / 1e9,
            float(to) / 1e9,
            transfer(bytes, self.format),
            rate(bits, self.format)
        );
    }

    fn rows(&mut self, net: &Net<'_>, streams: &[Stream], line: &Line) {
        let at = moment(net.world.now);
        let mut row = |port: u16, id: i64, time: u64, bytes: u64| {
            let seconds = float(time) / 1e9;
            let bits = whole(float(bytes) * 8.0 / seconds.max(1e-9));
            let (own, to, far) = (line.near.address, self.to, self.port);
            let _ = writeln!(self.out, "{at},{own},{port},{to},{far},{id},0.0-{seconds:.1},{bytes},{bits}");
        };
        for stream in streams {
            row(stream.port, i64::try_from(stream.id).unwrap_or(1), stream.times.0, stream.bytes.0);
        }
        if streams.len() > 1 {
            let longest = streams.iter().map(|stream| stream.times.0).max().unwrap_or(0);
            row(0, -1, longest, streams.iter().map(|stream| stream.bytes.0).sum());
        }
    }
}

/// A client writes whole blocks.
fn blocks(bytes: f64) -> f64 {
    (bytes / 131_072.0).ceil().max(1.0) * 131_072.0
}

#[expect(clippy::cast_precision_loss, reason = "times and amounts are far below what is exact")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is negative is zero")]
pub(super) fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}
