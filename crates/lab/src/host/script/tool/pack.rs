//! Bytes: encoded, packed, digested, cut into pieces.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use md5::Md5;
use sha2::{Digest as _, Sha256};

use super::options::Options;
use crate::host::script::run::{Io, Shell};

/// The most that a packed text may hold.
const LARGEST: u64 = 16 << 20;

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
    match GzDecoder::new(content.as_slice()).take(LARGEST).read_to_end(&mut plain) {
        Ok(_) => {
            shell.put(io, 1, &plain);
            0
        }
        Err(_) => shell.complain(io, "gzip: stdin: not in gzip format", 1),
    }
}

pub(super) fn sha256sum(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    digests(shell, "sha256sum", arguments, io, |content| hex(&Sha256::digest(content)))
}

pub(super) fn md5sum(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    digests(shell, "md5sum", arguments, io, |content| hex(&Md5::digest(content)))
}

fn digests(
    shell: &mut Shell<'_>,
    tool: &str,
    arguments: &[String],
    io: &Io,
    digest: fn(&[u8]) -> String,
) -> u8 {
    let files: Vec<String> =
        arguments.iter().filter(|word| !(word.starts_with('-') && word.len() > 1)).cloned().collect();
    let (inputs, code) = shell.inputs(tool, &files, io);
    for (name, content) in inputs {
        shell.say(io, &format!("{}  {name}", digest(&content)));
    }
    code
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn dd(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let value = |name: &str| {
        arguments.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
    };
    let number = |name: &str, otherwise: usize| value(name).map_or(Some(otherwise), |text| size(&text));
    let (Some(block), Some(count), Some(skip)) =
        (number("bs", 512), number("count", usize::MAX), number("skip", 0))
    else {
        return shell.complain(io, "dd: invalid number", 1);
    };
    let files: Vec<String> = value("if").into_iter().collect();
    let content = if files.first().is_some_and(|file| file == "/dev/zero") {
        vec![0; block.saturating_mul(count).min(8 << 20)]
    } else {
        let (content, code) = shell.input("dd", &files, io);
        if code != 0 {
            return code;
        }
        content
    };
    let from = block.saturating_mul(skip).min(content.len());
    let to = from.saturating_add(block.saturating_mul(count)).min(content.len());
    let part = content.get(from..to).unwrap_or_default().to_vec();
    match value("of").filter(|file| file != "/dev/null") {
        Some(file) => {
            let path = shell.path(&file);
            if !shell.calls.files().write(&path, part.clone()) {
                return shell.complain(io, "dd: error writing: No space left on device", 1);
            }
        }
        None if value("of").is_some() => {}
        None => shell.put(io, 1, &part),
    }
    if value("status").as_deref() != Some("none") {
        let (whole, rest) = (part.len() / block.max(1), usize::from(part.len() % block.max(1) != 0));
        shell.complain(
            io,
            &format!("{whole}+{rest} records in\n{whole}+{rest} records out\n{} bytes copied", part.len()),
            0,
        );
    }
    0
}

fn size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.chars().last()? {
        'k' | 'K' => (text.get(..text.len() - 1)?, 1 << 10),
        'M' => (text.get(..text.len() - 1)?, 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}
