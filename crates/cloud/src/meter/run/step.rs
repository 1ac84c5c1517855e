//! The steps of a run, and the command of each.

use super::endpoint::Endpoint;
use super::guest;
use super::request::MeasurementRequest;
use crate::operation::CommandRequest;
use crate::{Account, Container, line};

/// An end of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Destination,
}

impl Side {
    /// Both, the source first.
    pub(super) const BOTH: [Self; 2] = [Self::Source, Self::Destination];

    pub(super) fn other(self) -> Self {
        match self {
            Self::Source => Self::Destination,
            Self::Destination => Self::Source,
        }
    }

    /// Picks what is this side's.
    pub(super) fn of<T>(self, [source, destination]: &[T; 2]) -> &T {
        match self {
            Self::Source => source,
            Self::Destination => destination,
        }
    }

    /// Picks what is this side's.
    pub(super) fn of_mut<T>(self, [source, destination]: &mut [T; 2]) -> &mut T {
        match self {
            Self::Source => source,
            Self::Destination => destination,
        }
    }
}

/// A document that is uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentKind {
    Result,
    /// The same as a baseline for later runs.
    Baseline,
}

/// One command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunStep {
    /// Find both machines.
    Find,
    /// Read the rules at an end.
    Rules(Side),
    /// Look what an end has.
    GuestCheck(Side),
    /// Install what lacks.
    Install(Side),
    /// Look once more.
    Check(Side),
    /// End servers that somebody left.
    Clear(Side),
    /// Fetch the baseline.
    Fetch,
    /// Start servers.
    Start(Side),
    /// Measure towards a server; 0 is the warm-up.
    Measure { server: Side, latency: bool, at: u16 },
    /// Read what the server has of it.
    Report { server: Side, at: u16 },
    /// End the servers.
    Stop(Side),
    /// Upload a document.
    Upload(DocumentKind),
}

impl RunStep {
    /// Tells whether it changes anything.
    pub(super) fn changes(self) -> bool {
        match self {
            Self::Find | Self::Rules(_) | Self::GuestCheck(_) | Self::Check(_) | Self::Report { .. } => false,
            Self::Install(_)
            | Self::Clear(_)
            | Self::Fetch
            | Self::Start(_)
            | Self::Measure { .. }
            | Self::Stop(_)
            | Self::Upload(_) => true,
        }
    }

    /// Says what it does.
    pub(super) fn words(self, ask: &MeasurementRequest, ends: Option<&[Endpoint; 2]>) -> String {
        let name = |side: Side| match ends {
            Some(ends) => side.of(ends).name.clone(),
            None => side.of(&[ask.source.clone(), ask.destination.clone()]).clone(),
        };
        match self {
            Self::Find => "find both machines".to_owned(),
            Self::Rules(side) => format!("read the security rules in force at {}", name(side)),
            Self::GuestCheck(side) | Self::Check(side) => {
                format!("look at {} for tools and stale servers", name(side))
            }
            Self::Install(side) => format!("install qperf and iperf on {}", name(side)),
            Self::Clear(side) => format!("end stale servers on {}", name(side)),
            Self::Fetch => "fetch the baseline".to_owned(),
            Self::Start(side) => format!("start servers on {}", name(side)),
            Self::Measure { server, latency, at } => {
                let metric = if latency { "latency" } else { "throughput" };
                let direction = format!("{} → {}", name(server.other()), name(server));
                match at {
                    0 => format!("warm up {metric} {direction}"),
                    at => format!("measure {metric} {direction}, iteration {at}/{}", ask.iterations),
                }
            }
            Self::Report { server, .. } => format!("read what the server on {} counted", name(server)),
            Self::Stop(side) => format!("end the servers on {}", name(side)),
            Self::Upload(DocumentKind::Result) => "upload the result".to_owned(),
            Self::Upload(DocumentKind::Baseline) => "upload the baseline".to_owned(),
        }
    }

    /// Returns its command; `None` where an end that it needs is not known.
    pub(super) fn order(
        self,
        ask: &MeasurementRequest,
        ends: Option<&[Endpoint; 2]>,
        read: &[u64; 2],
    ) -> Option<CommandRequest> {
        let why = self.words(ask, ends);
        let lines = |side: Side, text: String| Some(side.of(ends?).reach.lines(&[text], why.clone()));
        match self {
            Self::Find => Some(CommandRequest::line(line::interfaces(ask.place.as_ref()?), why)),
            Self::Rules(side) => {
                let (place, name) = side.of(ends?).interface.as_ref()?;
                Some(CommandRequest::line(line::effective_rules(place, name), why))
            }
            Self::GuestCheck(side) | Self::Check(side) => {
                Some(side.of(ends?).reach.script("meter-look", Vec::new(), why))
            }
            Self::Install(side) => lines(side, guest::install()),
            Self::Clear(side) | Self::Stop(side) => lines(side, guest::stop(&ask.session)),
            Self::Start(side) => lines(side, guest::start(&ask.session, ask.test_type, ask.lifetime())),
            Self::Measure { server, latency, .. } => {
                let (to, limit) = (server.of(ends?).address, ask.limit(latency));
                let text = if latency {
                    guest::latency(to, ask.seconds.latency, limit)
                } else {
                    guest::throughput(to, ask.seconds.throughput, limit)
                };
                lines(server.other(), text)
            }
            Self::Report { server, .. } => {
                let variables =
                    vec![("session", ask.session.to_string()), ("from", server.of(read).to_string())];
                Some(server.of(ends?).reach.script("meter-report", variables, why))
            }
            Self::Fetch => {
                let ((account, container), super::request::Compare::Blob(name)) =
                    (ask.storage.as_ref()?, &ask.compare)
                else {
                    return None;
                };
                Some(CommandRequest::line(line::blob_fetch(account, container, name, &ask.path(name)), why))
            }
            Self::Upload(paper) => {
                let (account, container): &(Account, Container) = ask.storage.as_ref()?;
                let name = match paper {
                    DocumentKind::Result => format!("{}_result.json", ask.session),
                    DocumentKind::Baseline => ask.baseline_name(ends?),
                };
                Some(CommandRequest::line(
                    line::blob_upload(account, container, &name, &ask.path(&name)),
                    why,
                ))
            }
        }
    }
}

impl MeasurementRequest {
    /// Returns where a document lies.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// Returns the name of the baseline of two ends.
    pub(super) fn baseline_name(&self, ends: &[Endpoint; 2]) -> String {
        let [source, destination] = ends.each_ref().map(|end| end.address.to_string().replace('.', "_"));
        format!("{source}_{destination}_baseline.json")
    }
}
