//! Labels of frames: protocols, and the TCP analysis flags of Wireshark.

/// A property of a frame that the counts speak of. Its name is that of the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Label {
    /// A TCP header, at any depth.
    Tcp,
    /// A UDP header, at any depth.
    Udp,
    /// An `ICMPv4` header.
    Icmp,
    /// An `ICMPv6` header.
    Icmpv6,
    /// ARP or RARP.
    Arp,
    /// A DNS message, or what resembles one on ports that nothing else uses.
    Dns,
    /// Sent again; holds the next two.
    Retransmission,
    /// Sent again right after repeated acknowledgments.
    FastRetransmission,
    /// Sent again although it was acknowledged.
    SpuriousRetransmission,
    /// Late by less than a round trip.
    OutOfOrder,
    /// The same acknowledgment once more.
    DuplicateAck,
    /// Something before this segment was not captured.
    LostSegment,
    /// It acknowledges what was not captured.
    AckLostSegment,
    /// The receiver takes nothing more.
    ZeroWindow,
    /// The sender has filled the receiver's window.
    WindowFull,
    /// One byte into a closed window.
    ZeroWindowProbe,
    /// The answer to that.
    ZeroWindowProbeAck,
    /// A segment that only asks whether the other end is there.
    KeepAlive,
    /// The answer to that.
    KeepAliveAck,
    /// Only the window changed.
    WindowUpdate,
    /// The same ports with another initial sequence number.
    ReusedPorts,
    /// RST is set.
    Reset,
    /// SYN without ACK.
    Syn,
    /// SYN with ACK.
    SynAck,
    /// FIN is set.
    Fin,
}

/// Every label in the order of the counts.
pub(crate) const ALL: [Label; 25] = [
    Label::Tcp,
    Label::Udp,
    Label::Icmp,
    Label::Icmpv6,
    Label::Arp,
    Label::Dns,
    Label::Retransmission,
    Label::FastRetransmission,
    Label::SpuriousRetransmission,
    Label::OutOfOrder,
    Label::DuplicateAck,
    Label::LostSegment,
    Label::AckLostSegment,
    Label::ZeroWindow,
    Label::WindowFull,
    Label::ZeroWindowProbe,
    Label::ZeroWindowProbeAck,
    Label::KeepAlive,
    Label::KeepAliveAck,
    Label::WindowUpdate,
    Label::ReusedPorts,
    Label::Reset,
    Label::Syn,
    Label::SynAck,
    Label::Fin,
];

impl Label {
    /// Returns the name of the count.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
            Self::Icmpv6 => "icmpv6",
            Self::Arp => "arp",
            Self::Dns => "dns",
            Self::Retransmission => "retransmission",
            Self::FastRetransmission => "fast_retransmission",
            Self::SpuriousRetransmission => "spurious_retransmission",
            Self::OutOfOrder => "out_of_order",
            Self::DuplicateAck => "duplicate_ack",
            Self::LostSegment => "lost_segment",
            Self::AckLostSegment => "ack_lost_segment",
            Self::ZeroWindow => "zero_window",
            Self::WindowFull => "window_full",
            Self::ZeroWindowProbe => "zero_window_probe",
            Self::ZeroWindowProbeAck => "zero_window_probe_ack",
            Self::KeepAlive => "keep_alive",
            Self::KeepAliveAck => "keep_alive_ack",
            Self::WindowUpdate => "window_update",
            Self::ReusedPorts => "reused_ports",
            Self::Reset => "reset",
            Self::Syn => "syn",
            Self::SynAck => "syn_ack",
            Self::Fin => "fin",
        }
    }

    /// Returns every label.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &ALL
    }

    fn bit(self) -> u32 {
        1 << (self as u32)
    }
}

impl std::str::FromStr for Label {
    type Err = UnknownLabel;

    fn from_str(text: &str) -> Result<Self, UnknownLabel> {
        ALL.into_iter().find(|label| label.name() == text).ok_or(UnknownLabel)
    }
}

/// No count has that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no count has that name; `ghost pcap analyze --json` shows them all under `counts`")]
pub struct UnknownLabel;

/// The labels of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Labels(u32);

impl Labels {
    /// Adds a label.
    pub fn set(&mut self, label: Label) {
        self.0 |= label.bit();
    }

    /// Adds all labels of another set.
    pub fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Tells whether a label is there.
    #[must_use]
    pub fn has(self, label: Label) -> bool {
        self.0 & label.bit() != 0
    }

    /// Tells whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn each(self, mut then: impl FnMut(usize)) {
        let mut bits = self.0;
        while bits != 0 {
            then(bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_has_a_place_and_a_name_of_its_own() {
        for (place, label) in ALL.into_iter().enumerate() {
            assert_eq!(label as usize, place);
            assert_eq!(label.name().parse(), Ok(label));
        }
        assert_eq!("tls".parse::<Label>(), Err(UnknownLabel));
    }

    #[test]
    fn a_set_gives_back_what_was_put_in() {
        let mut labels = Labels::default();
        labels.set(Label::Fin);
        labels.set(Label::Tcp);
        let mut seen = Vec::new();
        labels.each(|place| seen.push(ALL[place]));
        assert_eq!(seen, [Label::Tcp, Label::Fin]);
        assert!(labels.has(Label::Fin) && !labels.has(Label::Udp));
    }
}
