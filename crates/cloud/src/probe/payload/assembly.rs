//! Windows put together.

use std::io::Read as _;

use base64::Engine as _;
use flate2::read::GzDecoder;

use super::window::{PayloadWindow, WindowError};
use ghost_base::Digest;

/// The largest text that is unpacked.
pub const MAX_PAYLOAD_BYTES: usize = 32 << 20;

/// The largest packed text that is asked for: more would take hundreds of runs.
pub const MAX_PACKED_BYTES: usize = 256 << 10;

/// The largest packed text that comes at once.
const MAX_WHOLE_BYTES: usize = 4 << 20;

/// What was collected so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowedPayload {
    digest: Option<String>,
    packed: String,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowResult {
    /// The window that begins here.
    Ask(usize),
    Whole(String),
}

/// Why no text came together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// A window is none.
    #[error(transparent)]
    PayloadWindow(#[from] WindowError),
    /// Between two windows the guest changed.
    #[error("what is read changed while it was read")]
    Changed,
    /// It is not the window that was asked for.
    #[error("the window begins at {has} instead of {wanted}")]
    Order {
        /// Where it begins.
        has: usize,
        /// Where it should.
        wanted: usize,
    },
    /// There is too much of it.
    #[error("{what} has more than {most} bytes")]
    Large {
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The digest is not the reported one.
    #[error("the text arrived damaged: its digest differs")]
    Damaged,
    /// It cannot be unpacked.
    #[error("the text cannot be unpacked: {0}")]
    Packed(String),
}

impl WindowedPayload {
    /// Adds what a script printed.
    ///
    /// # Errors
    /// Fails where it does not go on where the last window ended, or the whole is not what its digest says.
    pub fn add(&mut self, printed: &str) -> Result<WindowResult, PayloadError> {
        let part = PayloadWindow::read(printed)?;
        if part.total > MAX_PACKED_BYTES {
            return Err(PayloadError::Large { what: "the packed text", most: MAX_PACKED_BYTES });
        }
        self.take(part)
    }

    fn take(&mut self, part: PayloadWindow) -> Result<WindowResult, PayloadError> {
        match &self.digest {
            Some(digest) if *digest != part.digest => return Err(PayloadError::Changed),
            Some(_) => {}
            None => self.digest = Some(part.digest.clone()),
        }
        if part.from != self.packed.len() {
            return Err(PayloadError::Order { has: part.from, wanted: self.packed.len() });
        }
        self.packed.push_str(&part.text);
        if self.packed.len() < part.total {
            return Ok(WindowResult::Ask(self.packed.len()));
        }
        if Digest::of(&self.packed).to_string() != part.digest {
            return Err(PayloadError::Damaged);
        }
        unpack(&self.packed).map(WindowResult::Whole)
    }
}

/// Reads what a script printed at once.
///
/// # Errors
/// Fails where it is cut off, or not what its digest says.
pub fn whole(printed: &str) -> Result<String, PayloadError> {
    let part = PayloadWindow::whole(printed)?;
    let total = part.total;
    if total > MAX_WHOLE_BYTES {
        return Err(PayloadError::Large { what: "the packed text", most: MAX_WHOLE_BYTES });
    }
    match WindowedPayload::default().take(part)? {
        WindowResult::Whole(text) => Ok(text),
        WindowResult::Ask(has) => Err(WindowError::Length { has, wanted: total }.into()),
    }
}

fn unpack(packed: &str) -> Result<String, PayloadError> {
    let broken = |error: &dyn std::fmt::Display| PayloadError::Packed(error.to_string());
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed).map_err(|error| broken(&error))?;
    let mut text = Vec::new();
    let most = u64::try_from(MAX_PAYLOAD_BYTES).unwrap_or(u64::MAX);
    GzDecoder::new(bytes.as_slice()).take(most + 1).read_to_end(&mut text).map_err(|error| broken(&error))?;
    if text.len() > MAX_PAYLOAD_BYTES {
        return Err(PayloadError::Large { what: "the text", most: MAX_PAYLOAD_BYTES });
    }
    String::from_utf8(text).map_err(|error| broken(&error))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;

    use super::*;
    use crate::probe::payload::WINDOW;

    fn packed(text: &[u8]) -> String {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(text).unwrap();
        base64::engine::general_purpose::STANDARD.encode(gzip.finish().unwrap())
    }

    fn window(packed: &str, from: usize) -> String {
        let end = packed.len().min(from + WINDOW);
        format!(
            "ghost-parcel 1 {} {} {from}\n{}\nghost-parcel-end\n",
            Digest::of(packed),
            packed.len(),
            &packed[from..end]
        )
    }

    /// Text that does not pack well.
    fn long(count: u64) -> String {
        (0..count).map(|at| format!("{:x} ", at.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    }

    proptest! {
        #[test]
        fn whatever_is_packed_comes_out_of_its_windows(text in "\\PC{0,2000}", rows in 0_u64..2_000) {
            let text = format!("{text}{}", long(rows));
            let packed = packed(text.as_bytes());
            let mut windows = WindowedPayload::default();
            let mut next = windows.add(&window(&packed, 0));
            while let Ok(WindowResult::Ask(from)) = next {
                next = windows.add(&window(&packed, from));
            }
            prop_assert_eq!(next, Ok(WindowResult::Whole(text)));
        }

        #[test]
        fn nothing_that_a_guest_prints_panics(text in "(ghost-parcel 1 )?[0-9a-f ]{0,90}\n?\\PC{0,60}\n?(ghost-parcel-end\n)?") {
            drop(WindowedPayload::default().add(&text));
        }
    }

    #[test]
    fn windows_of_two_texts_do_not_mix() {
        let (one, other) = (packed(long(800).as_bytes()), packed(long(900).as_bytes()));
        let mut windows = WindowedPayload::default();
        assert_eq!(windows.add(&window(&one, 0)), Ok(WindowResult::Ask(WINDOW)));
        assert_eq!(windows.add(&window(&other, WINDOW)), Err(PayloadError::Changed));
    }

    #[test]
    fn a_window_that_comes_twice_or_too_early_is_reported() {
        let packed = packed(long(2_000).as_bytes());
        let mut windows = WindowedPayload::default();
        windows.add(&window(&packed, 0)).unwrap();
        assert_eq!(windows.add(&window(&packed, 0)), Err(PayloadError::Order { has: 0, wanted: WINDOW }));
        assert_eq!(
            windows.add(&window(&packed, 2 * WINDOW)),
            Err(PayloadError::Order { has: 2 * WINDOW, wanted: WINDOW })
        );
    }

    #[test]
    fn a_changed_byte_is_seen() {
        let packed = packed(b"-P INPUT DROP");
        let printed = window(&packed, 0);
        let at = printed.find(&packed).unwrap() + packed.len() / 2;
        let mut changed = printed.into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert_eq!(WindowedPayload::default().add(&changed), Err(PayloadError::Damaged));
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let bomb = packed(&vec![b'0'; MAX_PAYLOAD_BYTES + 1]);
        let mut windows = WindowedPayload::default();
        let mut next = windows.add(&window(&bomb, 0));
        while let Ok(WindowResult::Ask(from)) = next {
            next = windows.add(&window(&bomb, from));
        }
        assert_eq!(next, Err(PayloadError::Large { what: "the text", most: MAX_PAYLOAD_BYTES }));
    }
}
