//! Whether an audit file is whole, read once from front to back in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::audit::chain::{Broken, Chain, LineEffect};
use ghost_base::Digest;

/// What `verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The file is whole, and it holds the given head.
    pub ok: bool,
    /// How many records are good, counted up to the first bad one.
    pub records: u64,
    /// The hash of the last good record.
    pub head: Option<String>,
    /// How many records follow the given head; above 0 the head is merely older than the file.
    pub after_head: Option<u64>,
    /// The number that the first bad record has or should have.
    pub first_bad: Option<u64>,
    /// Why the file is not whole.
    pub reason: Option<String>,
}

/// Checks every record's hash, number, session and predecessor, and that each torn run of bytes is accounted for.
///
/// A chain cannot show that its last records are missing. `head`, noted when it was the last, can: it must stand
/// somewhere in the chain. Records behind it are no fault, since a session goes on after its head is noted.
///
/// An empty file is whole unless a head is asked for.
///
/// # Errors
/// Fails where `reader` does; whatever bytes it brings, the answer is a [`Verification`].
pub fn verify(reader: impl BufRead, head: Option<&str>) -> io::Result<Verification> {
    verify_up_to(reader, head, &HeadSource::Given)
}

/// Where the head that a chain has to hold comes from.
enum HeadSource<'h> {
    /// Whoever asks gave it.
    Given,
    /// This file notes it.
    NotedIn(&'h Path),
}

fn verify_up_to(
    mut reader: impl BufRead,
    head: Option<&str>,
    source: &HeadSource<'_>,
) -> io::Result<Verification> {
    let wanted = head.map(|head| head.trim().to_ascii_lowercase());
    let is_wanted = |head: Digest| wanted.as_deref().is_some_and(|wanted| head.to_string() == wanted);
    let mut found = None;
    let mut chain = Chain::unknown();
    let mut buffer = Vec::new();
    let mut line = 0_u64;
    loop {
        let step = chain.step(&mut reader, &mut buffer)?;
        line += 1;
        let here = chain.last();
        match step {
            LineEffect::Record => {
                // What the first record follows from is the head of the log before it.
                if here.records == 1 && is_wanted(chain.before().head) {
                    found = Some(0);
                }
                if is_wanted(here.head) {
                    found = Some(here.records);
                }
            }
            LineEffect::Torn => {}
            LineEffect::Broken(broken) => return Ok(bad(&chain, line, broken)),
            LineEffect::End if !chain.torn().is_empty() => return Ok(bad(&chain, line, Broken::Unrepaired)),
            LineEffect::End => break,
        }
    }
    let records = chain.last().records;
    let reason = match (&wanted, found) {
        (Some(wanted), None) => Some(missing(wanted, source)),
        (Some(_), Some(_)) | (None, _) => None,
    };
    Ok(Verification {
        ok: reason.is_none(),
        records,
        head: last_hash(&chain),
        after_head: found.map(|found| records - found),
        first_bad: None,
        reason,
    })
}

/// A head that was noted beside the audit files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedHead {
    /// The file that notes it.
    pub file: PathBuf,
    /// The hash.
    pub head: String,
}

impl NotedHead {
    /// Checks a chain as [`verify()`] does; it has to hold this head.
    ///
    /// # Errors
    /// Fails where `reader` does.
    pub fn verify(&self, reader: impl BufRead) -> io::Result<Verification> {
        let found = verify_up_to(reader, Some(&self.head), &HeadSource::NotedIn(&self.file))?;
        Ok(Verification { after_head: None, ..found })
    }
}

/// Finds the last head that was noted for the audit file of a session, if the file lies in its data folder: `DATA/audit/SESSION.jsonl`
/// beside `DATA/heads.log`.
///
/// # Errors
/// Fails where `heads.log` is there and cannot be read.
pub fn noted_head(audit: &Path) -> io::Result<Option<NotedHead>> {
    const MAX_LINE: u64 = 4096;
    let audit = audit.canonicalize()?;
    let folder = audit.parent().filter(|folder| folder.ends_with("audit")).and_then(Path::parent);
    let (Some(folder), Some(session)) = (folder, audit.file_stem().and_then(|stem| stem.to_str())) else {
        return Ok(None);
    };
    let file = folder.join("heads.log");
    let mut lines = match File::open(&file) {
        Ok(opened) => BufReader::new(opened),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut head = None;
    let mut line = Vec::new();
    while (&mut lines).take(MAX_LINE).read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        if let [_time, named, _number, hash] = text.split_whitespace().collect::<Vec<_>>().as_slice()
            && *named == session
        {
            head = Some((*hash).to_owned());
        }
        line.clear();
    }
    Ok(head.map(|head| NotedHead { file, head }))
}

fn bad(chain: &Chain, line: u64, broken: Broken) -> Verification {
    let records = chain.last().records;
    let number = records + 1;
    let place = match broken {
        // The bytes that are to blame stand before the line that brought it to light.
        Broken::Unrepaired => format!("record {number}"),
        Broken::Foreign
        | Broken::Altered
        | Broken::Format { .. }
        | Broken::Session
        | Broken::Sequence { .. }
        | Broken::Previous
        | Broken::Repair
        | Broken::TooLong => format!("record {number}, line {line}"),
    };
    Verification {
        ok: false,
        records,
        head: last_hash(chain),
        after_head: None,
        first_bad: Some(number),
        reason: Some(format!("{place}: {broken}")),
    }
}

fn missing(wanted: &str, source: &HeadSource<'_>) -> String {
    let whole = wanted.len() == 64 && wanted.bytes().all(|byte| byte.is_ascii_hexdigit());
    let why = if whole {
        "records are missing at the end, or the head is another file's"
    } else {
        "it is not a head, which has 64 hexadecimal digits"
    };
    let head = match source {
        HeadSource::Given => "the given head".to_owned(),
        HeadSource::NotedIn(file) => format!("the last head that {} notes", file.display()),
    };
    format!("{head} stands nowhere in the chain: {why}")
}

fn last_hash(chain: &Chain) -> Option<String> {
    (chain.last().records > 0).then(|| chain.last().head.to_string())
}
