//! One window.

/// How many bytes a window has: with header and end mark it fits into what the platform keeps.
pub const WINDOW: usize = 3_600;

const BEGINS: &str = "ghost-parcel 1 ";
const ENDS: &str = "ghost-parcel-end";

/// A window of a packed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadWindow {
    /// The digest of the whole packed text, in hexadecimal.
    pub digest: String,
    /// How many bytes the packed text has.
    pub total: usize,
    /// Where the window begins.
    pub from: usize,
    /// The window.
    pub text: String,
}

/// Why something is no window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// The header is not there: another script, or its beginning was cut off.
    #[error("the guest printed no header")]
    NoHeader,
    /// The header is not one of ours.
    #[error("the header cannot be read")]
    Header,
    /// The end mark is not there.
    #[error("what the guest printed was cut off")]
    CutOff,
    /// It is not what the header says.
    #[error("the window has {has} bytes instead of {wanted}")]
    Length {
        /// How many are there.
        has: usize,
        /// How many should be.
        wanted: usize,
    },
}

impl PayloadWindow {
    /// Reads what a script printed.
    ///
    /// # Errors
    /// Fails where it is anything but one whole window.
    pub fn read(printed: &str) -> Result<Self, WindowError> {
        Self::up_to(WINDOW, printed)
    }

    /// Reads what a script printed that was not bounded by a carrier: one window that holds everything.
    ///
    /// # Errors
    /// Fails where it is anything but the whole.
    pub fn whole(printed: &str) -> Result<Self, WindowError> {
        Self::up_to(usize::MAX, printed)
    }

    fn up_to(most: usize, printed: &str) -> Result<Self, WindowError> {
        let mut lines = printed.lines().skip_while(|line| !line.starts_with(BEGINS));
        let header = lines.next().and_then(|line| line.strip_prefix(BEGINS)).ok_or(WindowError::NoHeader)?;
        let (digest, total, from) = read_header(header).ok_or(WindowError::Header)?;
        let text = lines.next().ok_or(WindowError::CutOff)?;
        // A window of nothing is an empty line.
        if lines.next() != Some(ENDS) {
            return Err(WindowError::CutOff);
        }
        let wanted = total.saturating_sub(from).min(most);
        if text.len() != wanted {
            return Err(WindowError::Length { has: text.len(), wanted });
        }
        Ok(Self { digest, total, from, text: text.to_owned() })
    }
}

fn read_header(header: &str) -> Option<(String, usize, usize)> {
    let mut words = header.split(' ');
    let (digest, total, from) = (words.next()?, words.next()?, words.next()?);
    let hexadecimal =
        digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    (hexadecimal && words.next().is_none()).then_some(())?;
    Some((digest.to_owned(), number(total)?, number(from)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(total: usize, from: usize, text: &str) -> String {
        format!("{BEGINS}{} {total} {from}\n{text}\n{ENDS}\n", "a".repeat(64))
    }

    #[test]
    fn a_window_says_which_it_is() {
        let window = PayloadWindow::read(&printed(5, 0, "abcde")).unwrap();
        assert_eq!((window.total, window.from, window.text.as_str()), (5, 0, "abcde"));
    }

    #[test]
    fn what_is_cut_off_is_no_window() {
        let whole = printed(5, 0, "abcde");
        for end in 0..whole.len() - 1 {
            assert!(PayloadWindow::read(&whole[..end]).is_err(), "{end}");
        }
        for begin in 1..whole.len() {
            assert!(PayloadWindow::read(&whole[begin..]).is_err(), "{begin}");
        }
    }

    #[test]
    fn a_window_of_another_length_is_none() {
        assert_eq!(
            PayloadWindow::read(&printed(9, 0, "abcde")),
            Err(WindowError::Length { has: 5, wanted: 9 })
        );
        assert_eq!(
            PayloadWindow::read(&printed(5, 9, "abcde")),
            Err(WindowError::Length { has: 5, wanted: 0 })
        );
        for header in
            ["x 5 0", "5 0", "", &format!("{} -5 0", "a".repeat(64)), &format!("{} 5 0 0", "a".repeat(64))]
        {
            let text = format!("{BEGINS}{header}\nabcde\n{ENDS}\n");
            assert_eq!(PayloadWindow::read(&text), Err(WindowError::Header), "{header}");
        }
    }
}
