//! One connection that carries requests and answers.

use super::server::{HttpServer, HttpStats};
use super::start_line::{self, StartLine};
use crate::label::Label;
use crate::protocol::dissector::SegmentData;
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
    pub(in crate::protocol) fn take(
        &mut self,
        segment_data: &SegmentData<'_>,
        tally: &mut HttpStats,
    ) -> bool {
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
        let line = start_line::read(data).filter(|_| new);
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
    pub(in crate::protocol) fn finish(&self, flow: &Flow, now: u64, tally: &mut HttpStats) {
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
