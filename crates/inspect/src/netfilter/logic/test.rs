//! Tests over the fields of a packet.

use super::span::Spans;

/// A field of a packet, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::netfilter) enum Field {
    /// 4 or 6.
    Family,
    Protocol,
    Source,
    Destination,
    Sport,
    Dport,
    IcmpType,
    IcmpCode,
    TcpFlags,
    /// 0 new, 1 established, 2 related, 3 invalid, 4 untracked.
    State,
    Mark,
    /// The number of the name of the device, in [`super::Names`].
    In,
    Out,
}

impl Field {
    pub(in crate::netfilter) const ALL: [Self; 13] = [
        Self::Family,
        Self::Protocol,
        Self::Source,
        Self::Destination,
        Self::Sport,
        Self::Dport,
        Self::IcmpType,
        Self::IcmpCode,
        Self::TcpFlags,
        Self::State,
        Self::Mark,
        Self::In,
        Self::Out,
    ];

    /// Returns the largest value.
    pub(in crate::netfilter) fn last(self) -> u128 {
        match self {
            Self::Family => 6,
            Self::Protocol | Self::IcmpType | Self::IcmpCode | Self::TcpFlags => 255,
            Self::Source | Self::Destination => u128::MAX,
            Self::Sport | Self::Dport => 65_535,
            Self::State => 4,
            Self::Mark | Self::In | Self::Out => u128::from(u32::MAX),
        }
    }

    /// Returns the field in words.
    pub(in crate::netfilter) fn name(self) -> &'static str {
        match self {
            Self::Family => "the family",
            Self::Protocol => "the protocol",
            Self::Source => "the source address",
            Self::Destination => "the destination address",
            Self::Sport => "the source port",
            Self::Dport => "the destination port",
            Self::IcmpType => "the ICMP type",
            Self::IcmpCode => "the ICMP code",
            Self::TcpFlags => "the TCP flags",
            Self::State => "the connection state",
            Self::Mark => "the mark",
            Self::In => "the input device",
            Self::Out => "the output device",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::netfilter) enum Test {
    /// Holds for these values of a field.
    Is(Field, Spans),
    /// Holds where the masked value of a field is one of these.
    Mask(Field, Box<u128>, Spans),
    /// It is not known from the description of a packet; the number stands for the text in [`super::Names`].
    Atom(u32),
    Always,
    Never,
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
}

impl Test {
    pub(in crate::netfilter) fn one(field: Field, value: u128) -> Self {
        Self::Is(field, Spans::one(value))
    }

    pub(in crate::netfilter) fn masked(field: Field, mask: u128, spans: Spans) -> Self {
        Self::Mask(field, Box::new(mask), spans)
    }

    pub(in crate::netfilter) fn not(self) -> Self {
        match self {
            Self::Is(field, spans) => Self::Is(field, spans.complement(field.last())),
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::Not(inner) => *inner,
            other @ (Self::Mask(..) | Self::Atom(_) | Self::All(_) | Self::Any(_)) => {
                Self::Not(Box::new(other))
            }
        }
    }

    pub(in crate::netfilter) fn negated(self, negated: bool) -> Self {
        if negated { self.not() } else { self }
    }

    pub(in crate::netfilter) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always, other) | (other, Self::Always) => other,
            (Self::All(mut tests), Self::All(more)) => {
                tests.extend(more);
                Self::All(tests)
            }
            (Self::All(mut tests), other) => {
                tests.push(other);
                Self::All(tests)
            }
            (first, second) => Self::All(vec![first, second]),
        }
    }
}
