//! Until when a certificate is good: the first of a list, before version 1.3 sent in the open.

use time::{Date, Month, Time};

use crate::layers::View;

/// Returns until when the first certificate of a message is good, in seconds since 1970.
pub(super) fn not_after(message: &[u8]) -> Option<i64> {
    // Lengths of the list and of the first certificate.
    let (_, certificate) = inside(message.get(6..)?)?;
    let (_, mut rest) = inside(certificate)?;
    // A version is there or not; then the number, the algorithm, the issuer.
    if rest.first() == Some(&0xa0) {
        rest = behind(rest)?;
    }
    for _ in 0..3 {
        rest = behind(rest)?;
    }
    let (_, validity) = inside(rest)?;
    let (kind, text) = inside(behind(validity)?)?;
    moment(kind, text)
}

/// Returns the tag and the content of what stands first; content that was cut off is read as far as it goes.
fn inside(data: &[u8]) -> Option<(u8, &[u8])> {
    let (header, length) = size(data)?;
    let rest = data.get(header..)?;
    Some((*data.first()?, rest.get(..length).unwrap_or(rest)))
}

/// Returns what follows what stands first.
fn behind(data: &[u8]) -> Option<&[u8]> {
    let (header, length) = size(data)?;
    data.get(header.checked_add(length)?..)
}

fn size(data: &[u8]) -> Option<(usize, usize)> {
    let view = View::new(data, data.len());
    match view.u8(1)? {
        short @ 0..=0x7f => Some((2, usize::from(short))),
        0x81 => Some((3, usize::from(view.u8(2)?))),
        0x82 => Some((4, usize::from(view.u16(2)?))),
        0x83 => Some((5, (usize::from(view.u8(2)?) << 16) | usize::from(view.u16(3)?))),
        _ => None,
    }
}

/// Reads `YYMMDDhhmmssZ` or the same with four digits for the year.
fn moment(kind: u8, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match kind {
        0x17 => {
            let year: i32 = text.get(..2)?.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        0x18 => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    let part = |at: usize| rest.get(at..at + 2)?.parse::<u8>().ok();
    let date = Date::from_calendar_date(year, Month::try_from(part(0)?).ok()?, part(2)?).ok()?;
    let time = Time::from_hms(part(4)?, part(6)?, part(8)?).ok()?;
    Some(date.with_time(time).assume_utc().unix_timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut all = vec![tag, 0x82];
        all.extend(u16::try_from(content.len()).unwrap().to_be_bytes());
        all.extend(content);
        all
    }

    fn message(until: &[u8]) -> Vec<u8> {
        let validity = [&der(0x17, b"200101000000Z")[..], until].concat();
        let parts = [
            der(0xa0, &[2, 1, 2]),
            der(2, &[9]),
            der(0x30, &[]),
            der(0x30, &[7; 300]),
            der(0x30, &validity),
            der(0x30, &[]),
        ];
        let certificate = der(0x30, &der(0x30, &parts.concat()));
        [&[0, 0, 0, 0, 0, 0][..], &certificate].concat()
    }

    #[test]
    fn both_forms_of_a_year_are_read() {
        assert_eq!(not_after(&message(&der(0x17, b"240102030405Z"))), Some(1_704_164_645));
        assert_eq!(not_after(&message(&der(0x18, b"20240102030405Z"))), Some(1_704_164_645));
        assert_eq!(not_after(&message(&der(0x17, b"700101000000Z"))), Some(0));
    }

    #[test]
    fn a_date_that_is_none_is_not_known() {
        for text in [&b"241302030405Z"[..], b"24010203Z", b"", b"24010203040\xffZ"] {
            assert_eq!(not_after(&message(&der(0x17, text))), None);
        }
        let whole = message(&der(0x17, b"240102030405Z"));
        for end in 0..whole.len() - 7 {
            assert_eq!(not_after(whole.get(..end).unwrap()), None, "{end}");
        }
    }
}
