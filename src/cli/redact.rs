//! `ghost shell redact`: takes the secrets out of what comes in.

use std::io::{Read, Write};

use anyhow::Context as _;
use serde::Serialize;

use crate::shell;

/// The most that is read at once.
const LIMIT_MIB: u64 = 64;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'a> {
    text: &'a str,
    count: usize,
    categories: Vec<&'static str>,
}

/// Reads standard input to its end and prints it without its secrets; as JSON, with what was found.
pub(crate) fn run(json: bool) -> anyhow::Result<()> {
    let output = redacted(std::io::stdin().lock(), json)?;
    std::io::stdout().lock().write_all(output.as_bytes()).context("writing the redacted text")
}

/// Reads a text and returns what is printed. Bytes that are no UTF-8 become the replacement character.
fn redacted(input: impl Read, json: bool) -> anyhow::Result<String> {
    let limit = LIMIT_MIB * 1024 * 1024;
    let mut bytes = Vec::new();
    input.take(limit + 1).read_to_end(&mut bytes).context("reading standard input")?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    anyhow::ensure!(
        length <= limit,
        "standard input is larger than {LIMIT_MIB} MiB, the most that is redacted at once"
    );
    let redacted = shell::redact(&String::from_utf8_lossy(&bytes));
    if !json {
        return Ok(redacted.into_string());
    }
    let report =
        Report { text: redacted.as_str(), count: redacted.count(), categories: redacted.categories() };
    Ok(serde_json::to_string(&report).context("printing the report")? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_goes_out_without_its_secrets_and_nothing_else_changes() {
        assert_eq!(
            redacted(&b"up\npassword=hunter2\n"[..], false).unwrap(),
            "up\npassword=[redacted:password]\n"
        );
    }

    #[test]
    fn the_report_counts_what_was_found() {
        let report = redacted(&b"\xffpassword=hunter2"[..], true).unwrap();
        let expected =
            "{\"text\":\"\u{fffd}password=[redacted:password]\",\"count\":1,\"categories\":[\"password\"]}\n";
        assert_eq!(report, expected);
    }

    #[test]
    fn too_much_is_refused_with_the_limit() {
        let error = redacted(std::io::repeat(b'a'), false).unwrap_err();
        assert!(error.to_string().contains("64 MiB"));
    }
}
