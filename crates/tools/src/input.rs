//! Reading what a subcommand is given: a file, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use anyhow::Context as _;

use super::print::Hinted;
pub use super::print::harmless;

/// Reads a text of limited size; `-` is standard input.
///
/// # Errors
/// Fails where it cannot be read, is larger than the limit, or is no text.
pub fn text(path: &Path, limit: usize) -> anyhow::Result<String> {
    let piped = path == Path::new("-");
    let name = if piped { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = if piped {
        if io::stdin().is_terminal() {
            let error = anyhow::anyhow!("nothing is piped into standard input");
            return Err(Hinted::new(error, "pipe something in, or name a file").into());
        }
        bounded(io::stdin().lock(), limit)
    } else {
        File::open(path).and_then(|file| bounded(file, limit))
    };
    let Some(bytes) = bytes.with_context(|| format!("reading {name}"))? else {
        let error = anyhow::anyhow!("{name} has more than {limit} bytes");
        return Err(Hinted::new(error, "give the output of one host or interface at a time").into());
    };
    decoded(bytes).ok_or_else(|| {
        let error = anyhow::anyhow!("{name} is not UTF-8 text");
        Hinted::new(error, "give what the tool printed, not a packed or binary file").into()
    })
}

/// Reads at most so many bytes from the beginning of a file, or of standard input.
pub fn beginning(path: &Path, most: usize) -> anyhow::Result<Vec<u8>> {
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("reading {}", path.display()))?;
    Ok(bytes)
}

/// Decodes UTF-8, and UTF-16 that begins with its mark, as Windows PowerShell writes what `>` redirects.
fn decoded(bytes: Vec<u8>) -> Option<String> {
    let join: fn([u8; 2]) -> u16 = match bytes.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        Some(_) | None => return String::from_utf8(bytes).ok(),
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().skip(1).map(|pair| join(*pair));
    let text: Option<String> = char::decode_utf16(units).map(Result::ok).collect();
    text.filter(|_| rest.is_empty())
}

/// Reads everything, or nothing where there is too much.
fn bounded(source: impl Read, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    source.take(most).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_windows_powershell_redirects_is_text() {
        let little: Vec<u8> = "\u{feff}[\"ä\"]".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}[\"ä\"]".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [little.clone(), big, "[\"ä\"]".into()] {
            assert_eq!(decoded(bytes).unwrap(), "[\"ä\"]");
        }
        let cut_off = little.split_last().unwrap().1.to_vec();
        assert!(decoded(cut_off).is_none() && decoded(vec![0xff, 0xfe, 0, 0xd8]).is_none());
        assert!(decoded(vec![0xff, 0]).is_none());
    }

    #[test]
    fn an_endless_document_is_refused_in_bounded_memory() {
        assert!(bounded(io::repeat(b'['), 1 << 20).unwrap().is_none());
        assert_eq!(bounded(&b"[]"[..], 2).unwrap().unwrap(), b"[]");
    }
}
