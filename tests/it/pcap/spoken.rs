//! Conversations written packet by packet, each made for one fact.

use ghost_pcap::{Analyzer, Scope, Summary, frames};

use super::capture::{End, Segment, Timed, pcap, tcp};

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(super) const ACK: u8 = 16;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Client,
    Server,
}
pub(super) use Who::{Client, Server};

/// Conversations between two hosts. The client's numbers start at 1,000, the server's at 5,000; times are microseconds.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) frames: Vec<Timed>,
    pub(super) now: u64,
    /// The client's port.
    pub(super) port: u16,
    /// The time to live of what the server sends next.
    pub(super) hops: u8,
    pub(super) win: u16,
    six: bool,
    ids: [u16; 2],
}

impl Scenario {
    pub(super) fn new() -> Self {
        let (now, port) = (1_700_000_000_000_000, 40_000);
        Self { frames: Vec::new(), now, port, hops: 57, win: 60_000, six: false, ids: [100, 7000] }
    }

    pub(super) fn over_six() -> Self {
        Self { six: true, ..Self::new() }
    }

    fn ends(&self, who: Who) -> (End, End) {
        let (client, server) = (End { host: 1, port: self.port }, End { host: 2, port: 80 });
        if who == Client { (client, server) } else { (server, client) }
    }

    /// Says something so many milliseconds later.
    pub(super) fn say(&mut self, who: Who, later: u64, flags: u8, (seq, ack, len): (u32, u32, usize)) {
        self.say_with(who, later, flags, (seq, ack, len), Vec::new());
    }

    pub(super) fn say_with(
        &mut self,
        who: Who,
        later: u64,
        flags: u8,
        (seq, ack, len): (u32, u32, usize),
        options: Vec<u8>,
    ) {
        self.now += later * 1000;
        let (from, to) = self.ends(who);
        let win = if flags & RST == 0 { self.win } else { 0 };
        let mut frame = tcp(self.six, from, to, &Segment { seq, ack, flags, win, options, len });
        let [client, server] = &mut self.ids;
        let (id, hops) = if who == Client { (client, 64) } else { (server, self.hops) };
        *id += 1;
        if self.six {
            *frame.get_mut(21).unwrap() = hops;
        } else {
            frame.get_mut(18..20).unwrap().copy_from_slice(&id.to_be_bytes());
            *frame.get_mut(22).unwrap() = hops;
        }
        self.frames.push((self.now, frame));
    }

    /// Opens the connection: both ends take 1,460 bytes, the windows are not scaled.
    pub(super) fn open(&mut self) {
        let mss = vec![2, 4, 5, 0xb4];
        self.say_with(Client, 10, SYN, (1000, 0, 0), mss.clone());
        self.say_with(Server, 10, SYN | ACK, (5000, 1001, 0), mss);
        self.say(Client, 1, ACK, (1001, 5001, 0));
    }

    /// Closes it where nothing else was said than `client` and `server` bytes.
    pub(super) fn close(&mut self, client: u32, server: u32) {
        let (mine, theirs) = (1001 + client, 5001 + server);
        self.say(Client, 5, FIN | ACK, (mine, theirs, 0));
        self.say(Server, 10, FIN | ACK, (theirs, mine + 1, 0));
        self.say(Client, 1, ACK, (mine + 1, theirs + 1, 0));
    }

    /// A request and an answer of some segments, as they should be.
    pub(super) fn healthy() -> Self {
        let mut scenario = Self::new();
        for port in 0..5 {
            scenario.port = 40_000 + port;
            scenario.open();
            scenario.say(Client, 1, ACK, (1001, 5001, 300));
            scenario.say(Server, 10, ACK, (5001, 1301, 0));
            for at in 0..20 {
                scenario.say(Server, 1, ACK, (5001 + at * 1460, 1301, 1460));
            }
            scenario.say(Client, 1, ACK, (1301, 5001 + 20 * 1460, 0));
            scenario.close(300, 20 * 1460);
        }
        scenario
    }

    /// Quotes the first bytes of a frame in an ICMP error of the router 10.0.0.9 (or its like), a millisecond later.
    pub(super) fn error(&mut self, of: usize, (kind, code): (u8, u8), mtu: u16, quoted: usize) {
        let (_, frame) = self.frames.get(of).unwrap().clone();
        let header = if self.six { 40 } else { 20 };
        let mut icmp = vec![kind, code, 0, 0, 0, 0];
        icmp.extend(mtu.to_be_bytes());
        icmp.extend(frame.get(14..14 + header + quoted).unwrap());
        let size = u16::try_from(icmp.len()).unwrap();
        let mut error = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9];
        if self.six {
            error.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            error.extend(size.to_be_bytes());
            error.extend([58, 64]);
            for host in [9, 1] {
                error.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
            }
        } else {
            error.extend([8, 0, 0x45, 0]);
            error.extend((size + 20).to_be_bytes());
            error.extend([0, 1, 0, 0, 64, 1, 0, 0, 10, 0, 0, 9, 10, 0, 0, 1]);
        }
        error.extend(icmp);
        self.now += 1000;
        self.frames.push((self.now, error));
    }

    /// Forgets the last frame: it was sent, and not captured.
    pub(super) fn miss(&mut self) {
        self.frames.pop();
    }

    pub(super) fn capture(&self) -> Vec<u8> {
        pcap(&self.frames, 65_535)
    }

    pub(super) fn summary(&self) -> Summary {
        let mut analyzer = Analyzer::new(Scope::default());
        let capture = self.capture();
        let ending = frames(&capture[..], |frame| {
            analyzer.feed(frame);
        });
        analyzer.finish(&ending.unwrap())
    }

    /// Returns the codes of all findings, the worst first.
    pub(super) fn codes(&self) -> Vec<&'static str> {
        self.summary().findings.iter().map(|finding| finding.code).collect()
    }
}
