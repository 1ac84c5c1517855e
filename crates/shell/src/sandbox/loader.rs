//! What the kernel executes on behalf of a program: its interpreter, the interpreter's loader.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::Programs;

/// The kernel follows a chain of interpreters this far.
const MAX_DEPTH: usize = 5;
/// The kernel reads this much of a script's first line.
const FIRST_LINE: usize = 256;
/// The program header that names the loader.
const PT_INTERP: u32 = 3;

/// Lists a program and everything that executing it executes. A file that cannot be read names nothing further: then
/// the kernel refuses to execute what is missing here, which is the safe side.
pub(super) fn closure(program: &Path, programs: &Programs) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut next = vec![program.to_owned()];
    for _ in 0..MAX_DEPTH {
        let fresh: Vec<PathBuf> = next.drain(..).filter(|path| found.insert(path.clone())).collect();
        next = fresh.iter().flat_map(|path| interpreters(path, programs).unwrap_or_default()).collect();
    }
    found
}

fn interpreters(path: &Path, programs: &Programs) -> io::Result<Vec<PathBuf>> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(FIRST_LINE as u64).read_to_end(&mut head)?;
    if let Some(line) = head.strip_prefix(b"#!") {
        return Ok(script(line, programs));
    }
    Ok(loader(&mut file, &head)?.into_iter().collect())
}

/// Reads `#! INTERPRETER [ARGUMENT]`; of `env NAME` the named program too.
fn script(line: &[u8], programs: &Programs) -> Vec<PathBuf> {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(interpreter) = words.next().map(|word| PathBuf::from(OsStr::from_bytes(word))) else {
        return Vec::new();
    };
    let through_env = interpreter.file_name() == Some(OsStr::new("env"));
    let named = words
        .find(|word| !word.starts_with(b"-") && !word.contains(&b'='))
        .filter(|_| through_env)
        .and_then(|word| std::str::from_utf8(word).ok())
        .and_then(|name| programs.find_approved(name, Path::new("/")).ok());
    std::iter::once(interpreter).chain(named).collect()
}

/// Reads the loader's path from an ELF file of this machine's kind: 64 bits, little endian.
fn loader(file: &mut File, head: &[u8]) -> io::Result<Option<PathBuf>> {
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return Ok(None);
    }
    let (Some(table), Some(size), Some(count)) = (long(head, 32), short(head, 54), short(head, 56)) else {
        return Ok(None);
    };
    for index in 0..u64::from(count) {
        let mut header = [0; 56];
        file.seek(SeekFrom::Start(table.saturating_add(index.saturating_mul(u64::from(size)))))?;
        file.read_exact(&mut header)?;
        if header.first_chunk().map(|kind| u32::from_le_bytes(*kind)) != Some(PT_INTERP) {
            continue;
        }
        let (Some(offset), Some(length)) = (long(&header, 8), long(&header, 32)) else {
            return Ok(None);
        };
        let mut name = Vec::new();
        file.seek(SeekFrom::Start(offset))?;
        file.take(length.min(4096)).read_to_end(&mut name)?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        return Ok(Some(PathBuf::from(OsStr::from_bytes(name))));
    }
    Ok(None)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_script(text: &str) -> BTreeSet<PathBuf> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script");
        std::fs::write(&path, text).unwrap();
        let mut found = closure(&path, &Programs::default());
        assert!(found.remove(&path));
        found
    }

    #[test]
    fn a_program_brings_its_loader() {
        let shell = Programs::default().find("sh").unwrap();
        let found = closure(&shell, &Programs::default());
        assert!(found.iter().any(|path| path.to_string_lossy().contains("/ld-")), "{found:?}");
    }

    #[test]
    fn a_script_brings_its_interpreter_and_the_loader_of_that() {
        let found = of_script("#! /bin/sh -e\n");
        assert!(found.contains(Path::new("/bin/sh")) && found.len() == 2, "{found:?}");
    }

    #[test]
    fn a_script_through_env_brings_both() {
        let found = of_script("#!/usr/bin/env -S sh -e\n");
        assert!(found.contains(Path::new("/usr/bin/env")), "{found:?}");
        assert!(found.contains(&Programs::default().find("sh").unwrap()), "{found:?}");
    }

    #[test]
    fn what_is_neither_script_nor_program_brings_nothing() {
        for text in ["", "#!", "#!\n", "\x7fELF\x02\x01", "text"] {
            assert_eq!(of_script(text), BTreeSet::new(), "{text:?}");
        }
    }
}
