//! `ghost meter parse` and `ghost meter compute`: what measurements say.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::input;
use crate::print::{Hinted, line};
use ghost_cloud::meter::{MAX_OUTPUT_BYTES, ParseError, Samples, Tool, compute, parse};

/// The answer is bad news.
pub(super) const BAD_NEWS: u8 = 3;

/// The arguments of `ghost meter parse`.
#[derive(Debug, Args)]
pub(super) struct Parse {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// The tool that printed it.
    #[arg(long, value_enum)]
    tool: Named,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// The arguments of `ghost meter compute`.
#[derive(Debug, Args)]
pub(super) struct Compute {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Print one JSON document, as it does anyway.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where the run is not stable.
    #[arg(long)]
    exit_code: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Named {
    Qperf,
    Iperf,
}

impl From<Named> for Tool {
    fn from(named: Named) -> Self {
        match named {
            Named::Qperf => Self::Qperf,
            Named::Iperf => Self::Iperf,
        }
    }
}

/// Reads a figure.
pub(super) fn parsed(arguments: &Parse) -> anyhow::Result<u8> {
    let tool = Tool::from(arguments.tool);
    let value = parse(tool, &input::text(&arguments.file, MAX_OUTPUT_BYTES)?).map_err(hinted)?;
    let unit = tool.unit();
    line(&if arguments.json {
        json!({"value": value, "unit": unit}).to_string()
    } else {
        format!("{value} {unit}")
    })?;
    Ok(0)
}

/// Judges samples.
pub(super) fn computed(arguments: &Compute) -> anyhow::Result<u8> {
    let found = compute(&samples(&arguments.file)?)?;
    line(&found.to_json().to_string())?;
    Ok(if arguments.exit_code && found.anomaly.is_some() { BAD_NEWS } else { 0 })
}

fn samples(file: &Path) -> anyhow::Result<Samples> {
    let text = input::text(file, MAX_OUTPUT_BYTES)?;
    let read = serde_json::from_str(&text).context("reading the samples");
    Ok(read.map_err(|error| {
        Hinted::new(
            error,
            "give {\"test_type\":\"latency|throughput|both\",\"latency_us\":[…],\"throughput_gbps\":[…]}",
        )
    })?)
}

fn hinted(error: ParseError) -> anyhow::Error {
    let hint = match &error {
        ParseError::Empty | ParseError::Missing(_) => "give all that the tool printed, errors too",
        ParseError::Failed(_) => {
            "the connection itself did not work: look at rules, routes and listeners first"
        }
        ParseError::Unreadable(_) => "the text was cut off or changed; measure again",
        ParseError::Foreign(_) => "name the tool that printed it with --tool; of iperf, version 2 is read",
    };
    // It shows a line of the tool's text, which is anybody's.
    Hinted::new(anyhow::anyhow!("{}", input::harmless(&error.to_string())), hint).into()
}
