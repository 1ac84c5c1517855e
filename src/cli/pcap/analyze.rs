//! `ghost pcap analyze`.

use std::fs::Metadata;
use std::io::{self, BufWriter, IsTerminal as _, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;

use super::follow::follow;
use super::growing::{Patience, Pipe, Tail};
use super::keep::keep;
use super::progress::Progress;
use super::source::{name, opened, piped, refused};
use ghost_pcap::{
    AddressFilter, Analyzer, Finding, FindingState, FindingUpdate, HashingReader, Label, Scope, Severity,
    Summary, frames, markdown,
};
use ghost_tools::print::harmless;
use ghost_tools::print::{Hinted, line};

const BAD_NEWS: u8 = 3;

/// A warning that no more packets show may be chance.
const HANDFUL: f64 = 4.0;

/// Figures of findings that count the packets which show them.
const COUNTS: [&str; 12] = [
    "packets",
    "frames",
    "refusals",
    "unanswered",
    "errors",
    "repetitions",
    "syns",
    "alerts",
    "gaps",
    "probes",
    "incomplete",
    "datagrams",
];

/// The arguments of `ghost pcap analyze`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The capture; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Print all that is known rather than the most important.
    #[arg(long)]
    full: bool,
    /// Narrow lists to an address, or to one of its ports; counts and findings stay those of the whole capture.
    #[arg(long, value_name = "IP[:PORT]")]
    focus: Option<AddressFilter>,
    /// List the frames of a count: one number a line, or `frames` in the document.
    #[arg(long, value_name = "LABEL")]
    frames: Option<Label>,
    /// Print the SHA-256 digest of the file.
    #[arg(long)]
    digest: bool,
    /// Go on as the capture grows, and tell findings as they appear; Ctrl-C ends it with the account.
    #[arg(long, conflicts_with = "digest")]
    follow: bool,
    /// End following after so many seconds.
    #[arg(long = "for", value_name = "SECONDS", requires = "follow", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
    /// Also write the account, the report and the pictures into a folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with 3 where a finding is critical, or a warning that more than a handful of packets show.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let scope = Scope {
        full: arguments.full,
        frames: arguments.frames,
        focus: arguments.focus,
        pictures: arguments.out.is_some(),
    };
    // Where only the list is wanted, it is printed at once: it may be as long as the capture.
    let streamed =
        arguments.frames.filter(|_| !arguments.json && arguments.out.is_none() && !arguments.follow);
    let scope = Scope { frames: scope.frames.filter(|_| streamed.is_none()), ..scope };
    let summary = if arguments.follow {
        followed(arguments, scope)?
    } else {
        analyzed(&arguments.file, scope, arguments.digest, streamed)?
    };
    let json = serde_json::to_string(&summary)?;
    let text = || harmless(&markdown(&summary, &name(&arguments.file)));
    if let Some(folder) = &arguments.out {
        keep(folder, &arguments.file, &summary, (&json, &text()))?;
    }
    let listed = summary.frames.as_ref().and_then(|frames| frames.values().next());
    match (arguments.json, listed) {
        (true, _) => line(&json)?,
        (false, Some(listed)) => {
            for number in listed {
                line(&number.to_string())?;
            }
        }
        (false, None) if streamed.is_some() => {}
        (false, None) => line(text().trim_end())?,
    }
    let bad = summary.findings.iter().any(is_bad_news);
    Ok(if arguments.exit_code && bad { BAD_NEWS } else { 0 })
}

/// Tells whether a finding is bad news.
fn is_bad_news(finding: &Finding) -> bool {
    let evidence = &finding.evidence;
    // It names a few of its frames, five at most, and counts them where there can be more.
    let counted = COUNTS.iter().filter_map(|name| evidence.numbers.get(name)).any(|count| *count > HANDFUL);
    let named = evidence.frames.iter().zip(1_u8..).any(|(_, at)| f64::from(at) > HANDFUL);
    match finding.severity {
        Severity::Critical => true,
        Severity::Warning => counted || named,
        Severity::Info => false,
    }
}

/// Reads on as the capture grows, and prints findings as they appear.
fn followed(arguments: &Arguments, scope: Scope) -> anyhow::Result<Summary> {
    let patience = Patience::new(arguments.seconds.map(|seconds| Duration::from_secs(seconds.into())))?;
    let mut analyzer = Analyzer::new(scope);
    let mut tell = |frame: u64, news: &FindingUpdate| print_change(arguments.json, frame, news);
    let file = &arguments.file;
    let ending = if piped(file) {
        not_typed()?;
        follow(&mut Pipe::new(patience), &mut analyzer, &mut tell)?
    } else {
        follow(&mut Tail::new(opened(file)?, file, patience), &mut analyzer, &mut tell)?
    };
    Ok(analyzer.finish(&ending.map_err(|error| refused(error, &name(file)))?))
}

/// Prints what is new in a line.
fn print_change(json: bool, frame: u64, news: &FindingUpdate) -> anyhow::Result<()> {
    if json {
        return line(
            &serde_json::json!({"live": news.state, "frame": frame, "finding": news.finding}).to_string(),
        );
    }
    let Finding { code, severity, title, evidence, .. } = &news.finding;
    let turn = match news.state {
        FindingState::New => "",
        FindingState::Worse => " again",
        FindingState::Cleared => " no longer",
    };
    let text = format!("frame {frame}: {}{turn}: {code}: {title}; {}", severity.name(), evidence.filter);
    line(&harmless(&text))
}

fn not_typed() -> anyhow::Result<()> {
    if io::stdin().is_terminal() {
        let error = anyhow::anyhow!("nothing is piped into standard input");
        return Err(Hinted::new(error, "pipe a capture in, or name a file").into());
    }
    Ok(())
}

fn analyzed(file: &Path, scope: Scope, digest: bool, streamed: Option<Label>) -> anyhow::Result<Summary> {
    if piped(file) {
        not_typed()?;
        return passed(Progress::new(io::stdin().lock(), None), scope, (digest, streamed), "standard input");
    }
    let source = opened(file)?;
    let size = source.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
    passed(Progress::new(source, size), scope, (digest, streamed), &file.display().to_string())
}

fn passed(
    source: impl Read,
    scope: Scope,
    (digest, streamed): (bool, Option<Label>),
    name: &str,
) -> anyhow::Result<Summary> {
    let mut analyzer = Analyzer::new(scope);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut written = Ok(());
    let mut each = |frame: &ghost_pcap::Frame<'_>| {
        let labels = analyzer.feed(frame);
        if written.is_ok() && streamed.is_some_and(|label| labels.has(label)) {
            written = writeln!(out, "{}", frame.number);
        }
    };
    let mut sum = None;
    let ending = if digest {
        let mut digested = HashingReader::new(source);
        let ending = frames(&mut digested, &mut each);
        sum = Some(digested.finish().with_context(|| format!("digesting {name}"))?);
        ending
    } else {
        frames(source, &mut each)
    };
    written.and_then(|()| out.flush())?;
    drop(out);
    let ending = ending.map_err(|error| refused(error, name))?;
    let mut summary = analyzer.finish(&ending);
    summary.file.sha256 = sum;
    Ok(summary)
}
