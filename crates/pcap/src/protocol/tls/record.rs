//! The TLS record layer of one direction up to its encryption, and alerts.

/// How much of a message is kept: a hello is shorter, and of certificates the first one matters.
const MAX_MESSAGE_BYTES: usize = 4096;

const CHANGE: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;

/// What a direction says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordEvent<'a> {
    /// A message of the handshake: its type, and its body as far as it was kept.
    Message(u8, &'a [u8]),
    /// A plain alert: level and description.
    Alert(u8, u8),
    /// From here on all is secret; the length of the first secret record.
    Secret(u16),
    /// This is something else.
    Foreign,
}

/// One direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Records {
    head: PartialHeader<5>,
    kind: u8,
    left: u16,
    length: u16,
    message: PartialHeader<4>,
    missing: u32,
    body: Vec<u8>,
    alert: PartialHeader<2>,
    changed: bool,
    /// Nothing more is to be learned here.
    done: bool,
}

/// A few bytes that come one by one.
#[derive(Debug, Clone, Copy)]
struct PartialHeader<const N: usize> {
    bytes: [u8; N],
    have: u8,
}

impl<const N: usize> Default for PartialHeader<N> {
    fn default() -> Self {
        Self { bytes: [0; N], have: 0 }
    }
}

impl<const N: usize> PartialHeader<N> {
    /// Takes what is missing; returns all when it is there, and begins anew.
    fn take(&mut self, from: &mut &[u8]) -> Option<[u8; N]> {
        while let Some(place) = self.bytes.get_mut(usize::from(self.have)) {
            let (first, rest) = from.split_first()?;
            *place = *first;
            *from = rest;
            self.have += 1;
        }
        self.have = 0;
        Some(self.bytes)
    }
}

/// Tells whether bytes look like the beginning of a record.
pub(in crate::protocol) fn record(data: &[u8]) -> bool {
    matches!(data, [CHANGE..=DATA, 3, 0..=4, high, _, ..] if *high <= 0x48)
}

impl Records {
    /// Tells whether nothing more is to be learned here.
    pub(super) fn done(&self) -> bool {
        self.done
    }

    /// Returns how many bytes are kept.
    pub(super) fn buffered_bytes(&self) -> usize {
        self.body.capacity()
    }

    /// Returns the message that is not complete: its type, and its body as far as it is there.
    pub(super) fn unfinished(&self) -> Option<(u8, &[u8])> {
        let [kind, ..] = self.message.bytes;
        (self.missing > 0).then_some((kind, self.body.as_slice()))
    }

    /// Forgets everything: what follows begins anew, if it begins with a record.
    pub(super) fn again(&mut self, data: &[u8]) {
        if !self.done && record(data) {
            *self = Self { changed: self.changed, ..Self::default() };
        } else {
            self.done = true;
            self.body = Vec::new();
        }
    }

    /// Takes what comes next.
    pub(super) fn take(&mut self, mut data: &[u8], mut each: impl FnMut(RecordEvent<'_>)) {
        while !self.done && !data.is_empty() {
            if self.left == 0 && !self.begin(&mut data, &mut each) {
                return;
            }
            let (mut part, rest) = data.split_at(data.len().min(usize::from(self.left)));
            data = rest;
            self.left -= part.len() as u16;
            match self.kind {
                HANDSHAKE => self.add_handshake(part, &mut each),
                ALERT if self.length == 2 => {
                    if let Some([level, what]) = self.alert.take(&mut part) {
                        each(RecordEvent::Alert(level, what));
                    }
                }
                CHANGE => self.changed = true,
                _ => {}
            }
        }
    }

    /// Reads the header of a record; says whether there was one of which something can be read.
    fn begin(&mut self, data: &mut &[u8], each: &mut impl FnMut(RecordEvent<'_>)) -> bool {
        let Some(head) = self.head.take(data) else {
            return false;
        };
        let [kind, _, _, high, low] = head;
        if !record(&head) {
            self.done = true;
            each(RecordEvent::Foreign);
            return false;
        }
        self.kind = kind;
        self.length = u16::from_be_bytes([high, low]);
        self.left = self.length;
        if kind == DATA || (self.changed && kind != CHANGE) {
            self.done = true;
            self.body = Vec::new();
            each(RecordEvent::Secret(self.length));
            return false;
        }
        true
    }

    fn add_handshake(&mut self, mut part: &[u8], each: &mut impl FnMut(RecordEvent<'_>)) {
        while !part.is_empty() {
            if self.missing == 0 {
                let Some([_, a, b, c]) = self.message.take(&mut part) else {
                    return;
                };
                self.missing = u32::from_be_bytes([0, a, b, c]);
                self.body.clear();
            }
            let length = part.len().min(self.missing as usize);
            let (now, rest) = part.split_at(length);
            part = rest;
            self.missing -= length as u32;
            let room = MAX_MESSAGE_BYTES.saturating_sub(self.body.len());
            self.body.extend_from_slice(now.get(..room).unwrap_or(now));
            if self.missing == 0 {
                let [kind, ..] = self.message.bytes;
                each(RecordEvent::Message(kind, &self.body));
            }
        }
    }
}

/// What an alert says, and who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alert {
    /// The connection ends by it.
    pub(crate) fatal: bool,
    /// The server sent it.
    pub(crate) server: bool,
    /// The number of the description.
    pub(crate) what: u8,
}

impl Alert {
    /// Tells whether something went wrong: an end in good order is no trouble.
    pub(crate) fn trouble(self) -> bool {
        self.fatal && !matches!(self.what, 0 | 90 | 100)
    }
}

/// Returns the name of a description.
pub(crate) fn alert_name(what: u8) -> &'static str {
    match what {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        30 => "decompression_failure",
        40 => "handshake_failure",
        41 => "no_certificate",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        60 => "export_restriction",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        111 => "certificate_unobtainable",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        114 => "bad_certificate_hash_value",
        115 => "unknown_psk_identity",
        116 => "certificate_required",
        120 => "no_application_protocol",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: &[u8] = b"\x16\x03\x01\x00\x05\x01\x00\x00\x01a\x16\x03\x03\x00\x08\x02\x00\x00\x02bc\x0e\x00\x16\x03\x03\x00\x02\x00\x00";

    fn words(records: &mut Records, data: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        records.take(data, |word| found.push(format!("{word:?}")));
        found
    }

    #[test]
    fn messages_are_the_same_however_they_are_cut() {
        let expected = ["Message(1, [97])", "Message(2, [98, 99])", "Message(14, [])"];
        assert_eq!(words(&mut Records::default(), HELLO), expected);
        let mut records = Records::default();
        let found: Vec<String> = HELLO.iter().flat_map(|byte| words(&mut records, &[*byte])).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_alert_is_read_only_while_it_is_plain() {
        let plain = b"\x15\x03\x03\x00\x02\x02\x28";
        assert_eq!(words(&mut Records::default(), plain), ["Alert(2, 40)"]);
        let secret = b"\x14\x03\x03\x00\x01\x01\x15\x03\x03\x00\x02\x02\x28\x16\x03\x03\x00\x01\x01";
        assert_eq!(words(&mut Records::default(), secret), ["Secret(2)"]);
    }

    #[test]
    fn what_is_no_record_ends_it() {
        let mut records = Records::default();
        assert_eq!(words(&mut records, b"HTTP/1.1 400 Bad Request"), ["Foreign"]);
        assert!(records.done());
    }

    #[test]
    fn a_message_of_sixteen_megabytes_is_not_kept() {
        let mut records = Records::default();
        for _ in 0..2000 {
            words(&mut records, b"\x16\x03\x03\x40\x00\x0b\xff\xff\xff");
            words(&mut records, &[1; 0x4000 - 4]);
        }
        assert!(records.buffered_bytes() <= 2 * MAX_MESSAGE_BYTES);
    }
}
