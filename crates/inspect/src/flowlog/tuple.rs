//! One line of a flow log.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The direction of a flow, as the interface saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// It came to the interface.
    Inbound,
    /// It left the interface.
    Outbound,
}

/// What a line says of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It began; nothing is counted yet.
    Began,
    /// It goes on: counted since the line before.
    Continues,
    /// It ended: counted since the line before.
    Ended,
    /// A rule denied it.
    Denied,
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuple {
    /// Milliseconds since 1970.
    pub at: u64,
    /// Who called.
    pub source: IpAddr,
    /// Who was called.
    pub destination: IpAddr,
    /// The port of the caller.
    pub source_port: u16,
    /// The port that was called.
    pub port: u16,
    /// The number of the protocol.
    pub protocol: u8,
    /// As seen by the interface.
    pub side: Side,
    /// What became of it.
    pub state: State,
    /// Packets from the caller.
    pub packets: u64,
    /// Packets to the caller.
    pub packets_back: u64,
    /// Bytes from the caller.
    pub bytes: u64,
    /// Bytes to the caller.
    pub bytes_back: u64,
}

/// A time below this is in seconds, as versions before the fourth have it: as milliseconds it would be in 1973.
const FIRST_MILLISECOND: u64 = 100_000_000_000;
/// The end of the year 9999: what is later is no time.
const LAST_MILLISECOND: u64 = 253_402_300_799_999;

impl Tuple {
    /// Reads a line: time, ends, ports, protocol, direction, state, encryption, and what was counted.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(',').map(str::trim);
        let time: u64 = words.next()?.parse().ok()?;
        let at = if time < FIRST_MILLISECOND { time.checked_mul(1_000)? } else { time };
        if at > LAST_MILLISECOND {
            return None;
        }
        let (source, destination) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let (source_port, port) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let protocol = protocol(words.next()?)?;
        let side = match words.next()? {
            "I" => Side::Inbound,
            "O" => Side::Outbound,
            _ => return None,
        };
        let state = |word| match word {
            "B" => Some(State::Began),
            "C" => Some(State::Continues),
            "E" => Some(State::Ended),
            _ => None,
        };
        let state = match words.next()? {
            "D" => State::Denied,
            // The log of a security group says first that it let a flow pass; its first version says no more.
            "A" => match words.next() {
                Some(word) => state(word)?,
                None => State::Began,
            },
            word => {
                let state = state(word)?;
                // How it was encrypted decides nothing.
                words.next();
                state
            }
        };
        let mut counts = words.map(|word| word.parse::<u64>().unwrap_or(0));
        let mut count = || counts.next().unwrap_or(0);
        let (packets, bytes, packets_back, bytes_back) = (count(), count(), count(), count());
        Some(Self {
            at,
            source,
            destination,
            source_port,
            port,
            protocol,
            side,
            state,
            packets,
            packets_back,
            bytes,
            bytes_back,
        })
    }
}

/// Reads a protocol: its number, or the letter of older versions.
fn protocol(word: &str) -> Option<u8> {
    match word {
        "T" => Some(6),
        "U" => Some(17),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_no_calendar_has_is_none() {
        let line = |time: &str| Tuple::parse(&format!("{time},10.0.0.6,10.0.0.7,1,443,6,I,D,NX,0,0,0,0"));
        assert!(line("253402300799999").is_some());
        for time in ["253402300800000", "18446744073709551615", "99999999999999999999", "-1"] {
            assert_eq!(line(time), None, "{time}");
        }
    }

    #[test]
    fn a_line_of_the_documentation() {
        let tuple =
            Tuple::parse("1663146003606,10.0.0.6,52.239.184.180,23956,443,6,O,E,NX,3,767,2,1580").unwrap();
        assert_eq!((tuple.at, tuple.port, tuple.protocol), (1_663_146_003_606, 443, 6));
        assert_eq!((tuple.side, tuple.state), (Side::Outbound, State::Ended));
        assert_eq!((tuple.packets, tuple.bytes, tuple.packets_back, tuple.bytes_back), (3, 767, 2, 1580));
    }

    #[test]
    fn lines_of_a_security_group_are_read_in_both_versions() {
        let first = Tuple::parse("1487282421,42.119.146.95,10.1.0.4,51529,5358,T,I,D").unwrap();
        assert_eq!((first.state, first.side, first.port), (State::Denied, Side::Inbound, 5358));
        let first = Tuple::parse("1487282370,163.28.66.17,10.1.0.4,61771,3389,T,I,A").unwrap();
        assert_eq!((first.state, first.packets), (State::Began, 0));
        let second = Tuple::parse("1542110377,10.0.0.4,13.67.143.118,59831,443,T,O,A,B,,,,").unwrap();
        assert_eq!((second.state, second.packets), (State::Began, 0));
        let second = Tuple::parse("1542110424,10.0.0.4,13.67.143.117,59932,443,T,O,A,E,1,66,2,99").unwrap();
        assert_eq!((second.state, second.packets, second.bytes), (State::Ended, 1, 66));
        assert_eq!((second.packets_back, second.bytes_back), (2, 99));
        let denied = Tuple::parse("1542110437,125.64.94.197,10.0.0.4,59752,18264,T,I,D,B,,,,").unwrap();
        assert_eq!(denied.state, State::Denied);
        assert_eq!(Tuple::parse("1542110437,125.64.94.197,10.0.0.4,59752,18264,T,I,A,X"), None);
    }

    #[test]
    fn seconds_are_known_by_their_size() {
        let tuple = Tuple::parse("1663146003,10.0.0.6,10.0.0.7,1,443,T,I,B,NX").unwrap();
        assert_eq!((tuple.at, tuple.packets), (1_663_146_003_000, 0));
    }

    #[test]
    fn what_is_no_line_is_none() {
        for line in [
            "",
            ",,,",
            "x,10.0.0.6,10.0.0.7,1,443,6,O,B,NX",
            "1663146003,10.0.0.6,10.0.0.7,1,443,6,O,Z,NX",
            "1663146003,10.0.0.6,10.0.0.7,1,99999,6,O,B,NX",
            "1663146003,nobody,10.0.0.7,1,443,6,O,B,NX",
        ] {
            assert_eq!(Tuple::parse(line), None, "{line}");
        }
        // Counts that are too large for a number are no counts.
        let tuple =
            Tuple::parse("1663146003,10.0.0.6,10.0.0.7,1,443,6,O,B,NX,99999999999999999999,1,1,1").unwrap();
        assert_eq!((tuple.packets, tuple.bytes), (0, 1));
    }
}
