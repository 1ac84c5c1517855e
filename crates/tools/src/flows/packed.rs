//! Files that are packed: gzip and zip archives, each part unpacked up to a limit.

use std::io::Read as _;

use flate2::read::{DeflateDecoder, MultiGzDecoder};
use ghost_inspect::flowlog::MAX_BYTES;

/// An archive with more files than this is not a log of some days.
const MAX_FILES: usize = 10_000;

/// The signature of the directory at the end of a zip archive.
const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";

/// What a file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Unpacked {
    /// The blobs in it.
    pub(super) blobs: Vec<Vec<u8>>,
    /// How many parts could not be unpacked.
    pub(super) broken: usize,
}

/// Unpacks a file; one that is not packed is its own only blob.
pub(super) fn unpacked(bytes: Vec<u8>) -> Unpacked {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let (blob, is_whole) = inflated(MultiGzDecoder::new(bytes.as_slice()));
        return Unpacked { blobs: vec![blob], broken: usize::from(!is_whole) };
    }
    if bytes.starts_with(LOCAL) || bytes.starts_with(END) {
        return entries(&bytes).unwrap_or(Unpacked { blobs: Vec::new(), broken: 1 });
    }
    Unpacked { blobs: vec![bytes], broken: 0 }
}

/// Reads to the end or the limit; says whether the end is whole.
fn inflated(reader: impl std::io::Read) -> (Vec<u8>, bool) {
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut blob = Vec::new();
    let is_whole = reader.take(most).read_to_end(&mut blob).is_ok();
    (blob, is_whole)
}

fn entries(bytes: &[u8]) -> Option<Unpacked> {
    let end = bytes.windows(END.len()).rposition(|part| part == END)?;
    let count = usize::from(u16::from_le_bytes(*bytes.get(end + 10..)?.first_chunk()?));
    let mut at = number(bytes, end + 16)?;
    let mut found = Unpacked::default();
    for _ in 0..count.min(MAX_FILES) {
        let head = bytes.get(at..).filter(|rest| rest.starts_with(ENTRY))?;
        let short = |from: usize| Some(usize::from(u16::from_le_bytes(*head.get(from..)?.first_chunk()?)));
        let (method, packed) = (short(10)?, number(head, 20)?);
        let (name, extra, comment) = (short(28)?, short(30)?, short(32)?);
        let is_folder = head.get(46..46 + name).is_some_and(|name| name.ends_with(b"/"));
        if !is_folder {
            match entry(bytes, number(head, 42)?, method, packed) {
                Some((blob, is_whole)) => {
                    found.blobs.push(blob);
                    found.broken += usize::from(!is_whole);
                }
                None => found.broken += 1,
            }
        }
        at = at.checked_add(46 + name + extra + comment)?;
    }
    found.broken += count.saturating_sub(MAX_FILES);
    Some(found)
}

/// Returns the content of one entry.
fn entry(bytes: &[u8], at: usize, method: usize, packed: usize) -> Option<(Vec<u8>, bool)> {
    let head = bytes.get(at..).filter(|rest| rest.starts_with(LOCAL))?;
    let short = |from: usize| Some(usize::from(u16::from_le_bytes(*head.get(from..)?.first_chunk()?)));
    let start = 30 + short(26)? + short(28)?;
    let content = head.get(start..start.checked_add(packed)?)?;
    match method {
        0 => Some((content.to_vec(), true)),
        8 => Some(inflated(DeflateDecoder::new(content))),
        _ => None,
    }
}

fn number(bytes: &[u8], from: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*bytes.get(from..)?.first_chunk()?)).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder};

    use super::*;

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for (name, text) in files {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text).unwrap();
            let packed = encoder.finish().unwrap();
            let at = u32::try_from(out.len()).unwrap();
            let (name_length, size) =
                (u16::try_from(name.len()).unwrap(), u32::try_from(packed.len()).unwrap());
            out.extend(LOCAL);
            out.extend([20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            out.extend(size.to_le_bytes());
            out.extend([0; 4]);
            out.extend(name_length.to_le_bytes());
            out.extend([0; 2]);
            out.extend(name.as_bytes());
            out.extend(&packed);
            directory.extend(ENTRY);
            directory.extend([20, 0, 20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            directory.extend(size.to_le_bytes());
            directory.extend([0; 4]);
            directory.extend(name_length.to_le_bytes());
            directory.extend([0; 12]);
            directory.extend(at.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (start, length) = (u32::try_from(out.len()).unwrap(), u32::try_from(directory.len()).unwrap());
        let count = u16::try_from(files.len()).unwrap();
        out.extend(directory);
        out.extend(END);
        out.extend([0; 4]);
        out.extend(count.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend(length.to_le_bytes());
        out.extend(start.to_le_bytes());
        out.extend([0; 2]);
        out
    }

    #[test]
    fn packed_files_are_unpacked_and_others_are_kept() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"one").unwrap();
        let gzip = encoder.finish().unwrap();
        assert_eq!(unpacked(gzip.clone()), Unpacked { blobs: vec![b"one".to_vec()], broken: 0 });
        assert_eq!(unpacked(gzip[..gzip.len() - 4].to_vec()).broken, 1);
        let zip = zipped(&[("a/PT1H.json", b"one"), ("b/PT1H.json", b"two")]);
        assert_eq!(
            unpacked(zip.clone()),
            Unpacked { blobs: vec![b"one".to_vec(), b"two".to_vec()], broken: 0 }
        );
        assert_eq!(unpacked(zip[..zip.len() / 2].to_vec()), Unpacked { blobs: Vec::new(), broken: 1 });
        assert_eq!(unpacked(b"{}".to_vec()), Unpacked { blobs: vec![b"{}".to_vec()], broken: 0 });
        for end in 0..zip.len() {
            let _ = unpacked(zip[..end].to_vec());
        }
    }
}
