//! `ghost shell classify`.

use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Write as _};

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use crate::print::line;
use crate::setup::Setup;
use crate::tone::{is_colored, verdict};
use ghost_shell::{Impact, Policy, Ruling, Verdict};

/// A longer line is no question: no command of that length could run.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The arguments of `ghost shell classify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost shell classify 'ip route get 10.0.1.5'\n  ghost shell classify 'sudo rm -rf /' --json\n  printf '{\"command\":\"ss -s\"}\\n' | ghost shell classify --jsonl"
)]
pub(super) struct Arguments {
    /// The command, as one argument.
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl", allow_hyphen_values = true)]
    command: Option<String>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Read `{"command": …}` lines from standard input and answer a JSON line each, in order.
    #[arg(long)]
    jsonl: bool,
    /// Exit with 3 where the command is BLOCKED.
    #[arg(long)]
    exit_code: bool,
}

/// The answer as the contracts fix it.
#[derive(Serialize)]
pub struct Classified<'a> {
    command: Option<&'a str>,
    verdict: Verdict,
    tier: u8,
    rule: &'a str,
    reason: &'a str,
    argv: Option<&'a [String]>,
    pipeline: Option<&'a [Vec<String>]>,
    impact: Option<Impact>,
    destinations: &'a [String],
}

impl<'a> Classified<'a> {
    /// Answers about a command.
    pub fn new(command: &'a str, ruling: &'a Ruling) -> Self {
        Self {
            command: Some(command),
            verdict: ruling.verdict,
            tier: ruling.tier.number(),
            rule: &ruling.rule,
            reason: &ruling.reason,
            argv: ruling.argv.as_deref(),
            pipeline: ruling.pipeline.as_deref(),
            impact: ruling.impact,
            destinations: &ruling.destinations,
        }
    }
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let policy = setup.policy()?;
    if arguments.jsonl {
        return lines(&policy).map(|()| 0);
    }
    let command = arguments.command.as_deref().unwrap_or_default();
    let ruling = policy.classify(command);
    if arguments.json {
        line(&serde_json::to_string(&Classified::new(command, &ruling))?)?;
    } else {
        line(&format!(
            "{}  {}  ({}, tier {})",
            verdict(ruling.verdict, is_colored()),
            ruling.reason,
            ruling.rule,
            ruling.tier.number()
        ))?;
    }
    Ok(match ruling.verdict {
        Verdict::Blocked if arguments.exit_code => 3,
        Verdict::Safe | Verdict::Risky | Verdict::Blocked => 0,
    })
}

fn lines(policy: &Policy) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut input = BufReader::new(io::stdin());
    let mut raw = Vec::new();
    while read_line(&mut input, &mut raw).context("reading standard input")? {
        answer_line(policy, &raw, &mut out)?;
        raw.clear();
        // Whoever asks line by line waits for the answer before the next question.
        if input.buffer().is_empty() {
            out.flush().context("writing standard output")?;
        }
    }
    out.flush().context("writing standard output")
}

/// Reads a line, of which no more is kept than a question can have; the rest is passed over.
fn read_line(input: &mut impl BufRead, raw: &mut Vec<u8>) -> io::Result<bool> {
    if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', raw)? == 0 {
        return Ok(false);
    }
    if !raw.ends_with(b"\n") && u64::try_from(raw.len()).is_ok_and(|length| length >= MAX_LINE_BYTES) {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}

fn answer_line(policy: &Policy, raw: &[u8], out: &mut impl io::Write) -> anyhow::Result<()> {
    #[derive(serde::Deserialize)]
    struct Question {
        command: String,
    }
    match serde_json::from_slice::<Question>(raw) {
        Ok(question) => {
            let ruling = policy.classify(&question.command);
            serde_json::to_writer(&mut *out, &Classified::new(&question.command, &ruling))?;
        }
        Err(error) => {
            let long = u64::try_from(raw.len()).is_ok_and(|length| length >= MAX_LINE_BYTES);
            let reason = if long {
                format!("the line is longer than {MAX_LINE_BYTES} bytes")
            } else {
                format!("the line is no question: {error}")
            };
            let answer = Classified {
                command: None,
                verdict: Verdict::Risky,
                tier: 3,
                rule: "input.line",
                reason: &reason,
                argv: None,
                pipeline: None,
                impact: Some(Impact::Change),
                destinations: &[],
            };
            serde_json::to_writer(&mut *out, &answer)?;
        }
    }
    out.write_all(b"\n")?;
    Ok(())
}
