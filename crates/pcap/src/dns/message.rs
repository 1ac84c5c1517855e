//! One DNS message, as far as it is there.

use crate::layers::View;

/// What matters of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    /// Its number.
    pub(crate) id: u16,
    /// It answers.
    pub(crate) response: bool,
    /// There was more than fitted.
    pub(crate) truncated: bool,
    /// How the answer came out.
    pub(crate) rcode: u8,
    /// How many answers there are.
    pub(crate) answers: u16,
    /// How many bytes it had on the wire.
    pub(crate) size: usize,
    /// The first question.
    pub(crate) question: Option<Question<'a>>,
}

/// A question: a name in wire form, and the type that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question<'a> {
    /// Labels with their lengths, without the last empty one.
    pub(crate) name: &'a [u8],
    /// What is asked for.
    pub(crate) kind: u16,
}

impl<'a> Message<'a> {
    /// Reads a message; nothing where not even its flags were captured.
    pub(crate) fn read(view: View<'a>) -> Option<Self> {
        let (id, flags) = (view.u16(0)?, view.u16(2)?);
        let questions = view.u16(4).unwrap_or(0);
        Some(Self {
            id,
            response: flags & 0x8000 != 0,
            truncated: flags & 0x0200 != 0,
            rcode: (flags & 0x000f) as u8,
            answers: view.u16(6).unwrap_or(0),
            size: view.wire,
            question: if questions > 0 { Question::read(view) } else { None },
        })
    }
}

impl<'a> Question<'a> {
    fn read(view: View<'a>) -> Option<Self> {
        let mut at = 12;
        loop {
            match usize::from(view.u8(at)?) {
                0 => break,
                // A pointer has nothing to point to yet.
                length if length > 63 => return None,
                length => at += length + 1,
            }
            if at > 12 + 255 {
                return None;
            }
        }
        let name = view.data.get(12..at)?;
        Some(Self { name, kind: view.u16(at + 1)? })
    }

    /// Returns the labels of the name, the one of the host first.
    pub(crate) fn labels(&self) -> Labels<'a> {
        Labels(self.name)
    }

    /// Returns the name as text: what is no plain letter is written as a number, so that no name can steer a
    /// terminal, end a code span, or become a link or a mention in a thread.
    pub(crate) fn text(&self) -> String {
        self.text_from(0)
    }

    /// Returns the name as text, without the first labels.
    pub(crate) fn text_from(&self, skipped: usize) -> String {
        let mut text = String::new();
        for label in self.labels().skip(skipped) {
            if !text.is_empty() {
                text.push('.');
            }
            for byte in label {
                match byte {
                    b'.' | b'\\' => text.extend(['\\', char::from(*byte)]),
                    b'-' | b'_' | b'+' | b'=' => text.push(char::from(*byte)),
                    byte if byte.is_ascii_alphanumeric() => text.push(char::from(*byte)),
                    _ => text.push_str(&format!("\\{byte:03}")),
                }
            }
        }
        if text.is_empty() { ".".to_owned() } else { text }
    }

    /// Returns a number that equal questions share, however their letters are written.
    pub(crate) fn mark(&self) -> u64 {
        self.name.iter().fold(u64::from(self.kind) | 0x10000, |mark, byte| {
            (mark ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

/// The labels of a name.
#[derive(Debug, Clone)]
pub(crate) struct Labels<'a>(&'a [u8]);

impl<'a> Iterator for Labels<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first()?;
        let (label, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        self.0 = rest;
        Some(label)
    }
}

/// Returns the name of a response code.
pub(crate) fn rcode(code: u8) -> &'static str {
    match code {
        0 => "NOERROR",
        1 => "FORMERR",
        2 => "SERVFAIL",
        3 => "NXDOMAIN",
        4 => "NOTIMP",
        5 => "REFUSED",
        6 => "YXDOMAIN",
        7 => "YXRRSET",
        8 => "NXRRSET",
        9 => "NOTAUTH",
        10 => "NOTZONE",
        _ => "OTHER",
    }
}

/// Returns the name of a type that is asked for.
pub(crate) fn kind(kind: u16) -> String {
    let name = match kind {
        1 => "A",
        2 => "NS",
        5 => "CNAME",
        6 => "SOA",
        10 => "NULL",
        12 => "PTR",
        15 => "MX",
        16 => "TXT",
        28 => "AAAA",
        33 => "SRV",
        35 => "NAPTR",
        41 => "OPT",
        43 => "DS",
        46 => "RRSIG",
        47 => "NSEC",
        48 => "DNSKEY",
        50 => "NSEC3",
        52 => "TLSA",
        64 => "SVCB",
        65 => "HTTPS",
        251 => "IXFR",
        252 => "AXFR",
        255 => "ANY",
        257 => "CAA",
        _ => return format!("TYPE{kind}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &[u8] =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04w\x1bwW\x03a.b\x00\x00\x10\x00\x01";

    #[test]
    fn a_name_is_escaped_as_data() {
        let message = Message::read(View::new(QUERY, QUERY.len())).unwrap();
        let question = message.question.unwrap();
        assert_eq!(question.text(), "w\\027wW.a\\.b");
        assert_eq!((message.id, message.response, question.kind), (0x1234, false, 16));
    }

    #[test]
    fn what_means_something_in_a_thread_is_escaped_too() {
        let name = b"\x0e<!channel>`[x]\x0bhttp://a|b*\x04test";
        let question = Question { name, kind: 1 };
        let text = question.text();
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".\\".contains(&byte)), "{text}");
        assert!(text.starts_with("\\060\\033channel\\062\\096"), "{text}");
    }

    #[test]
    fn a_question_is_the_same_in_any_case() {
        let other = QUERY.to_ascii_lowercase();
        let mark =
            |bytes: &[u8]| Message::read(View::new(bytes, bytes.len())).unwrap().question.unwrap().mark();
        assert_eq!(mark(QUERY), mark(&other));
    }

    #[test]
    fn a_message_that_ends_anywhere_is_read_as_far_as_it_goes() {
        for end in 0..QUERY.len() {
            let message = Message::read(View::new(&QUERY[..end], QUERY.len()));
            assert_eq!(message.is_some(), end >= 4, "{end}");
            assert!(message.is_none_or(|message| message.question.is_none() || end >= 23));
        }
    }
}
