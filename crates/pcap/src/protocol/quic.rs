//! QUIC as far as it is open: that a connection was asked for, and by which version. Names are encrypted, if only so that nobody
//! stumbles over them; they are left so.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::occurrences::Occurrences;
use crate::hash::Map;
use crate::layers::View;

const MAX_SERVERS: usize = 1024;
/// The longest connection number of the versions that are known.
const MAX_CONNECTION_ID_LEN: u8 = 20;
const VERSION_2: u32 = 0x6b33_43cf;

/// A packet that asks for a connection, or for another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packet {
    /// A first packet, of either side.
    Initial(u32),
    /// The server speaks other versions.
    Negotiation,
    /// Some other packet with a long header.
    Other(u32),
}

/// Reads the beginning of a datagram; nothing where it is no packet with a long header.
pub(super) fn read(view: View<'_>) -> Option<Packet> {
    let first = view.u8(0)?;
    if first & 0x80 == 0 {
        return None;
    }
    let version = view.u32(1)?;
    let ours = usize::from(view.u8(5).filter(|length| *length <= MAX_CONNECTION_ID_LEN)?);
    let theirs = usize::from(view.u8(6 + ours).filter(|length| *length <= MAX_CONNECTION_ID_LEN)?);
    let mut at = 7 + ours + theirs;
    if version == 0 {
        let versions = view.wire.checked_sub(at)?;
        let listed = view.u32(at)?;
        return (versions % 4 == 0 && known(listed)).then_some(Packet::Negotiation);
    }
    if !known(version) || first & 0x40 == 0 {
        return None;
    }
    let initial = if version == VERSION_2 { 1 } else { 0 };
    if (first >> 4) & 3 != initial {
        return Some(Packet::Other(version));
    }
    let token = number(view, &mut at)?;
    at = at.checked_add(usize::try_from(token).ok()?)?;
    // With the length this is certain; behind a long token it may not have been captured.
    let fits = number(view, &mut at).is_none_or(|length| length >= 16 && length <= view.wire as u64);
    fits.then_some(Packet::Initial(version))
}

/// Tells whether a version is one that has this header: 1, 2, drafts, and those that only see to it that unknown ones are borne.
fn known(version: u32) -> bool {
    version == 1
        || version == VERSION_2
        || version >> 8 == 0x00ff_0000
        || version & 0x0f0f_0f0f == 0x0a0a_0a0a
}

/// Reads a number of variable length.
fn number(view: View<'_>, at: &mut usize) -> Option<u64> {
    let first = view.u8(*at)?;
    let length = 1_usize << (first >> 6);
    let mut value = u64::from(first & 0x3f);
    for next in 1..length {
        value = (value << 8) | u64::from(view.u8(*at + next)?);
    }
    *at += length;
    Some(value)
}

/// Returns the name of a version.
pub(crate) fn version(version: u32) -> String {
    match version {
        1 => "1".to_owned(),
        VERSION_2 => "2".to_owned(),
        draft if draft >> 8 == 0x00ff_0000 => format!("draft-{}", draft & 0xff),
        other => format!("0x{other:08x}"),
    }
}

/// An attempt at a connection, kept with the datagrams between its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionAttempt {
    version: u32,
    /// The server is the second end.
    server: bool,
    initials: u32,
    /// Packets with a long header, of both directions.
    long: u32,
    negotiated: bool,
    pub(super) frame: u64,
}

impl ConnectionAttempt {
    /// Begins with a packet that the server sent, or got.
    pub(super) fn new(server: bool, frame: u64) -> Self {
        Self { version: 0, server, initials: 0, long: 0, negotiated: false, frame }
    }

    /// Takes a packet.
    pub(super) fn take(&mut self, packet: Packet, flipped: bool) {
        self.long += 1;
        match packet {
            Packet::Initial(version) if flipped != self.server => {
                self.initials += 1;
                self.version = version;
            }
            // What the server speaks counts.
            Packet::Initial(version) => self.version = version,
            Packet::Other(_) => {}
            Packet::Negotiation => self.negotiated = true,
        }
    }

    /// Tells whether no packet but those that open a connection was sent: where it goes on, an answer was only not captured.
    pub(super) fn only_opens(&self, packets: u32) -> bool {
        packets == self.long
    }

    /// Says which end the server is.
    pub(super) fn server(&self) -> bool {
        self.server
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct QuicServer {
    /// Connections that were asked for.
    pub(crate) connections: u64,
    /// First packets of clients.
    pub(crate) initials: u64,
    /// Connections to which nothing came back.
    pub(crate) unanswered: u64,
    /// The first packets of those.
    pub(crate) silent: Occurrences,
    /// Connections that had to be asked for by another version.
    pub(crate) negotiations: u64,
    /// Connections by version.
    pub(crate) versions: BTreeMap<u32, u64>,
}

/// All of QUIC.
#[derive(Debug, Clone, Default)]
pub(crate) struct QuicStats {
    pub(crate) servers: Map<SocketAddr, QuicServer>,
    /// Connections to servers that there was no room for.
    pub(crate) left_out: u64,
}

impl QuicStats {
    /// Takes an attempt that is over.
    pub(super) fn take(&mut self, attempt: &ConnectionAttempt, server: SocketAddr, answered: bool) {
        if self.servers.len() >= MAX_SERVERS && !self.servers.contains_key(&server) {
            self.left_out += 1;
            return;
        }
        let known = self.servers.entry(server).or_default();
        known.connections += 1;
        known.initials += u64::from(attempt.initials);
        known.negotiations += u64::from(attempt.negotiated);
        if known.versions.len() < 8 || known.versions.contains_key(&attempt.version) {
            *known.versions.entry(attempt.version).or_default() += 1;
        }
        if !answered && attempt.initials > 0 {
            known.unanswered += 1;
            known.silent.more(u64::from(attempt.initials), attempt.frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initial(first: u8, version: u32, token: usize) -> Vec<u8> {
        let mut packet = vec![first];
        packet.extend(version.to_be_bytes());
        packet.extend([8, 1, 2, 3, 4, 5, 6, 7, 8, 0]);
        packet.push(token as u8);
        packet.extend(vec![9; token]);
        packet.extend([0x44, 0x80]);
        packet.resize(1200, 0);
        packet
    }

    #[track_caller]
    fn check(packet: &[u8], expected: Option<Packet>) {
        assert_eq!(read(View::new(packet, packet.len())), expected);
    }

    #[test]
    fn first_packets_of_each_version_are_known() {
        check(&initial(0xc3, 1, 0), Some(Packet::Initial(1)));
        check(&initial(0xd0, VERSION_2, 40), Some(Packet::Initial(VERSION_2)));
        check(&initial(0xc0, 0xff00_001d, 0), Some(Packet::Initial(0xff00_001d)));
        check(&initial(0xe0, 1, 0), Some(Packet::Other(1)));
        check(&[0x80, 0, 0, 0, 0, 0, 1, 7, 0, 0, 0, 1], Some(Packet::Negotiation));
    }

    #[test]
    fn what_is_something_else_is_none() {
        check(&initial(0x43, 1, 0), None);
        check(&initial(0xc3, 0x5130_3433, 0), None);
        check(&[0xc3, 0, 0, 0, 1, 21, 0, 0], None);
        check(&[0xff; 40], None);
        for end in 0..60 {
            check_any(&initial(0xc3, 1, 33), end);
        }
    }

    fn check_any(packet: &[u8], end: usize) {
        let found = read(View::new(&packet[..end], packet.len()));
        assert!(matches!(found, None | Some(Packet::Initial(1))));
    }
}
