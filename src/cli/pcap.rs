//! `ghost pcap`: what happened on a network, from a capture.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};

use super::harmless::harmless;
use super::print::{Hinted, line};
use crate::pcap::{
    Analyzer, Digested, Error, Label, Pair, Rule, Scope, Severity, Summary, compare, frames, markdown,
    markdown_of_pair, rules,
};

const BAD_NEWS: u8 = 3;

/// The arguments of `ghost pcap`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says what a capture shows: counts, connections, names, complaints, findings.
    #[command(
        after_help = "Examples:\n  ghost pcap analyze trouble.pcap\n  ghost pcap analyze trouble.pcapng.gz --json | jq .findings\n  tcpdump -w - -c 1000 | ghost pcap analyze -\n  ghost pcap analyze trouble.pcap --frames retransmission\n\nReads pcap (microseconds or nanoseconds, either byte order) and pcapng, packed with gzip or not. What is cut off is read up to\nthere. With --exit-code: 3 where a finding is critical."
    )]
    Analyze {
        /// The capture; `-` is standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Print all that is known rather than the most important.
        #[arg(long)]
        full: bool,
        /// List the frames of a count: one number a line, or `frames` in the document.
        #[arg(long, value_name = "LABEL")]
        frames: Option<Label>,
        /// Print the SHA-256 digest of the file.
        #[arg(long)]
        digest: bool,
        /// Exit with 3 where a finding is critical.
        #[arg(long)]
        exit_code: bool,
    },
    /// Compares two captures: two times, or the two ends of a way.
    #[command(
        after_help = "Examples:\n  ghost pcap compare before.pcap now.pcap\n  ghost pcap compare source.pcap destination.pcap --mode endpoints --json\n\nA packet is the same at both places when all is the same that routers leave alone: addresses, protocol, identification, length and\nthe bytes behind the IP header. Both modes tell the same; the mode orders the text."
    )]
    Compare {
        /// The time before, or the source side.
        #[arg(value_name = "A")]
        a: PathBuf,
        /// Now, or the destination side.
        #[arg(value_name = "B")]
        b: PathBuf,
        /// What the text tells first.
        #[arg(long, value_enum, default_value = "temporal")]
        mode: Mode,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Print every direction rather than those with most trouble.
        #[arg(long)]
        full: bool,
    },
    /// Prints the rules that findings come from: codes, severities, limits.
    #[command(after_help = "Examples:\n  ghost pcap rules\n  ghost pcap rules --json | jq '.[].code'")]
    Rules {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

/// The rules as a table for people.
fn table() -> String {
    let row = |rule: &Rule| {
        let limit = if rule.percent > 0.0 {
            format!("{} and {} %", rule.at_least, rule.percent)
        } else {
            rule.at_least.to_string()
        };
        format!("{:<20} {:<9} {limit:<12} {}", rule.code, rule.severity.name(), rule.when)
    };
    rules().iter().map(row).collect::<Vec<_>>().join("\n")
}

/// What the text of a comparison tells first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// What changed.
    Temporal,
    /// Which packets arrived.
    Endpoints,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Compare { a, b, mode, json, full } => {
            let pair = compared(&[a, b], *full)?;
            let ends = matches!(mode, Mode::Endpoints);
            let text =
                || harmless(&markdown_of_pair(&pair, (&name(a), &name(b)), ends)).trim_end().to_owned();
            line(&if *json { serde_json::to_string(&pair)? } else { text() })?;
            Ok(0)
        }
        Sub::Rules { json } => {
            line(&if *json { serde_json::to_string(rules())? } else { table() })?;
            Ok(0)
        }
        Sub::Analyze { file, json, full, frames, digest, exit_code } => {
            let scope = Scope { full: *full, frames: *frames };
            let summary = analyzed(file, scope, *digest)?;
            let listed = summary.frames.as_ref().and_then(|frames| frames.values().next());
            match (json, listed) {
                (true, _) => line(&serde_json::to_string(&summary)?)?,
                (false, Some(listed)) => {
                    let numbers: Vec<String> = listed.iter().map(ToString::to_string).collect();
                    if !numbers.is_empty() {
                        line(&numbers.join("\n"))?;
                    }
                }
                (false, None) => line(harmless(&markdown(&summary, &name(file))).trim_end())?,
            }
            let critical = summary.findings.iter().any(|finding| finding.severity == Severity::Critical);
            Ok(if *exit_code && critical { BAD_NEWS } else { 0 })
        }
    }
}

fn compared(files: &[&PathBuf; 2], full: bool) -> anyhow::Result<Pair> {
    for file in files {
        if *file == Path::new("-") {
            let error = anyhow::anyhow!("standard input cannot be compared: each capture is read twice");
            return Err(Hinted::new(error, "write it into a file first").into());
        }
        drop(opened(file)?);
    }
    let open = |which: usize| {
        let [a, b] = files;
        File::open(if which == 0 { a } else { b }).map_err(Error::Read)
    };
    compare(open, full).map_err(|(which, error)| {
        let [a, b] = files;
        refused(error, &if which == 0 { a } else { b }.display().to_string())
    })
}

fn name(file: &Path) -> String {
    if file == Path::new("-") {
        return "standard input".to_owned();
    }
    file.file_name().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn analyzed(file: &Path, scope: Scope, digest: bool) -> anyhow::Result<Summary> {
    if file == Path::new("-") {
        if io::stdin().is_terminal() {
            let error = anyhow::anyhow!("nothing is piped into standard input");
            return Err(Hinted::new(error, "pipe a capture in, or name a file").into());
        }
        return passed(io::stdin().lock(), scope, digest, "standard input");
    }
    passed(opened(file)?, scope, digest, &file.display().to_string())
}

fn opened(file: &Path) -> anyhow::Result<File> {
    let shown = file.display().to_string();
    let opened = File::open(file).with_context(|| format!("opening {shown}"))?;
    let kind = opened.metadata().with_context(|| format!("looking at {shown}"))?;
    if kind.is_dir() {
        let error = anyhow::anyhow!("{shown} is a folder");
        return Err(Hinted::new(error, "name a capture in it").into());
    }
    Ok(opened)
}

fn passed(source: impl Read, scope: Scope, digest: bool, name: &str) -> anyhow::Result<Summary> {
    let mut analyzer = Analyzer::new(scope);
    let mut each = |frame: &crate::pcap::Frame<'_>| {
        analyzer.feed(frame);
    };
    let mut sum = None;
    let ending = if digest {
        let mut digested = Digested::new(source);
        let ending = frames(&mut digested, &mut each);
        sum = Some(digested.finish().with_context(|| format!("digesting {name}"))?);
        ending
    } else {
        frames(source, &mut each)
    };
    let ending = ending.map_err(|error| refused(error, name))?;
    let mut summary = analyzer.finish(&ending);
    summary.file.sha256 = sum;
    Ok(summary)
}

fn refused(error: Error, name: &str) -> anyhow::Error {
    let hint = match &error {
        Error::Empty => "wait until something was captured; tcpdump writes its header first",
        Error::NotACapture => {
            "give what `tcpdump -w`, dumpcap or Network Watcher wrote, packed with gzip or not"
        }
        Error::HeaderCut => "copy the file once more: not even its header is whole",
        Error::Packed(_) => "copy the file once more, or unpack it by hand",
        Error::Read(_) => "see whether the file can be read at all",
    };
    let error = anyhow::Error::new(error).context(format!("{name} is no capture that can be analyzed"));
    Hinted::new(error, hint).into()
}
