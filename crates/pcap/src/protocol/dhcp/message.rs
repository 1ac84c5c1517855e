//! One message, as far as it is there.

use std::net::Ipv4Addr;

use crate::layers::View;

const MAGIC_COOKIE: u32 = 0x6382_5363;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageType {
    /// Somebody searches for servers.
    Discover,
    /// A server offers an address.
    Offer,
    /// A client wants one.
    Request,
    /// The address is taken.
    Decline,
    /// The client has it.
    Ack,
    /// The client cannot have it.
    Nak,
    /// The client gives it back.
    Release,
    /// The client wants all but an address.
    Inform,
}

impl MessageType {
    fn of(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Discover,
            2 => Self::Offer,
            3 => Self::Request,
            4 => Self::Decline,
            5 => Self::Ack,
            6 => Self::Nak,
            7 => Self::Release,
            8 => Self::Inform,
            _ => return None,
        })
    }

    /// Returns its name in answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Discover => "discover",
            Self::Offer => "offer",
            Self::Request => "request",
            Self::Decline => "decline",
            Self::Ack => "ack",
            Self::Nak => "nak",
            Self::Release => "release",
            Self::Inform => "inform",
        }
    }
}

/// A message of the older version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DhcpMessage {
    /// What it is.
    pub(crate) kind: MessageType,
    /// Its number.
    pub(crate) id: u32,
    /// The client's hardware address.
    pub(crate) client: [u8; 6],
    /// The server, as it calls itself.
    pub(crate) server: Option<Ipv4Addr>,
    /// The first router that it names.
    pub(crate) router: Option<Ipv4Addr>,
    /// The first resolver that it names.
    pub(crate) resolver: Option<Ipv4Addr>,
}

impl DhcpMessage {
    /// Reads a message; nothing where its kind is not there.
    pub(super) fn read(view: View<'_>) -> Option<Self> {
        if !matches!(view.u8(0)?, 1 | 2) || view.u32(236)? != MAGIC_COOKIE {
            return None;
        }
        let address = |at| view.bytes::<4>(at).map(Ipv4Addr::from);
        let mut kind = None;
        let (mut server, mut router, mut resolver) = (None, None, None);
        let mut at = 240;
        while let Some(option) = view.u8(at) {
            if option == 255 {
                break;
            }
            if option == 0 {
                at += 1;
                continue;
            }
            let Some(length) = view.u8(at + 1) else {
                break;
            };
            match (option, length) {
                (53, 1) => kind = view.u8(at + 2).and_then(MessageType::of),
                (54, 4) => server = address(at + 2),
                (3, 4..) => router = address(at + 2),
                (6, 4..) => resolver = address(at + 2),
                _ => {}
            }
            at += 2 + usize::from(length);
        }
        Some(Self { kind: kind?, id: view.u32(4)?, client: view.bytes(28)?, server, router, resolver })
    }
}

/// Returns the name of a message of the newer version.
pub(super) fn v6(kind: u8) -> Option<&'static str> {
    Some(match kind {
        1 => "solicit",
        2 => "advertise",
        3 => "request",
        4 => "confirm",
        5 => "renew",
        6 => "rebind",
        7 => "reply",
        8 => "release",
        9 => "decline",
        10 => "reconfigure",
        11 => "information_request",
        12 => "relay_forward",
        13 => "relay_reply",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_past_those_that_do_not_matter() {
        let mut message = vec![0; 236];
        message[0] = 2;
        message[4..8].copy_from_slice(&[0, 0, 0, 9]);
        message[28..34].copy_from_slice(&[2, 0, 0, 0, 0, 7]);
        message.extend([0x63, 0x82, 0x53, 0x63, 53, 1, 2, 0, 51, 4, 0, 0, 1, 0, 54, 4, 10, 0, 0, 1]);
        message.extend([3, 8, 10, 0, 0, 254, 10, 0, 0, 253, 255, 6, 4, 9, 9, 9, 9]);
        let read = |end: usize| DhcpMessage::read(View::new(&message[..end], message.len()));
        let expected = DhcpMessage {
            kind: MessageType::Offer,
            id: 9,
            client: [2, 0, 0, 0, 0, 7],
            server: Some(Ipv4Addr::new(10, 0, 0, 1)),
            router: Some(Ipv4Addr::new(10, 0, 0, 254)),
            resolver: None,
        };
        assert_eq!(read(message.len()), Some(expected));
        for end in 0..message.len() {
            assert_eq!(read(end).is_some(), end >= 243, "{end}");
        }
    }
}
