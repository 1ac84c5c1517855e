//! When a certificate ends, by the chain that the platform shows of it: PKCS #7 in base64, without any secret.
//!
//! Only what leads to the end of each certificate is read. Whatever is not as it should be leaves the end unknown.

/// Longer chains are not read.
const MAX_BYTES: usize = 256 * 1024;
/// So many certificates of a chain are read.
const MAX_CERTIFICATES: usize = 16;

const INTEGER: u8 = 0x02;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERAL_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// The first of what a structure names by number: content, certificates, a version.
const FIRST: u8 = 0xa0;
/// `signedData`, 1.2.840.113549.1.7.2.
const SIGNED_DATA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];

/// Returns when the certificate of a chain ends that belongs to the server, as `2026-05-20T08:00:00Z`.
pub(super) fn end(text: &str) -> Option<String> {
    let bytes = decoded(text)?;
    let chain = chain(&bytes)?;
    // Whoever signed none of the others is the server.
    let signs = |one: &Certificate<'_>| {
        chain.iter().any(|other| other.subject != one.subject && other.issuer == one.subject)
    };
    let mut own = chain.iter().filter(|one| !signs(one));
    let server = own.next().filter(|_| own.next().is_none())?;
    Some(server.end.clone())
}

/// What is read of a certificate.
struct Certificate<'a> {
    issuer: &'a [u8],
    subject: &'a [u8],
    end: String,
}

/// Returns the certificates of a chain; nothing where one of them cannot be read.
fn chain(bytes: &[u8]) -> Option<Vec<Certificate<'_>>> {
    let mut whole = Reader(inside(bytes, SEQUENCE)?);
    if whole.take(OBJECT)? != SIGNED_DATA {
        return None;
    }
    let mut signed = Reader(inside(whole.take(FIRST)?, SEQUENCE)?);
    signed.take(INTEGER)?;
    loop {
        let (tag, content) = signed.next()?;
        if tag == FIRST {
            let mut list = Reader(content);
            let mut found = Vec::new();
            while !list.0.is_empty() {
                found.push(certificate(list.take(SEQUENCE)?)?);
                if found.len() > MAX_CERTIFICATES {
                    return None;
                }
            }
            return (!found.is_empty()).then_some(found);
        }
    }
}

fn certificate(bytes: &[u8]) -> Option<Certificate<'_>> {
    let mut own = Reader(Reader(bytes).take(SEQUENCE)?);
    if own.0.first() == Some(&FIRST) {
        own.take(FIRST)?;
    }
    own.take(INTEGER)?;
    own.take(SEQUENCE)?;
    let issuer = own.take(SEQUENCE)?;
    let mut times = Reader(own.take(SEQUENCE)?);
    times.next()?;
    let (tag, text) = times.next()?;
    let subject = own.take(SEQUENCE)?;
    Some(Certificate { issuer, subject, end: moment(tag, text)? })
}

/// Returns what is in a value of one kind that is all there is.
fn inside(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    Reader(bytes).take(tag)
}

/// What is left of some values.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Takes the next value, which has to be of one kind.
    fn take(&mut self, wanted: u8) -> Option<&'a [u8]> {
        let (tag, content) = self.next()?;
        (tag == wanted).then_some(content)
    }

    /// Takes the next value: its kind and what is in it.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(*first), rest),
            // More than four bytes of length, or a length that nobody knows beforehand, is none of a certificate.
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x0f))?;
                (bytes.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }
}

/// Writes a moment as `2026-05-20T08:00:00Z`.
fn moment(tag: u8, text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        // Of two digits those from 50 on are of the century before.
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            (format!("{}{year}", if year < "50" { "20" } else { "19" }), rest)
        }
        GENERAL_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.to_owned(), rest)
        }
        _ => return None,
    };
    let part = |from: usize| rest.get(from..from + 2);
    let (month, day, hour, minute, second) = (part(0)?, part(2)?, part(4)?, part(6)?, part(8)?);
    (rest.len() == 10).then(|| format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
}

/// Reads base64, with or without line ends.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut held, mut bits) = (0_u32, 0_u32);
    for char in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let value = match char {
            b'A'..=b'Z' => char - b'A',
            b'a'..=b'z' => char - b'a' + 26,
            b'0'..=b'9' => char - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
        if out.len() > MAX_BYTES {
            return None;
        }
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server signed by an authority, both in one chain, the authority first.
    const CHAIN: &str = include_str!("tests/certificate_chain.b64");
    /// A server that signed itself.
    const ALONE: &str = include_str!("tests/certificate_alone.b64");

    #[test]
    fn the_end_is_that_of_the_server_and_not_of_whoever_signed_it() {
        assert_eq!(end(CHAIN).as_deref(), Some("2025-05-01T00:00:00Z"));
        assert_eq!(end(ALONE).as_deref(), Some("2049-12-31T23:59:59Z"));
    }

    #[test]
    fn what_is_no_chain_has_no_end() {
        for odd in ["", "AAAA", "not base64!", "MIIB", &ALONE[..ALONE.len() / 2], &ALONE[8..]] {
            assert_eq!(end(odd), None, "{odd}");
        }
        let bytes = decoded(ALONE).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            // Whatever comes of it, it is a moment or nothing.
            let found = chain(&damaged).map(|all| all.len());
            assert!(found.is_none_or(|all| all == 1), "{at}");
        }
    }

    #[test]
    fn two_digits_of_a_year_are_of_the_century_that_is_meant() {
        assert_eq!(moment(UTC_TIME, b"491231235959Z").as_deref(), Some("2049-12-31T23:59:59Z"));
        assert_eq!(moment(UTC_TIME, b"500101000000Z").as_deref(), Some("1950-01-01T00:00:00Z"));
        assert_eq!(moment(GENERAL_TIME, b"20500101000000Z").as_deref(), Some("2050-01-01T00:00:00Z"));
        for odd in ["", "2505", "25052008000Z", "2505200800001Z", "250520080000+0100"] {
            assert_eq!(moment(UTC_TIME, odd.as_bytes()), None, "{odd}");
        }
    }
}
