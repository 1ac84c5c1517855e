//! The description of a packet.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::Serialize;

use crate::netfilter::logic::{mark_number, tcp_flag};

/// Where in the kernel a packet is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hook {
    /// As it comes in, before it is routed.
    Prerouting,
    /// For this host.
    Input,
    /// Through this host.
    Forward,
    /// From this host.
    Output,
    /// As it goes out.
    Postrouting,
}

impl Hook {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Prerouting, Self::Input, Self::Forward, Self::Output, Self::Postrouting];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prerouting => "prerouting",
            Self::Input => "input",
            Self::Forward => "forward",
            Self::Output => "output",
            Self::Postrouting => "postrouting",
        }
    }
}

/// What the connection table knows about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It begins a connection.
    New,
    /// It belongs to one.
    Established,
    /// It begins one that another announced, or is an error about one.
    Related,
    /// It belongs to none and begins none.
    Invalid,
    /// Nobody keeps track of it.
    Untracked,
}

impl State {
    pub(in crate::netfilter) fn number(self) -> u128 {
        match self {
            Self::New => 0,
            Self::Established => 1,
            Self::Related => 2,
            Self::Invalid => 3,
            Self::Untracked => 4,
        }
    }
}

impl FromStr for State {
    type Err = PacketError;

    fn from_str(text: &str) -> Result<Self, PacketError> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "new" => Self::New,
            "established" => Self::Established,
            "related" => Self::Related,
            "invalid" => Self::Invalid,
            "untracked" => Self::Untracked,
            _ => {
                return Err(PacketError::new(
                    "state",
                    text,
                    "new, established, related, invalid or untracked",
                ));
            }
        })
    }
}

impl FromStr for Hook {
    type Err = PacketError;

    fn from_str(text: &str) -> Result<Self, PacketError> {
        let found = Self::ALL.into_iter().find(|hook| hook.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            PacketError::new("hook", text, "prerouting, input, forward, output or postrouting")
        })
    }
}

/// A packet as it enters a hook, after any translation before it. What is absent is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Where it is judged.
    pub hook: Hook,
    /// The number of its protocol.
    pub protocol: u8,
    /// Where it comes from.
    pub src: IpAddr,
    /// Where it goes.
    pub dst: IpAddr,
    /// Its source port.
    pub sport: Option<u16>,
    /// Its destination port.
    pub dport: Option<u16>,
    /// The device by which it came.
    pub input: Option<String>,
    /// The device by which it leaves.
    pub output: Option<String>,
    /// What the connection table knows.
    pub state: Option<State>,
    /// The type of an ICMP message, such as 8 for an echo request.
    pub icmp_type: Option<u8>,
    /// Its TCP flags, as they stand in the header: 1 is FIN, 2 SYN, 4 RST, 8 PSH, 16 ACK, 32 URG.
    pub tcp_flags: Option<u8>,
    /// The mark with which it enters the hook; what nobody marked has 0.
    pub mark: Option<u32>,
}

impl Packet {
    /// Reads what every description has; the rest is added.
    ///
    /// # Errors
    /// Fails where a word is none of those that are known, or where the addresses are of two families.
    pub fn parse(hook: &str, protocol: &str, src: &str, dst: &str) -> Result<Self, PacketError> {
        let address = |name, text: &str| -> Result<IpAddr, PacketError> {
            text.parse().map_err(|_| PacketError::new(name, text, "an IPv4 or IPv6 address"))
        };
        let (src, dst) = (address("src", src)?, address("dst", dst)?);
        if src.is_ipv4() != dst.is_ipv4() {
            return Err(PacketError::new("dst", &dst.to_string(), "an address of the family of the source"));
        }
        let protocol = match (protocol.to_ascii_lowercase().as_str(), src.is_ipv6()) {
            ("icmp" | "icmpv6" | "ipv6-icmp", true) => 58,
            ("icmp", false) => 1,
            (word, _) => crate::netfilter::logic::protocol_number(word)
                .and_then(|number| u8::try_from(number).ok())
                .ok_or_else(|| PacketError::new("protocol", word, "tcp, udp, icmp or a number"))?,
        };
        Ok(Self {
            hook: hook.parse()?,
            protocol,
            src,
            dst,
            sport: None,
            dport: None,
            input: None,
            output: None,
            state: None,
            icmp_type: None,
            tcp_flags: None,
            mark: None,
        })
    }

    /// Says to which port it goes.
    #[must_use]
    pub fn dport(mut self, port: u16) -> Self {
        self.dport = Some(port);
        self
    }

    /// Says what the connection table knows.
    #[must_use]
    pub fn state(mut self, state: State) -> Self {
        self.state = Some(state);
        self
    }

    /// Says which TCP flags it has, as in `syn,ack`; `none` is none of them.
    ///
    /// # Errors
    /// Fails where a word is no flag.
    pub fn tcp_flags(mut self, text: &str) -> Result<Self, PacketError> {
        let bits = text.split(',').try_fold(0, |bits, word| Some(bits | tcp_flag(word.trim())?));
        let wanted = "a list of fin, syn, rst, psh, ack, urg, ece and cwr";
        let bits = bits.and_then(|bits| u8::try_from(bits).ok());
        self.tcp_flags = Some(bits.ok_or_else(|| PacketError::new("tcp-flags", text, wanted))?);
        Ok(self)
    }

    /// Says with which mark it enters, as in `5` or `0x10`.
    ///
    /// # Errors
    /// Fails where that is no number of 32 bits.
    pub fn mark(mut self, text: &str) -> Result<Self, PacketError> {
        let mark = mark_number(text).and_then(|mark| u32::try_from(mark).ok());
        self.mark = Some(mark.ok_or_else(|| PacketError::new("mark", text, "a number of 32 bits"))?);
        Ok(self)
    }

    /// Says by which device it came.
    #[must_use]
    pub fn input(mut self, device: &str) -> Self {
        self.input = Some(device.to_owned());
        self
    }
}

/// Why a description is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is no {name}: {wanted} is expected")]
pub struct PacketError {
    /// What was described.
    pub name: &'static str,
    /// What was given.
    pub value: String,
    /// What would do.
    pub wanted: &'static str,
}

impl PacketError {
    pub(super) fn new(name: &'static str, value: &str, wanted: &'static str) -> Self {
        Self { name, value: value.to_owned(), wanted }
    }
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// It passes.
    Accept,
    /// It is gone without a word.
    Drop,
    /// It is refused with a word.
    Reject,
    /// Something that the description does not tell decides.
    Indeterminate,
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Accept => "ACCEPT",
            Self::Drop => "DROP",
            Self::Reject => "REJECT",
            Self::Indeterminate => "INDETERMINATE",
        })
    }
}
