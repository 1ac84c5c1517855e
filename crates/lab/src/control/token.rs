//! Words that nobody can guess.

use std::io;

/// Draws one.
pub(super) fn draw() -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    let drawn = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if drawn < bytes.len() {
        return Err(io::Error::other("too few random bytes"));
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
