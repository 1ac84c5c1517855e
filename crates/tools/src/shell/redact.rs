//! `ghost shell redact`.

use std::io::{self, Read as _, Write as _};

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use crate::print::line;
use ghost_shell::{redact, redact_with_ids};

/// More than this is not held in memory.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// The arguments of `ghost shell redact`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  az account show | ghost shell redact\n  ghost shell redact --json < trace.log | jq .categories"
)]
pub(super) struct Arguments {
    /// Print one JSON document with the text and what was taken out.
    #[arg(long)]
    json: bool,
    /// Leave the ids of subscriptions and tenants: they are no secrets, but tell whose cloud it is.
    #[arg(long)]
    keep_ids: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    text: &'a str,
    count: usize,
    categories: Vec<&'static str>,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes).context("reading standard input")?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_INPUT_BYTES) {
        bail!("the input is longer than {MAX_INPUT_BYTES} bytes");
    }
    let text = String::from_utf8_lossy(&bytes);
    let redacted = if arguments.keep_ids { redact(&text) } else { redact_with_ids(&text) };
    if arguments.json {
        let answer =
            Answer { text: redacted.as_str(), count: redacted.count(), categories: redacted.categories() };
        line(&serde_json::to_string(&answer)?)?;
    } else {
        io::stdout().lock().write_all(redacted.as_str().as_bytes()).context("writing standard output")?;
    }
    Ok(0)
}
