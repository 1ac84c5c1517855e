//! HTTP/1: first lines and hosts. Neither a path, which may hold a secret, nor a body.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::hash::Map;
use crate::histogram::Histogram;
use crate::label::Label;
use crate::protocol::dissector::SegmentData;
use crate::protocol::occurrences::Occurrences;
use crate::protocol::text::escaped;
use crate::tcp::Flow;

/// How long a server may be silent at the end of a capture, in nanoseconds: some hold a request until there is news.
const ANSWER_TIMEOUT: u64 = 60_000_000_000;
/// How long a client waits that wants an answer.
const MIN_PENDING_TIME: u64 = 1_000_000_000;

/// A connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exchange {
    place: Option<usize>,
    /// The server is the second end.
    server: Option<bool>,
    /// Where the latest message of each direction begins: what is not behind it is not new.
    latest: [Option<u32>; 2],
    /// Requests since the server spoke last.
    open: u32,
    asked: u64,
    frame: u64,
    tunnel: bool,
    /// Who ended it first, and when.
    ended: Option<(bool, u64)>,
}

impl Exchange {
    /// Takes a segment; says whether what follows is another protocol.
    pub(super) fn take(&mut self, segment_data: &SegmentData<'_>, tally: &mut HttpStats) -> bool {
        let (data, at) = (segment_data.payload.data, segment_data.at);
        if (segment_data.closes || segment_data.resets) && self.ended.is_none() {
            self.ended = Some((at.flipped, at.time));
        }
        if segment_data.payload.wire == 0 {
            return false;
        }
        let [first, second] = &mut self.latest;
        let latest = if at.flipped { second } else { first };
        let new = latest.is_none_or(|latest| (segment_data.seq.wrapping_sub(latest) as i32) > 0);
        let line = read(data).filter(|_| new);
        if line.is_some() {
            *latest = Some(segment_data.seq);
        }
        match line {
            Some(StartLine::Request(method, host)) => {
                self.met(!at.flipped, segment_data, tally);
                self.open += 1;
                (self.asked, self.frame) = (at.time, at.frame);
                self.tunnel = method == "CONNECT";
                if let Some(server) = self.of(tally) {
                    server.asked(method, host);
                }
                false
            }
            Some(StartLine::Status(code)) => {
                self.met(at.flipped, segment_data, tally);
                // Of several at a time, nobody can tell which one was answered.
                let took = (self.open == 1).then(|| at.time.checked_sub(self.asked)).flatten();
                if let Some(server) = self.of(tally) {
                    server.answered(code, at.frame);
                    if let Some(took) = took.filter(|_| code >= 200) {
                        server.latency.add(took);
                    }
                }
                if code >= 200 {
                    self.open = self.open.saturating_sub(1);
                }
                code == 101 || (self.tunnel && (200..300).contains(&code))
            }
            None => {
                if new && self.server == Some(at.flipped) {
                    // It goes on, or its first line was missed.
                    self.open = 0;
                }
                false
            }
        }
    }

    /// Judges a connection that is over, at a time.
    pub(super) fn finish(&self, flow: &Flow, now: u64, tally: &mut HttpStats) {
        let [first, second] = &flow.sides;
        let theirs = if self.server == Some(true) { second } else { first };
        let patient = match self.ended {
            // Whoever goes away at once did not wait for an answer.
            Some((who, when)) if Some(who) != self.server => {
                when.saturating_sub(self.asked) >= MIN_PENDING_TIME
            }
            Some(_) => true,
            None => now.saturating_sub(self.asked) >= ANSWER_TIMEOUT,
        };
        if self.open > 0
            && patient
            && theirs.packets > 0
            && flow.label_count(Label::LostSegment) == 0
            && let Some(server) = self.of(tally)
        {
            server.dropped(u64::from(self.open), self.frame);
        }
    }

    fn met(&mut self, server: bool, segment_data: &SegmentData<'_>, tally: &mut HttpStats) {
        if self.server.is_none() {
            self.server = Some(server);
            let (first, second) = segment_data.at.ends.sockets();
            self.place = tally.place(if server { second } else { first });
        }
    }

    fn of<'a>(&self, tally: &'a mut HttpStats) -> Option<&'a mut HttpServer> {
        tally.servers.get_mut(self.place?)
    }
}

const MAX_SERVERS: usize = 1024;
const MAX_HOSTS: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct HttpServer {
    /// Its address.
    pub(crate) server: SocketAddr,
    /// Requests to it.
    pub(crate) requests: u64,
    /// Answers that are final.
    pub(crate) responses: u64,
    /// Requests after which it said nothing more, though the connection ended.
    pub(crate) unanswered: Occurrences,
    /// Requests by method.
    pub(crate) methods: BTreeMap<&'static str, u64>,
    /// Hosts that were asked for, escaped; not all where there are many.
    pub(crate) hosts: Vec<String>,
    /// Answers by code.
    pub(crate) codes: BTreeMap<u16, u64>,
    /// The first answers that begin with 4, and with 5.
    pub(crate) bad: [Occurrences; 2],
    /// From a request to the line that answers it.
    pub(crate) latency: Histogram,
}

impl HttpServer {
    /// Notes a request.
    fn asked(&mut self, method: &'static str, host: Option<&[u8]>) {
        self.requests += 1;
        *self.methods.entry(method).or_default() += 1;
        if let Some(host) = host.filter(|_| self.hosts.len() < MAX_HOSTS) {
            let host = escaped(host);
            if !self.hosts.contains(&host) {
                self.hosts.push(host);
            }
        }
    }

    /// Notes an answer.
    fn answered(&mut self, code: u16, frame: u64) {
        self.responses += u64::from(code >= 200);
        *self.codes.entry(code).or_default() += 1;
        let [fourth, fifth] = &mut self.bad;
        let frames = match code {
            400..500 => fourth,
            500.. => fifth,
            _ => return,
        };
        frames.add(frame);
    }

    /// Notes requests that came to nothing.
    fn dropped(&mut self, count: u64, frame: u64) {
        self.unanswered.more(count, frame);
    }

    /// Returns how many answers begin with a digit.
    pub(crate) fn class(&self, first: u16) -> u64 {
        self.codes.range(first * 100..(first + 1) * 100).map(|(_, count)| *count).sum()
    }
}

/// All of HTTP/1.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpStats {
    /// Servers, in the order in which they were met.
    pub(crate) servers: Vec<HttpServer>,
    /// Connections to servers that there was no room for.
    pub(crate) left_out: u64,
    places: Map<SocketAddr, usize>,
}

impl HttpStats {
    /// Returns where a server is kept; nothing where there is no more room.
    fn place(&mut self, server: SocketAddr) -> Option<usize> {
        if let Some(place) = self.places.get(&server) {
            return Some(*place);
        }
        if self.servers.len() >= MAX_SERVERS {
            self.left_out += 1;
            return None;
        }
        let place = self.servers.len();
        self.servers.push(HttpServer {
            server,
            requests: 0,
            responses: 0,
            unanswered: Occurrences::default(),
            methods: BTreeMap::new(),
            hosts: Vec::new(),
            codes: BTreeMap::new(),
            bad: [Occurrences::default(), Occurrences::default()],
            latency: Histogram::default(),
        });
        self.places.insert(server, place);
        Some(place)
    }
}

/// Methods with the space behind them.
const METHODS: [(&[u8], &str); 9] = [
    (b"GET ", "GET"),
    (b"POST ", "POST"),
    (b"HEAD ", "HEAD"),
    (b"PUT ", "PUT"),
    (b"DELETE ", "DELETE"),
    (b"OPTIONS ", "OPTIONS"),
    (b"PATCH ", "PATCH"),
    (b"CONNECT ", "CONNECT"),
    (b"TRACE ", "TRACE"),
];

/// What a message begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartLine<'a> {
    /// A request: its method, and the host where it was captured.
    Request(&'static str, Option<&'a [u8]>),
    /// An answer with its code.
    Status(u16),
}

/// Tells whether bytes begin a message.
pub(super) fn begins(data: &[u8]) -> bool {
    read(data).is_some()
}

/// Reads what bytes begin with.
fn read(data: &[u8]) -> Option<StartLine<'_>> {
    if let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', a, b, c, rest @ ..] = data {
        let digits = [a, b, c].into_iter().try_fold(0_u16, |code, digit| {
            digit.is_ascii_digit().then(|| code * 10 + u16::from(digit - b'0'))
        });
        let ends = matches!(rest, [] | [b' ' | b'\r' | b'\n', ..]);
        return digits.filter(|code| ends && (100..600).contains(code)).map(StartLine::Status);
    }
    let (prefix, method) = METHODS.iter().find(|(prefix, _)| data.starts_with(prefix))?;
    let mut lines = data.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let whole = first.len() < data.len();
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let target = first.get(prefix.len()..).unwrap_or_default();
    let known = match first.strip_suffix(b"0").or_else(|| first.strip_suffix(b"1")) {
        Some(start) if whole => start.ends_with(b" HTTP/1."),
        // The line goes on in the next segment, or was not captured.
        _ => !whole && matches!(target, [b'/' | b'*', ..] | [b'h', b't', b't', b'p', ..]),
    };
    known.then(|| StartLine::Request(method, host(lines)))
}

/// Returns the host that a header names.
fn host<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<&'a [u8]> {
    let mut last: Option<&[u8]> = None;
    for line in lines {
        // The last part may be incomplete: a line counts when another one follows.
        if let Some(value) = last.and_then(value) {
            return Some(value);
        }
        if line.is_empty() || line == b"\r" {
            return None;
        }
        last = Some(line);
    }
    None
}

fn value(line: &[u8]) -> Option<&[u8]> {
    let (name, value) = line.split_at_checked(5)?;
    name.eq_ignore_ascii_case(b"host:").then(|| value.trim_ascii()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_method_and_host() {
        let request = b"GET /secret?key=1 HTTP/1.1\r\nAccept: */*\r\nhOST: a.example \r\n\r\nHost: body\r\n";
        assert_eq!(read(request), Some(StartLine::Request("GET", Some(b"a.example"))));
        assert_eq!(read(b"GET / HTTP/1.0\r\n\r\nHost: body\r\n"), Some(StartLine::Request("GET", None)));
        assert_eq!(read(b"GET / HTTP/1.0\r\nHost: a.exam"), Some(StartLine::Request("GET", None)));
        assert_eq!(read(b"POST /a/long/path/that/goes"), Some(StartLine::Request("POST", None)));
    }

    #[test]
    fn a_status_line_is_strict() {
        assert_eq!(read(b"HTTP/1.1 503 Service Unavailable\r\n"), Some(StartLine::Status(503)));
        assert_eq!(read(b"HTTP/1.0 200"), Some(StartLine::Status(200)));
        for other in
            [&b"HTTP/1.1 999 x"[..], b"HTTP/1.1 2000", b"HTTP/2 200", b"HTTP/1.1 2x0 ", b"HTTP/1.1 2"]
        {
            assert_eq!(read(other), None);
        }
    }

    #[test]
    fn what_is_only_similar_is_none() {
        for other in [
            &b"GET it done\r\n"[..],
            b"OPTIONS rtsp://a RTSP/1.0\r\n",
            b"GETX / HTTP/1.1\r\n",
            b"GET it",
            b"",
        ] {
            assert_eq!(read(other), None);
        }
    }
}
