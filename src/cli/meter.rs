//! `ghost meter`: what measurements say.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::input;
use super::print::{Hinted, line};
use crate::meter::{LARGEST, ParseError, Samples, Tool, compute, parse};

const BAD_NEWS: u8 = 3;

/// The arguments of `ghost meter`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Reads the figure out of what qperf or iperf (version 2) printed.
    #[command(
        after_help = "Examples:\n  qperf 10.0.1.5 tcp_lat | ghost meter parse --tool qperf\n  ghost meter parse --tool iperf --json server.txt\n\nLatency in microseconds, throughput in gigabits a second. iperf's client over-reports a shaped link: give the server's text."
    )]
    Parse {
        /// The file; `-` is standard input.
        #[arg(value_name = "FILE", default_value = "-")]
        file: PathBuf,
        /// The tool that printed it.
        #[arg(long, value_enum)]
        tool: Named,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Judges the samples of a run: 90th percentile, extent, stability.
    #[command(
        after_help = "Example:\n  echo '{\"test_type\":\"latency\",\"latency_us\":[124,127,842]}' | ghost meter compute\n\nA sample of 0 is a CONNECTIVITY_DROP; more than half between the smallest and the largest is HIGH_VARIANCE. With --exit-code: 3 where the run is not stable. It prints JSON always."
    )]
    Compute {
        /// The file; `-` is standard input.
        #[arg(value_name = "FILE", default_value = "-")]
        file: PathBuf,
        /// Print one JSON document, as it does anyway.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where the run is not stable.
        #[arg(long)]
        exit_code: bool,
    },
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

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Parse { file, tool, json } => {
            let tool = Tool::from(*tool);
            let value = parse(tool, &input::text(file, LARGEST)?).map_err(hinted)?;
            let unit = tool.unit();
            line(&if *json {
                json!({"value": value, "unit": unit}).to_string()
            } else {
                format!("{value} {unit}")
            })?;
            Ok(0)
        }
        Sub::Compute { file, json: _, exit_code } => {
            let found = compute(&samples(file)?)?;
            line(&found.to_json().to_string())?;
            Ok(if *exit_code && found.anomaly.is_some() { BAD_NEWS } else { 0 })
        }
    }
}

fn samples(file: &Path) -> anyhow::Result<Samples> {
    let text = input::text(file, LARGEST)?;
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
