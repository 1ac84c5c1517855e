//! As much of DNS as a question and an answer need.

use crate::host::stage::DnsFault;

/// The name that is asked for.
const NAME: &[u8] = b"\x04ping\x04demo\x04test\x00";

/// Writes a question for an address.
pub(super) fn question(number: u16) -> Vec<u8> {
    let mut text = number.to_be_bytes().to_vec();
    text.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    text.extend(NAME);
    text.extend([0, 1, 0, 1]);
    text
}

/// Answers a question; nothing where the server does not, or where it is none.
pub(in crate::host) fn answer(question: &[u8], fault: Option<DnsFault>) -> Option<Vec<u8>> {
    let (head, body) = question.split_first_chunk::<12>()?;
    let end = name_end(body)? + 4;
    let asked = body.get(..end)?;
    let [one, two, flags, ..] = *head;
    if flags & 0x80 != 0 {
        return None;
    }
    let (code, answers) = match fault {
        Some(DnsFault::Silent) => return None,
        Some(DnsFault::Servfail) => (2, 0),
        Some(DnsFault::Nxdomain) => (3, 0),
        Some(DnsFault::Public) | None => (0, u8::from(asked.ends_with(&[0, 1, 0, 1]))),
    };
    let mut text = vec![one, two, 0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0];
    text.extend(asked);
    if answers > 0 {
        // The name above, an address, a minute, four bytes.
        text.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 10]);
    }
    Some(text)
}

/// Returns where a name ends.
fn name_end(body: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < body.len() {
        let length = usize::from(*body.get(at)?);
        at += 1;
        match length {
            0 => return Some(at),
            1..64 => at += length,
            64.. => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_as_the_server_is() {
        let asked = question(7);
        let code = |fault| answer(&asked, fault).and_then(|text| text.get(3).map(|code| code & 15));
        assert_eq!(code(None), Some(0));
        assert_eq!(code(Some(DnsFault::Servfail)), Some(2));
        assert_eq!(code(Some(DnsFault::Nxdomain)), Some(3));
        assert_eq!(code(Some(DnsFault::Silent)), None);
        assert!(answer(&asked, None).unwrap().ends_with(&[203, 0, 113, 10]));
    }

    #[test]
    fn what_is_no_question_has_no_answer() {
        let own = answer(&question(1), None).unwrap();
        for bytes in [&[][..], &[0; 12], &[0xff; 40], &question(1)[..20], &own] {
            assert_eq!(answer(bytes, None), None);
        }
    }
}
