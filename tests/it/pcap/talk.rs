//! Conversations at random: loss, reordering, repetition, wrapping numbers, closed windows, resets, one direction or both.

use super::capture::{End, Segment, Timed, tcp};
use crate::random::Random;

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;

/// The pauses between frames, in microseconds: around every limit that the analysis knows.
const PAUSES: [u64; 9] = [0, 40, 900, 2_900, 3_000, 3_100, 19_990, 20_010, 250_000];
const SIZES: [usize; 6] = [0, 1, 2, 100, 536, 1448];

/// One side as it sees itself.
#[derive(Debug, Clone, Default)]
struct Side {
    isn: u32,
    next: u32,
    acked: u32,
    win: u16,
    shift: u8,
    sent: Vec<(u32, usize)>,
}

/// Returns the frames of a few conversations, in the order in which they were captured.
pub(super) fn conversations(random: &mut Random) -> Vec<Timed> {
    let mut frames = Vec::new();
    for flow in 0..=random.below(3) {
        let start = 1_700_000_000_000_000 + u64::try_from(random.below(200_000)).unwrap();
        frames.extend(conversation(random, u16::try_from(flow).unwrap(), start));
    }
    frames.sort_by_key(|(time, _)| *time);
    disturb(random, &mut frames);
    frames
}

/// Swaps and repeats a few frames, as a network with several paths does.
fn disturb(random: &mut Random, frames: &mut Vec<Timed>) {
    for _ in 0..random.below(4) {
        let at = random.below(frames.len().saturating_sub(1));
        if at + 1 < frames.len() {
            let times = (frames.get(at).unwrap().0, frames.get(at + 1).unwrap().0);
            frames.swap(at, at + 1);
            // The bytes change places; the clock mostly goes on.
            if random.below(8) > 0 {
                frames.get_mut(at).unwrap().0 = times.0;
                frames.get_mut(at + 1).unwrap().0 = times.1;
            }
        }
        let again = frames.get(random.below(frames.len())).cloned();
        if let Some(again) = again.filter(|_| random.below(3) == 0) {
            let at = frames.iter().position(|frame| *frame == again).unwrap();
            frames.insert(at + 1, (again.0 + 5, again.1));
        }
    }
}

fn conversation(random: &mut Random, flow: u16, start: u64) -> Vec<Timed> {
    let six = random.below(5) == 0;
    let ends = [End { host: 1, port: 40_000 + flow }, End { host: 2, port: *random.pick(&[80, 443, 53]) }];
    let only = (random.below(8) == 0).then(|| random.below(2));
    let mut talk = Talk { sides: [Side::default(), Side::default()], frames: Vec::new(), now: start };
    talk.begin(random);
    if random.below(5) > 0 {
        talk.handshake(random);
    }
    for _ in 0..20 + random.below(80) {
        talk.step(random);
    }
    talk.frames
        .into_iter()
        .filter(|(_, side, _)| only.is_none_or(|only| only == *side))
        .map(|(time, side, segment)| {
            let (from, to) = if side == 0 { (0, 1) } else { (1, 0) };
            (time, tcp(six, *ends.get(from).unwrap(), *ends.get(to).unwrap(), &segment))
        })
        .collect()
}

struct Talk {
    sides: [Side; 2],
    frames: Vec<(u64, usize, Segment)>,
    now: u64,
}

impl Talk {
    fn begin(&mut self, random: &mut Random) {
        for side in &mut self.sides {
            // Half of the time the numbers wrap soon.
            let near = u32::try_from(random.below(6000)).unwrap();
            side.isn = if random.below(2) == 0 { 0_u32.wrapping_sub(near) } else { random.next() as u32 };
            side.next = side.isn.wrapping_add(1);
            side.win = *random.pick(&[502, 1024, 8192, 64_240]);
            side.shift = u8::try_from(random.below(9)).unwrap();
        }
    }

    fn side(&mut self, which: usize) -> &mut Side {
        self.sides.get_mut(which).unwrap()
    }

    fn emit(&mut self, random: &mut Random, which: usize, seq: u32, len: usize, flags: u8) {
        self.now += *random.pick(&PAUSES);
        let options = self.options(random, which, flags);
        let (ack, win) = (self.side(1 - which).next, self.side(which).win);
        let ack = if flags & ACK == 0 { 0 } else { ack };
        self.side(which).acked = ack;
        let segment = Segment { seq, ack, flags, win, options, len };
        self.frames.push((self.now, which, segment));
    }

    fn options(&mut self, random: &mut Random, which: usize, flags: u8) -> Vec<u8> {
        let shift = self.side(which).shift;
        match (flags & SYN != 0, random.below(4)) {
            (true, 0) => Vec::new(),
            (true, 1) => vec![2, 4, 5, 0xb4],
            (true, _) => vec![2, 4, 5, 0xb4, 1, 3, 3, shift],
            (false, 0) => vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2],
            (false, _) => Vec::new(),
        }
    }

    fn handshake(&mut self, random: &mut Random) {
        let [a, b] = [self.side(0).isn, self.side(1).isn];
        for _ in 0..=random.below(2) {
            self.emit(random, 0, a, 0, SYN);
        }
        self.emit(random, 1, b, 0, SYN | ACK);
        self.emit(random, 0, a.wrapping_add(1), 0, ACK);
    }

    fn step(&mut self, random: &mut Random) {
        let which = random.below(2);
        let next = self.side(which).next;
        let size = *random.pick(&SIZES);
        match random.below(24) {
            0..=7 => self.send(random, which, size),
            8 | 9 => self.emit(random, which, next, 0, ACK),
            10 => {
                for _ in 0..=random.below(4) {
                    self.repeat_ack(random, which);
                }
            }
            // Lost before it was captured.
            11 => self.side(which).next = next.wrapping_add(u32::try_from(size).unwrap()),
            12 | 13 => {
                if let Some((seq, len)) = self.earlier(random, which) {
                    self.emit(random, which, seq, len, ACK | PSH);
                }
            }
            14 => {
                let size = random.below(2);
                self.emit(random, which, next.wrapping_sub(1), size, ACK);
            }
            15 => {
                self.side(which).win = 0;
                self.emit(random, which, next, 0, ACK);
            }
            16 => self.emit(random, which, next, 1, ACK),
            17 => {
                self.side(which).win = *random.pick(&[0, 1, 502, 505, 8192]);
                self.emit(random, which, next, 0, ACK);
            }
            18 => self.fill(random, which),
            19 => {
                let back = u32::try_from(random.below(700)).unwrap();
                self.emit(random, which, next.wrapping_sub(back), size, ACK);
            }
            20 => {
                let far = u32::try_from(random.below(3000)).unwrap();
                let peer = self.side(1 - which);
                peer.next = peer.next.wrapping_add(far);
                self.emit(random, which, next, 0, ACK);
            }
            _ => self.turn(random, which),
        }
    }

    /// What happens seldom: ends, resets, openings.
    fn turn(&mut self, random: &mut Random, which: usize) {
        let (isn, next) = (self.side(which).isn, self.side(which).next);
        match random.below(12) {
            0 | 1 => {
                self.emit(random, which, next, 0, FIN | ACK);
                self.side(which).next = next.wrapping_add(1);
            }
            2 => self.emit(random, which, next.wrapping_sub(1), 0, FIN | ACK),
            3 => self.emit(random, which, next, 0, RST | ACK),
            4 => self.emit(random, which, isn, 0, SYN),
            5 => self.emit(random, which, isn, 0, SYN | ACK),
            6 => {
                let side = self.side(which);
                side.isn = side.isn.wrapping_add(70_000);
                side.next = side.isn.wrapping_add(1);
                let isn = side.isn;
                let flags = if random.below(3) == 0 { SYN | ACK } else { SYN };
                self.emit(random, which, isn, 0, flags);
            }
            _ => self.send(random, which, 1448),
        }
    }

    fn send(&mut self, random: &mut Random, which: usize, size: usize) {
        let side = self.side(which);
        let seq = side.next;
        side.sent.push((seq, size));
        side.next = seq.wrapping_add(u32::try_from(size).unwrap());
        self.emit(random, which, seq, size, ACK | PSH);
    }

    fn repeat_ack(&mut self, random: &mut Random, which: usize) {
        self.now += *random.pick(&PAUSES);
        let side = self.side(which);
        let segment =
            Segment { seq: side.next, ack: side.acked, flags: ACK, win: side.win, ..Segment::default() };
        self.frames.push((self.now, which, segment));
    }

    /// Fills the window of the other side to the last byte, if that is not too much.
    fn fill(&mut self, random: &mut Random, which: usize) {
        let peer = self.side(1 - which).clone();
        let next = self.side(which).next;
        for shift in [0, u32::from(peer.shift)] {
            let room = peer.acked.wrapping_add(u32::from(peer.win) << shift).wrapping_sub(next);
            if (1..60_000).contains(&room) {
                self.send(random, which, usize::try_from(room).unwrap());
                return;
            }
        }
    }

    fn earlier(&mut self, random: &mut Random, which: usize) -> Option<(u32, usize)> {
        let sent = &self.side(which).sent;
        (!sent.is_empty()).then(|| *random.pick(sent))
    }
}
