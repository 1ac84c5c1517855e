//! Whether an audit file is whole, read once from front to back in bounded memory.

use std::io::{self, BufRead};

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
pub fn verify(mut reader: impl BufRead, head: Option<&str>) -> io::Result<Verification> {
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
        (Some(wanted), None) => Some(missing(wanted)),
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

fn missing(wanted: &str) -> String {
    let whole = wanted.len() == 64 && wanted.bytes().all(|byte| byte.is_ascii_hexdigit());
    let why = if whole {
        "records are missing at the end, or the head is another file's"
    } else {
        "it is not a head, which has 64 hexadecimal digits"
    };
    format!("the given head stands nowhere in the chain: {why}")
}

fn last_hash(chain: &Chain) -> Option<String> {
    (chain.last().records > 0).then(|| chain.last().head.to_string())
}
