//! A fingerprint of an IP packet: everything that routers leave alone, and nothing else.

use std::hash::{BuildHasher as _, Hasher as _};

use crate::pcap::hash::Seeded;
use crate::pcap::label::Label;
use crate::pcap::layers::{Arp, Net, Place, Quote, Sink, View, Walker};
use crate::pcap::read::Frame;

/// An IP packet in brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Print {
    /// Equal for the same packet at both places.
    pub(super) mark: u64,
    /// From whom, to whom.
    pub(super) net: Net,
}

/// Makes fingerprints of frames.
#[derive(Debug)]
pub(super) struct Printer {
    walker: Walker,
    marker: Marker,
}

#[derive(Debug)]
struct Marker {
    seeded: Seeded,
    most: usize,
    found: Option<Print>,
}

impl Printer {
    /// Makes a printer that looks at so many bytes behind the IP header.
    pub(super) fn new(seeded: Seeded, most: usize) -> Self {
        Self { walker: Walker::default(), marker: Marker { seeded, most, found: None } }
    }

    /// Returns the fingerprint of a frame's outermost IP packet.
    pub(super) fn print(&mut self, frame: &Frame<'_>) -> Option<Print> {
        self.marker.found = None;
        self.walker.walk(frame, &mut self.marker);
        self.marker.found
    }
}

impl Marker {
    fn digest(&self, packet: View<'_>, net: Net) -> Option<u64> {
        let mut hasher = self.seeded.build_hasher();
        let (protocol, rest) = match net {
            Net::Four(from, to) => {
                hasher.write_u32(u32::from_be_bytes(from));
                hasher.write_u32(u32::from_be_bytes(to));
                // Identification, flags and offset.
                hasher.write_u32(packet.u32(4)?);
                (packet.u8(9)?, packet.skip(usize::from(packet.u8(0)? & 15) * 4))
            }
            Net::Six(from, to) => {
                hasher.write_u128(u128::from_be_bytes(from));
                hasher.write_u128(u128::from_be_bytes(to));
                (packet.u8(6)?, packet.skip(40))
            }
        };
        hasher.write_u64(rest.wire as u64);
        hasher.write_u8(protocol);
        let bytes = rest.data.get(..self.most).unwrap_or(rest.data);
        // Cards compute checksums late: at the sender they are not there yet.
        let (before, after) = match protocol {
            6 => (16, 18),
            17 => (6, 8),
            _ => (bytes.len(), bytes.len()),
        };
        hasher.write(bytes.get(..before).unwrap_or(bytes));
        hasher.write(bytes.get(after..).unwrap_or_default());
        Some(hasher.finish())
    }
}

impl Sink for Marker {
    fn packet(&mut self, packet: View<'_>, place: &Place) {
        if self.found.is_none() && !place.quoted {
            self.found = self.digest(packet, place.net).map(|mark| Print { mark, net: place.net });
        }
    }

    fn mark(&mut self, _label: Label) {}
    fn tcp(&mut self, _view: View<'_>, _place: &Place) {}
    fn udp(&mut self, _ports: (u16, u16), _payload: View<'_>, _place: &Place) {}
    fn dns(&mut self, _ports: (u16, u16), _message: View<'_>, _place: &Place) {}
    fn icmp(&mut self, _six: bool, _view: View<'_>, _place: &Place) {}
    fn about(&mut self, _quote: &Quote, _net: Net, _ports: Option<(u16, u16)>) {}
    fn arp(&mut self, _arp: &Arp) {}
    fn unknown_link(&mut self, _link: u16) {}
}
