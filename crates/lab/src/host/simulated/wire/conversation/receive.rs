//! What either end of a connection does with a segment that comes.

use super::seen::Segment;
use super::tcp::Turn;
use super::tcp::{ACK, DELAYED_ACK_NANOS, Event, FIN, RST, SYN, Tcp};
use crate::host::simulated::wire::path::End;

impl Tcp<'_> {
    pub(super) fn comes(&mut self, near: bool, segment: &Segment, now: u64) {
        if segment.flags & RST != 0 {
            if near {
                let result = &mut self.transcript.outcome;
                let up = result.connected.is_some();
                result.refused = result.refused.or(Some(now).filter(|_| !up));
                result.gave_up = result.gave_up.or(Some(now).filter(|_| up));
            }
            self.open = false;
            return;
        }
        self.end(near).peer_clock = segment.clocks.0;
        if segment.flags & SYN != 0 {
            return self.greets(near, segment, now);
        }
        if !near && self.far.una == 0 && self.far.highest == 0 {
            return;
        }
        self.hears(near, segment, now);
        self.reads(near, segment, now);
    }

    /// A connection begins.
    fn greets(&mut self, near: bool, segment: &Segment, now: u64) {
        let first = self.end(near).wants == 0;
        self.end(near).wants = 1.max(self.end(near).wants);
        if near {
            self.near.acknowledged(segment.ack, &[], now);
            self.near.alarm += 1;
            if first {
                self.transcript.outcome.connected = Some(now);
                self.acknowledge(true, now + 4_000);
                self.ask(now + 9_000);
            } else {
                self.acknowledge(true, now);
            }
            return;
        }
        match self.line.end {
            End::Answers => {
                if self.far.una == 0 {
                    self.emit(false, (0, 0), SYN | ACK, now + 9_000);
                }
            }
            End::Refuses => self.reset(false, segment, now + 7_000),
            End::Silent => {}
        }
    }

    /// The one who began says the next thing, or that it is done.
    fn ask(&mut self, now: u64) {
        while let Some(turn) = self.script.turns.get(self.turn) {
            self.near.written += turn.request;
            if turn.answer > 0 {
                return self.push(true, now);
            }
            self.turn += 1;
        }
        self.near.closing = true;
        self.push(true, now);
        if self.script.turns.iter().all(|turn| turn.request == 0 && turn.answer == 0) {
            self.transcript.outcome.done = Some(now);
        }
    }

    /// Learns from what a segment acknowledges.
    fn hears(&mut self, near: bool, segment: &Segment, now: u64) {
        let pure = segment.len == 0 && segment.flags & (FIN | SYN) == 0;
        let end = self.end(near);
        let news = end.acknowledged(segment.ack, &segment.sacked, now);
        let in_flight = end.una < end.highest;
        if news {
            end.alarm += 1;
            if in_flight {
                self.watch(near, now);
            }
        } else if pure && in_flight {
            end.repeats += 1;
            let beyond: u64 = end.sacked.iter().map(|(begin, end)| end - begin).sum();
            if end.repair.is_none() && (end.repeats >= 3 || beyond >= 3 * end.most) && end.tries == 0 {
                end.repairs();
            }
        }
        if let Some((seq, len, last)) = self.end(near).hole() {
            let flags = if last { FIN | ACK } else { ACK };
            self.emit(near, (seq, len), flags, now);
        }
        self.push(near, now);
        let all = self.near.una > self.near.written;
        let silent = self.script.turns.last().is_none_or(|turn| turn.answer == 0);
        if near && news && all && silent && self.near.closing && self.transcript.outcome.done.is_none() {
            self.transcript.outcome.done = Some(now);
        }
    }

    /// Takes the bytes of a segment, and acknowledges them now or soon.
    fn reads(&mut self, near: bool, segment: &Segment, now: u64) {
        let ends = segment.flags & FIN != 0;
        if segment.len == 0 && !ends {
            return;
        }
        let stop = segment.seq + u64::from(segment.len) + u64::from(ends);
        let end = self.end(near);
        if ends {
            end.last = Some(stop);
        }
        let in_order = end.takes(segment.seq, stop);
        end.owes += 1;
        let over = end.last == Some(end.wants);
        let hurry = !in_order || end.owes >= 2 || ends;
        let before = self.transcript.seen.len();
        self.acts(near, now);
        if over && !self.end(near).closing {
            self.end(near).closing = true;
            self.push(near, now + 12_000);
        }
        let spoke = self.transcript.seen.len() > before && self.end(near).owes == 0;
        if hurry && !spoke {
            self.acknowledge(near, now + 3_000);
        } else if !spoke {
            let end = self.end(near);
            end.reminder += 1;
            let number = end.reminder;
            self.plan(now + DELAYED_ACK_NANOS, Event::Reminder { near, number });
        }
        if over && near && self.near.una >= self.near.end() {
            self.finish(now);
        }
    }

    /// The programs go on with what came.
    fn acts(&mut self, near: bool, now: u64) {
        let sum = |turns: &[Turn], count: usize, part: fn(&Turn) -> u64| {
            turns.iter().take(count).map(part).fold(0, u64::saturating_add)
        };
        let turns = &self.script.turns;
        if near {
            if self.near.wants > 1 && self.transcript.outcome.first.is_none() {
                self.transcript.outcome.first = Some(now);
            }
            let whole = sum(turns, self.turn + 1, |turn| turn.answer);
            let asked = turns.get(self.turn).is_some_and(|turn| turn.answer > 0);
            if asked && self.near.wants > whole {
                self.turn += 1;
                if self.turn >= turns.len() {
                    self.transcript.outcome.done = Some(now);
                }
                self.ask(now + 6_000);
            }
            return;
        }
        while let Some(turn) = turns.get(self.answered) {
            if self.far.wants <= sum(turns, self.answered + 1, |turn| turn.request) {
                break;
            }
            let at = now.saturating_add(turn.think.max(8_000));
            let answered = self.answered;
            self.answered += 1;
            if turn.answer > 0 {
                self.plan(at, Event::Answer(answered));
            }
        }
    }

    /// The last acknowledgement is in flight.
    fn finish(&mut self, now: u64) {
        if self.near.owes > 0 {
            self.acknowledge(true, now + 3_000);
        }
    }
}
