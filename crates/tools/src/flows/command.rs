//! The arguments, and the files.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::packed::unpacked;
use super::show;
use crate::input;
use crate::moment::moment;
use crate::print::{Hinted, line};
use ghost_base::{Clock as _, SystemClock, Timestamp};
use ghost_inspect::flowlog::{Log, MAX_BYTES, Question, Seen, Unread, Window};

/// The arguments of `ghost flows`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost flows PT1H.json\n  ghost flows PT1H.json --from 10.1.2.10 --to 10.1.3.10:5432 --since 2026-11-24T02:00:00Z\n  ghost flows day/*.json --denied --json\n\nA FILE is a blob of a flow log of a network or a security group (PT1H.json, one for each interface and hour), also packed as .gz or .zip; one that is cut off or still written is read as far as it goes. A line that denies names the rule. Where no line is there nothing was seen: the log may be off, filtered, or minutes late, so that is no denial. With --exit-code: 3 where the flow was denied, 4 where nothing of it was seen or something could not be read."
)]
pub struct Arguments {
    /// Blobs of a flow log; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Who calls.
    #[arg(long, value_name = "ADDRESS", requires = "to")]
    from: Option<IpAddr>,
    /// Who is called: an address, or ADDRESS:PORT.
    #[arg(long, value_name = "ADDRESS", requires = "from", value_parser = end)]
    to: Option<(IpAddr, Option<u16>)>,
    /// The protocol.
    #[arg(long, value_enum, default_value_t = Transport::Tcp)]
    protocol: Transport,
    /// Since then: 2026-11-24T08:00:00Z, or how long ago, as 90m, 6h, 3d; all unless said.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Until then.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only what was denied.
    #[arg(long)]
    denied: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where the flow was denied, with 4 where nothing of it was seen or something could not be read.
    #[arg(long)]
    exit_code: bool,
}

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Transport {
    Tcp,
    Udp,
    Icmp,
}

impl Transport {
    const fn number(self) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
            Self::Icmp => 1,
        }
    }
}

fn end(text: &str) -> Result<(IpAddr, Option<u16>), std::net::AddrParseError> {
    let with_port = text.parse::<SocketAddr>().map(|end| (end.ip(), Some(end.port())));
    with_port.or_else(|_| text.parse().map(|address| (address, None)))
}

/// What was found, and what is not in it.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    /// The files that were read.
    pub files: usize,
    /// How many lines they have.
    pub lines: usize,
    /// From the first line to the last one; milliseconds since 1970.
    pub span: Option<(u64, u64)>,
    /// Whether one flow was asked for.
    pub asked: bool,
    /// What interfaces saw.
    pub seen: Vec<Seen>,
    pub unread: Unread,
    /// The hours of the time in question of which no file has a line; milliseconds since 1970.
    pub missing_hours: Vec<u64>,
}

impl Found {
    pub(super) fn is_denied(&self) -> bool {
        self.seen.iter().any(|seen| seen.denied > 0)
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let found = arguments.find(SystemClock.now())?;
    if arguments.json {
        line(&serde_json::to_string(&found)?)?;
    } else {
        show::page(&found).print()?;
    }
    let is_open = found.seen.is_empty() || !found.unread.is_empty() || !found.missing_hours.is_empty();
    Ok(match (arguments.exit_code, found.is_denied()) {
        (false, _) => 0,
        (true, true) => 3,
        (true, false) if is_open => 4,
        (true, false) => 0,
    })
}

impl Arguments {
    fn find(&self, now: Timestamp) -> anyhow::Result<Found> {
        let at = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
        let (since, until) = (at(&self.since)?, at(&self.until)?);
        if since.zip(until).is_some_and(|(since, until)| since > until) {
            let error = anyhow::anyhow!("--since is later than --until");
            return Err(
                Hinted::new(error, "--since 6h --until 2h is from six hours ago to two hours ago").into()
            );
        }
        let millis = |at: Timestamp| u64::try_from(at.as_millis()).unwrap_or_default();
        let window = Window { from: since.map_or(0, millis), to: until.map_or(u64::MAX, millis) };
        let mut log = Log::default();
        for file in &self.files {
            let unpacked = unpacked(input::beginning(file, MAX_BYTES + 1)?);
            unpacked.blobs.iter().for_each(|blob| log.add_blob(blob));
            log.unread.packed += unpacked.broken;
        }
        let mut seen = match self.from.zip(self.to) {
            Some((source, (destination, port))) => {
                let protocol = self.protocol.number();
                log.ask(&Question { source, destination, protocol, port, window })
            }
            None => log.all(window),
        };
        seen.retain(|seen| !self.denied || seen.denied > 0);
        let missing_hours = log.missing_hours(window);
        Ok(found(self, &log, seen, missing_hours))
    }
}

fn found(arguments: &Arguments, log: &Log, seen: Vec<Seen>, missing_hours: Vec<u64>) -> Found {
    Found {
        files: arguments.files.len(),
        lines: log.lines(),
        span: log.span().map(|span| (span.from, span.to)),
        asked: arguments.from.is_some(),
        seen,
        unread: log.unread,
        missing_hours,
    }
}
