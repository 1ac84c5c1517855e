//! One handshake: both directions, until both speak in secret or it came to nothing.

use super::record::{Alert, RecordEvent, Records};
use super::server::{HandshakeEnding, TlsServer, TlsStats};
use super::{certificate, hello};
use crate::label::Label;
use crate::protocol::dissector::SegmentData;
use crate::protocol::reassembler::{Chunk, Reassembler};
use crate::protocol::stats::PacketContext;
use crate::protocol::text::escaped;
use crate::tcp::Flow;

/// How long a server may take, in nanoseconds, before silence counts as none.
const ANSWER_TIMEOUT: u64 = 3_000_000_000;
/// How long a client waits that wants an answer.
const MIN_PENDING_TIME: u64 = 1_000_000_000;
/// A secret record of version 1.3 that holds an alert alone: two bytes, its kind, a tag.
const ALERT_ALONE: u16 = 19;

#[derive(Debug, Clone, Default)]
pub(crate) struct Handshake {
    streams: [HandshakeStream; 2],
    state: HandshakeState,
}

/// One direction.
#[derive(Debug, Clone, Default)]
struct HandshakeStream {
    order: Option<Reassembler>,
    records: Records,
}

#[derive(Debug, Clone, Default)]
struct HandshakeState {
    /// The client is the second end.
    client: Option<bool>,
    place: Option<usize>,
    /// When and where the client's hello was.
    hello: Option<(u64, u64)>,
    /// Where the server's was.
    answered: Option<u64>,
    version: u16,
    /// The client speaks in secret; the server does.
    secret: [bool; 2],
    /// Something is missing: nothing can be said of how it went on.
    lost: bool,
    /// All that there is to say was said.
    over: bool,
    /// Who ended it, by a reset or in order, and when.
    ended: Option<(bool, bool, u64)>,
    began: (u64, u64),
}

impl Handshake {
    /// Returns about how many bytes it takes.
    pub(in crate::protocol) fn buffered_bytes(&self) -> usize {
        let streams: usize = self
            .streams
            .iter()
            .map(|stream| {
                stream.order.as_ref().map_or(0, Reassembler::buffered_bytes) + stream.records.buffered_bytes()
            })
            .sum();
        size_of::<Self>() + streams
    }

    /// Takes a segment; says whether there is nothing more to learn.
    pub(in crate::protocol) fn take(&mut self, segment_data: &SegmentData<'_>, tally: &mut TlsStats) -> bool {
        let at = segment_data.at;
        let Self { streams: [first, second], state } = self;
        let stream = if at.flipped { second } else { first };
        if state.began.1 == 0 {
            state.began = (at.time, at.frame);
        }
        let HandshakeStream { order, records } = stream;
        if segment_data.payload.wire > 0 && !records.done() {
            let order =
                order.get_or_insert_with(|| Reassembler::at(segment_data.start.unwrap_or(segment_data.seq)));
            order.take(segment_data.seq, segment_data.payload.data, segment_data.payload.wire, |chunk| {
                match chunk {
                    Chunk::Next(data) => records
                        .take(data, |on_record_event| state.on_record_event(on_record_event, at, tally)),
                    Chunk::Behind(data) => {
                        state.lost = true;
                        records.again(data);
                        records
                            .take(data, |on_record_event| state.on_record_event(on_record_event, at, tally));
                    }
                    Chunk::Cut => {
                        state.lost = true;
                        if let Some((kind, body)) = records.unfinished() {
                            state.message(kind, body, at, tally);
                        }
                    }
                }
            });
        }
        if (segment_data.closes || segment_data.resets) && state.ended.is_none() {
            state.ended = Some((at.flipped, segment_data.resets, at.time));
        }
        state.over
    }

    /// Judges a handshake whose connection is over, at a time.
    pub(in crate::protocol) fn finish(mut self, flow: &Flow, now: u64, tally: &mut TlsStats) {
        let waiting = self
            .streams
            .iter()
            .any(|stream| stream.order.as_ref().is_some_and(|order| order.buffered_bytes() > 0));
        let Self { streams: [first, second], state } = &mut self;
        // A hello that is not all there: that may be just what is wrong.
        for (stream, flipped) in [(first, false), (second, true)] {
            if state.hello.is_none()
                && state.client.is_none()
                && let Some((1, body)) = stream.records.unfinished()
            {
                let (time, frame) = state.began;
                state.message(1, body, PacketContext { ends: flow.ends, flipped, frame, time }, tally);
            }
        }
        state.judge(flow, now, waiting, tally);
    }
}

impl HandshakeState {
    fn on_record_event(&mut self, on_record_event: RecordEvent<'_>, at: PacketContext, tally: &mut TlsStats) {
        match on_record_event {
            RecordEvent::Message(kind, body) => self.message(kind, body, at, tally),
            RecordEvent::Alert(level, what) => self.alert(level, what, at, tally),
            RecordEvent::Secret(length) => self.secret(length, at, tally),
            RecordEvent::Foreign => {
                if self.client.is_some_and(|client| client != at.flipped)
                    && self.answered.is_none()
                    && let Some(server) = self.server(tally)
                {
                    server.foreign.add(at.frame);
                }
                self.over = true;
            }
        }
    }

    fn message(&mut self, kind: u8, body: &[u8], at: PacketContext, tally: &mut TlsStats) {
        match kind {
            1 if self.hello.is_none() => {
                let hello = hello::client(body);
                self.begin(at.flipped, hello.name.map(escaped), at, tally);
                self.hello = Some((at.time, at.frame));
                if let Some(server) = self.server(tally) {
                    server.hellos += 1;
                    if let Some(protocol) = hello.protocol {
                        server.prefers(protocol);
                    }
                }
            }
            2 if self.answered.is_none() => {
                let hello = hello::server(body);
                self.begin(!at.flipped, None, at, tally);
                self.answered = Some(at.frame);
                self.version = hello.version;
                let asked = self.hello.and_then(|(time, _)| at.time.checked_sub(time));
                if let Some(server) = self.server(tally) {
                    server.answered += 1;
                    server.versions.entry(hello.version).or_default().add(at.frame);
                    // The cipher of a hello that asks for another one will be the same.
                    if let Some(cipher) = hello.cipher {
                        *server.ciphers.entry(cipher).or_default() += 1;
                    }
                    if let Some(took) = asked {
                        server.latency.add(took);
                    }
                }
            }
            11 if self.client == Some(!at.flipped) && self.version <= 0x0303 => {
                let until = certificate::not_after(body);
                if let (Some(until), Some(server)) = (until, self.server(tally)) {
                    server.not_after = Some(until);
                    if until < (at.time / 1_000_000_000) as i64 {
                        server.expired.add(at.frame);
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes who the client is, and whom it wants.
    fn begin(&mut self, client: bool, name: Option<String>, at: PacketContext, tally: &mut TlsStats) {
        if self.client.is_none() {
            self.client = Some(client);
            let (first, second) = at.ends.sockets();
            self.place = tally.place(if client { first } else { second }, name);
        }
    }

    fn alert(&mut self, level: u8, what: u8, at: PacketContext, tally: &mut TlsStats) {
        if self.client.is_none() {
            // Without a hello the lower port is the server's.
            let (first, second) = at.ends.sockets();
            self.begin(second.port() > first.port(), None, at, tally);
        }
        let alert = Alert { fatal: level == 2, server: self.client != Some(at.flipped), what };
        if let Some(server) = self.server(tally) {
            server.alerted(alert, at.frame);
        }
        self.over |= alert.fatal || what == 0;
    }

    fn secret(&mut self, length: u16, at: PacketContext, tally: &mut TlsStats) {
        let Some(client) = self.client else {
            self.over = true;
            return;
        };
        let [ours, theirs] = &mut self.secret;
        *(if at.flipped == client { &mut *ours } else { &mut *theirs }) = true;
        let (client_done, server_done) = (*ours, *theirs);
        let newest = self.version >= 0x0304;
        if at.flipped == client && newest && length == ALERT_ALONE && self.answered.is_some() {
            if let Some(server) = self.server(tally) {
                server.hidden.add(at.frame);
            }
            self.over = true;
        } else if client_done && self.answered.is_none() {
            // Data before the answer; what follows in that direction cannot be distinguished from it.
            self.lost = true;
        } else if client_done && (server_done || newest) {
            if let Some(server) = self.server(tally) {
                server.finished += 1;
            }
            self.over = true;
        }
    }

    fn judge(&mut self, flow: &Flow, now: u64, waiting: bool, tally: &mut TlsStats) {
        let Some(client) = self.client.filter(|_| !self.over) else {
            return;
        };
        let [first, second] = &flow.sides;
        let theirs = if client { first } else { second };
        let ending = match self.ended {
            Some((who, true, _)) if who == client => HandshakeEnding::ClientReset,
            Some((who, false, _)) if who == client => HandshakeEnding::ClientClosed,
            Some((_, true, _)) => HandshakeEnding::ServerReset,
            Some((_, false, _)) => HandshakeEnding::ServerClosed,
            None => HandshakeEnding::Silence,
        };
        if let (Some((time, frame)), None) = (self.hello, self.answered) {
            let patient = match self.ended {
                // Whoever goes away at once did not wait for an answer.
                Some((who, _, when)) if who == client => when.saturating_sub(time) >= MIN_PENDING_TIME,
                Some(_) => true,
                None => now.saturating_sub(time) >= ANSWER_TIMEOUT,
            };
            if patient
                && theirs.packets > 0
                && theirs.bytes == 0
                && let Some(server) = self.server(tally)
            {
                server.unanswered.add(frame);
                *server.silences.entry(ending).or_default() += 1;
            }
            return;
        }
        let whole = !self.lost && !waiting && flow.label_count(Label::LostSegment) == 0;
        if let (Some(frame), Some(_), Some(_), true) = (self.answered, self.hello, self.ended, whole)
            && let Some(server) = self.server(tally)
        {
            server.aborted.add(frame);
            *server.ends.entry(ending).or_default() += 1;
        }
    }

    fn server<'a>(&self, tally: &'a mut TlsStats) -> Option<&'a mut TlsServer> {
        tally.servers.get_mut(self.place?)
    }
}
