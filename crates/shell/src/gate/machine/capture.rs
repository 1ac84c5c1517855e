//! Captures by what they begin with: a dump of a key would not be recognized as one in the output.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// What captures begin with: pcap in both orders of bytes, with micro- and nanoseconds, and pcapng.
const CAPTURES: [[u8; 4]; 5] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Says why a file is no capture. One that is missing is left to the program, which says so.
pub(super) fn check(path: &Path) -> Result<(), String> {
    // A pipe must not make us wait for whoever writes into it.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match openat(CWD, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        Err(Errno::LOOP) => return Err("is a link, and may be any file".to_owned()),
        Err(error) => return Err(format!("cannot be looked at: {error}")),
    };
    match is_capture(file) {
        Ok(true) => Ok(()),
        Ok(false) => Err("is named as a capture and does not begin as one".to_owned()),
        Err(error) => Err(format!("cannot be looked at: {error}")),
    }
}

fn is_capture(mut file: File) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let first = beginning(&mut file)?;
    if !first.starts_with(&GZIP) {
        return Ok(CAPTURES.contains(&first));
    }
    let rest = first.as_slice().chain(file);
    // What cannot be unpacked is none either.
    Ok(beginning(&mut GzDecoder::new(rest)).is_ok_and(|first| CAPTURES.contains(&first)))
}

/// Reads the first bytes; what is shorter ends in zeros.
fn beginning(from: &mut impl Read) -> io::Result<[u8; 4]> {
    let mut first = [0; 4];
    let mut filled = 0;
    while let Some(rest) = first.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn of(bytes: &[u8]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pcap");
        fs::write(&path, bytes).unwrap();
        check(&path)
    }

    #[test]
    fn captures_of_every_form_are_captures_packed_or_not() {
        for magic in CAPTURES {
            let file = [&magic[..], &[0; 20]].concat();
            assert_eq!(of(&file), Ok(()), "{magic:x?}");
            assert_eq!(of(&gzip(&file)), Ok(()), "{magic:x?}");
        }
    }

    #[test]
    fn nothing_else_is_a_capture_whatever_its_name() {
        let key = b"-----BEGIN EC PRIVATE KEY-----".as_slice();
        let packed = gzip(key);
        for bytes in
            [key, b"", b"\xa1\xb2", b"{}", b"\x1f\x8b", b"\x1f\x8b\x08\x00junk", &packed, &gzip(&packed)]
        {
            assert!(of(bytes).unwrap_err().contains("does not begin as one"), "{bytes:x?}");
        }
    }

    #[test]
    fn a_link_a_folder_and_a_pipe_are_no_captures_and_a_missing_file_is_left_to_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.pcap");
        fs::write(&real, [0x0a, 0x0d, 0x0d, 0x0a]).unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("link.pcap")).unwrap();
        fs::create_dir(folder.path().join("folder.pcap")).unwrap();
        rustix::fs::mkfifoat(CWD, folder.path().join("pipe.pcap"), Mode::RUSR | Mode::WUSR).unwrap();
        for name in ["link.pcap", "folder.pcap", "pipe.pcap"] {
            assert!(check(&folder.path().join(name)).is_err(), "{name}");
        }
        assert_eq!(check(&folder.path().join("none.pcap")), Ok(()));
        assert_eq!(check(&real), Ok(()));
    }
}
