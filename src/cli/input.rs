//! Reading what a subcommand is given: a file, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use anyhow::Context as _;

use super::print::Hinted;
pub(super) use super::print::harmless;

/// Reads a text of limited size; `-` is standard input.
///
/// # Errors
/// Fails where it cannot be read, is larger than the limit, or is no text.
pub(super) fn text(path: &Path, limit: usize) -> anyhow::Result<String> {
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
    String::from_utf8(bytes).map_err(|_| {
        let error = anyhow::anyhow!("{name} is not UTF-8 text");
        let hint =
            "give what the tool printed, not a packed or binary file; PowerShell: `Out-File -Encoding utf8`";
        Hinted::new(error, hint).into()
    })
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
    fn an_endless_document_is_refused_in_bounded_memory() {
        assert!(bounded(io::repeat(b'['), 1 << 20).unwrap().is_none());
        assert_eq!(bounded(&b"[]"[..], 2).unwrap().unwrap(), b"[]");
    }
}
