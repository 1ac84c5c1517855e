//! Bytes: encoded, packed, digested.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use super::options::Options;
use crate::host::script::run::{Io, Shell};

/// The most that a packed text may hold.
const MAX_UNPACKED_BYTES: u64 = 16 << 20;

pub(super) fn base64(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = match Options::read(arguments, "di", "w", &["decode", "wrap", "ignore-garbage"]) {
        Ok(options) => options,
        Err(what) => return shell.complain(io, &format!("base64: {what}"), 1),
    };
    let (content, code) = shell.input("base64", &options.rest, io);
    if code != 0 {
        return code;
    }
    if options.has("d") || options.has("decode") {
        let bare: Vec<u8> = content.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
        return match STANDARD.decode(&bare) {
            Ok(decoded) => {
                shell.put(io, 1, &decoded);
                0
            }
            Err(_) => shell.complain(io, "base64: invalid input", 1),
        };
    }
    let wrap = options.value("w").or_else(|| options.value("wrap")).unwrap_or("76");
    let Ok(wrap) = wrap.parse::<usize>() else {
        return shell.complain(io, &format!("base64: invalid wrap size: ‘{wrap}’"), 1);
    };
    let encoded = STANDARD.encode(&content);
    if wrap == 0 {
        shell.put(io, 1, encoded.as_bytes());
        return 0;
    }
    let mut out = Vec::new();
    for line in encoded.as_bytes().chunks(wrap) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    shell.put(io, 1, &out);
    0
}

pub(super) fn gzip(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = match Options::read(
        arguments,
        "cdkfnq123456789",
        "",
        &["stdout", "decompress", "best", "fast", "no-name", "keep", "force"],
    ) {
        Ok(options) => options,
        Err(what) => return shell.complain(io, &format!("gzip: {what}"), 1),
    };
    if options.has("d") || options.has("decompress") {
        return gunzip(shell, arguments, io);
    }
    let (content, code) = shell.input("gzip", &options.rest, io);
    if code != 0 {
        return code;
    }
    let level =
        if options.has("9") || options.has("best") { Compression::best() } else { Compression::default() };
    let mut encoder = GzEncoder::new(Vec::new(), level);
    let Ok(packed) = encoder.write_all(&content).and_then(|()| encoder.finish()) else {
        return shell.complain(io, "gzip: cannot pack", 1);
    };
    match options.rest.first() {
        Some(file) if !(options.has("c") || options.has("stdout")) => {
            let path = shell.path(file);
            let written = shell.calls.files().write(&format!("{path}.gz"), packed);
            if written && !options.has("k") {
                shell.calls.files().remove(&path);
            }
            u8::from(!written)
        }
        _ => {
            shell.put(io, 1, &packed);
            0
        }
    }
}

pub(super) fn gunzip(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let files: Vec<String> = arguments.iter().filter(|word| !word.starts_with('-')).cloned().collect();
    let (content, code) = shell.input("gzip", &files, io);
    if code != 0 {
        return code;
    }
    let mut plain = Vec::new();
    match GzDecoder::new(content.as_slice()).take(MAX_UNPACKED_BYTES).read_to_end(&mut plain) {
        Ok(_) => {
            shell.put(io, 1, &plain);
            0
        }
        Err(_) => shell.complain(io, "gzip: stdin: not in gzip format", 1),
    }
}

pub(super) fn sha256sum(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let (inputs, code) = shell.inputs("sha256sum", arguments, io);
    for (name, content) in inputs {
        let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        shell.say(io, &format!("{digest}  {name}"));
    }
    code
}
