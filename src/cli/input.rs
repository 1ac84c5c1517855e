//! Reading what a subcommand is given: a file, or standard input.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use anyhow::Context as _;

use super::print::Hinted;

/// Reads a text of limited size; `-` is standard input.
///
/// # Errors
/// Fails where it cannot be read, is larger than the limit, or is no text.
pub(super) fn text(path: &Path, limit: usize) -> anyhow::Result<String> {
    let reading = || format!("reading {}", path.display());
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    if path.as_os_str() == "-" {
        io::stdin().lock().take(most).read_to_end(&mut bytes).with_context(reading)?;
    } else {
        File::open(path).with_context(reading)?.take(most).read_to_end(&mut bytes).with_context(reading)?;
    }
    if bytes.len() > limit {
        let error = anyhow::anyhow!("it has more than {limit} bytes").context(reading());
        return Err(Hinted::new(error, "give the output of one host at a time").into());
    }
    String::from_utf8(bytes).map_err(|_| {
        let error = anyhow::anyhow!("it is no text").context(reading());
        Hinted::new(error, "give what the tool printed, not a packed or binary file").into()
    })
}
