//! What is remembered of two captures: each IP packet in brief, and who talks with whom.

use std::net::{IpAddr, SocketAddr};

use super::print::{ICMP, ICMP_SIX, Print, Printer, TCP};
use crate::hash::{Map, Seeded};
use crate::layers::Net;
use crate::read::Frame;
use crate::tcp::Ends;

/// How many packets of each capture are remembered. Of longer ones the beginning is compared, and the answer says so.
pub(super) const MOST_PACKETS: usize = 2_000_000;
/// How many pairs of addresses are told apart.
const MOST_WAYS: usize = 65_536;
/// How many conversations are told apart.
const MOST_LANES: usize = 131_072;

/// No place, no partner.
pub(super) const NONE: u32 = u32::MAX;

/// Which capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The first.
    A,
    /// The second.
    B,
}

impl Which {
    /// Returns the other one.
    pub(super) fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Picks of two what belongs to it.
    pub(super) fn of<T>(self, a: T, b: T) -> T {
        match self {
            Self::A => a,
            Self::B => b,
        }
    }

    /// Its name in answers.
    pub(super) fn name(self) -> &'static str {
        self.of("A", "B")
    }
}

/// A packet at one of both places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// When, by the clock of that place.
    pub(super) time: u64,
    /// Its fingerprint.
    pub(super) mark: u64,
    /// The one that translators leave alone.
    pub(super) core: u64,
    /// Its frame.
    pub(super) frame: u32,
    /// Its pair of addresses.
    pub(super) way: u32,
    /// Its conversation, twice, and one more where the second end sent it.
    pub(super) lane: u32,
    /// The number of a TCP segment.
    pub(super) seq: u32,
    /// How much it carries.
    pub(super) len: u32,
    /// The identification.
    pub(super) id: u16,
    /// The largest segment that a SYN offers.
    pub(super) mss: u16,
    /// The transport's checksum.
    pub(super) check: u16,
    /// The VLAN.
    pub(super) vlan: u16,
    /// Time to live.
    pub(super) hops: u8,
    /// Type of service.
    pub(super) tos: u8,
    /// Flags of TCP.
    pub(super) flags: u8,
    /// Data that was sent before.
    pub(super) again: bool,
}

/// A conversation: two ends of one protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    /// The protocol's number.
    pub(super) protocol: u8,
    /// The ends.
    pub(super) ends: Ends,
    /// The second end asked, as far as is known.
    pub(super) flipped: bool,
    /// A SYN told who asks.
    pub(super) sure: bool,
    /// The highest number that was sent, of each direction in each capture.
    next: [[Option<u32>; 2]; 2],
}

impl Lane {
    /// Returns who asked, and whom.
    pub(super) fn sockets(&self) -> (SocketAddr, SocketAddr) {
        let (first, second) = self.ends.sockets();
        if self.flipped { (second, first) } else { (first, second) }
    }
}

/// One of the captures.
#[derive(Debug, Default)]
pub(super) struct Shot {
    /// Its IP packets in order.
    pub(super) seen: Vec<Seen>,
    /// The earliest time of any frame.
    pub(super) first: Option<u64>,
    /// The latest one, as far as packets were remembered.
    pub(super) last: u64,
    /// Packets that were left out.
    pub(super) skipped: u64,
}

/// Both captures.
#[derive(Debug)]
pub(super) struct Both {
    /// The first.
    pub(super) a: Shot,
    /// The second.
    pub(super) b: Shot,
    /// Pairs of addresses.
    pub(super) ways: Vec<Net>,
    /// Conversations.
    pub(super) lanes: Vec<Lane>,
    /// Packets whose conversation has no place.
    pub(super) pooled: u64,
    known_ways: Map<Net, u32>,
    known_lanes: Map<(u8, Ends), u32>,
    printer: Printer,
    most: usize,
}

impl Both {
    /// Begins; at most so many bytes behind an IP header are held by both captures.
    pub(super) fn new(bytes: usize, most: usize) -> Self {
        Self {
            a: Shot::default(),
            b: Shot::default(),
            ways: Vec::new(),
            lanes: Vec::new(),
            pooled: 0,
            known_ways: Map::default(),
            known_lanes: Map::default(),
            printer: Printer::new(Seeded::default(), bytes),
            most,
        }
    }

    /// Takes a frame of one of them.
    pub(super) fn take(&mut self, which: Which, frame: &Frame<'_>) {
        let (most, printed) = (self.most, self.printer.print(frame));
        let shot = self.shot_mut(which);
        let full = shot.seen.len() >= most;
        if full {
            shot.skipped += u64::from(printed.is_some());
            return;
        }
        shot.first = Some(shot.first.map_or(frame.time, |first| first.min(frame.time)));
        shot.last = shot.last.max(frame.time);
        let Some(print) = printed else {
            return;
        };
        let (Some(way), lane) = (self.way(print.net), self.lane(&print)) else {
            self.shot_mut(which).skipped += 1;
            return;
        };
        let again = self.note(which, lane, &print);
        self.shot_mut(which).seen.push(Seen {
            time: frame.time,
            mark: print.mark,
            core: print.core,
            frame: u32::try_from(frame.number).unwrap_or(NONE),
            way,
            lane,
            seq: print.seq,
            len: print.len,
            id: print.id,
            mss: print.mss,
            check: print.check,
            vlan: print.vlan,
            hops: print.hops,
            tos: print.tos,
            flags: print.flags,
            again,
        });
    }

    /// Returns one of them.
    pub(super) fn shot(&self, which: Which) -> &Shot {
        which.of(&self.a, &self.b)
    }

    /// Returns the conversation of a packet.
    pub(super) fn lane_of(&self, seen: &Seen) -> Option<&Lane> {
        self.lanes.get((seen.lane / 2) as usize).filter(|_| seen.lane != NONE)
    }

    /// Returns source and destination of a way.
    pub(super) fn ends_of(&self, way: u32) -> Option<(IpAddr, IpAddr)> {
        self.ways.get(way as usize).map(|net| (net.source(), net.destination()))
    }

    fn shot_mut(&mut self, which: Which) -> &mut Shot {
        which.of(&mut self.a, &mut self.b)
    }

    fn way(&mut self, net: Net) -> Option<u32> {
        if let Some(known) = self.known_ways.get(&net) {
            return Some(*known);
        }
        if self.ways.len() >= MOST_WAYS {
            return None;
        }
        let new = self.ways.len() as u32;
        self.ways.push(net);
        self.known_ways.insert(net, new);
        Some(new)
    }

    fn lane(&mut self, print: &Print) -> u32 {
        let (ends, flipped) = Ends::new(print.net, print.ports);
        let key = (print.protocol, ends);
        let place = match self.known_lanes.get(&key) {
            Some(known) => *known,
            None if self.lanes.len() >= MOST_LANES => {
                self.pooled += 1;
                return NONE;
            }
            None => {
                let new = self.lanes.len() as u32;
                // Until a SYN tells: who has the higher port asks, or who spoke first.
                let asked = match print.protocol {
                    ICMP => print.flags == 0,
                    ICMP_SIX => print.flags == 129,
                    _ => print.ports.0 < 1024 && print.ports.0 < print.ports.1,
                };
                let lane = Lane {
                    protocol: print.protocol,
                    ends,
                    flipped: flipped != asked,
                    sure: false,
                    next: [[None; 2]; 2],
                };
                self.lanes.push(lane);
                self.known_lanes.insert(key, new);
                new
            }
        };
        place * 2 + u32::from(flipped)
    }

    /// Notes who asks; says whether the data was sent before.
    fn note(&mut self, which: Which, lane: u32, print: &Print) -> bool {
        let Some(known) = self.lanes.get_mut((lane / 2) as usize).filter(|_| lane != NONE) else {
            return false;
        };
        if print.protocol != TCP {
            return false;
        }
        let flipped = lane % 2 == 1;
        if print.flags & 0x12 == 2 {
            (known.flipped, known.sure) = (flipped, true);
        } else if print.flags & 0x12 == 0x12 && !known.sure {
            (known.flipped, known.sure) = (!flipped, true);
        }
        let carried = print.len + u32::from(print.flags & 2 != 0) + u32::from(print.flags & 1 != 0);
        if carried == 0 {
            return false;
        }
        let [own_a, own_b] = &mut known.next;
        let [first, second] = which.of(own_a, own_b);
        let next = if flipped { second } else { first };
        let end = print.seq.wrapping_add(carried);
        let fresh = print.flags & 2 != 0 && next.is_none_or(|next| next != end);
        let ahead = next.is_none_or(|next| (end.wrapping_sub(next) as i32) > 0);
        if fresh || ahead {
            *next = Some(end);
        }
        !fresh && !ahead
    }
}
