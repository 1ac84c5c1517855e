//! A text made of named parts, each with its length: what a part holds cannot be taken for the next one's beginning.

/// What a command of a guest printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// The exit code of its command; 127 is a command that is not there.
    pub code: u8,
    /// What it printed; where it failed, what it said.
    pub text: String,
}

/// Why a text is none of parts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("part {at} of the text cannot be read")]
pub struct SectionError {
    /// Which one, from 1.
    pub at: usize,
}

/// Takes a text apart: `section NAME CODE BYTES`, a line end, so many bytes, a line end, and again.
///
/// # Errors
/// Names the first part that is not whole.
pub fn sections(text: &str) -> Result<Vec<Section>, SectionError> {
    let mut rest = text;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (section, after) = section(rest).ok_or(SectionError { at: found.len() + 1 })?;
        found.push(section);
        rest = after;
    }
    Ok(found)
}

fn section(text: &str) -> Option<(Section, &str)> {
    let (header, body) = text.split_once('\n')?;
    let mut words = header.strip_prefix("section ")?.split(' ');
    let (name, code, bytes) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let fits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (fits && words.next().is_none()).then_some(())?;
    let after = body.get(bytes..)?.strip_prefix('\n')?;
    Some((Section { name: name.to_owned(), code, text: body.get(..bytes)?.to_owned() }, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_come_out_as_they_went_in(parts in prop::collection::vec(("[a-z0-9-]{1,12}", any::<u8>(), "\\PC{0,40}(\nsection x 0 3\n)?"), 0..6)) {
            let text: String = parts.iter().map(|(name, code, text)| format!("section {name} {code} {}\n{text}\n", text.len())).collect();
            let expected: Vec<Section> =
                parts.into_iter().map(|(name, code, text)| Section { name, code, text }).collect();
            prop_assert_eq!(sections(&text), Ok(expected));
        }

        #[test]
        fn nothing_panics(text in "(section [a-z]{0,3} [0-9]{0,4} [0-9]{0,25}\n)?\\PC{0,60}") {
            drop(sections(&text));
        }
    }

    #[test]
    fn half_a_part_is_reported() {
        let text = "section a 0 3\nabc\nsection b 0 3\nab";
        assert_eq!(sections(text), Err(SectionError { at: 2 }));
        assert_eq!(sections("section a 0 1\né\n"), Err(SectionError { at: 1 }));
    }
}
