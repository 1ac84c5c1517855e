//! How a person sees what is wrong, as a file writes it.

use std::net::IpAddr;

use serde::Deserialize;

use crate::case::fault;
use crate::case::model::{Observation, ObservationKind};
use crate::case::problem::Problem;
use crate::host::Protocol;

/// A sight as it is written: exactly one of the places, and what shows there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawObservation {
    /// A machine and a command.
    on: Option<String>,
    run: Option<String>,
    flow: Option<Flow>,
    hop: Option<Hop>,
    routes: Option<String>,
    rules: Option<String>,
    document: Option<String>,
    capture: Option<String>,
    shows: String,
    until: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    vm: String,
    #[serde(default = "inbound")]
    direction: fault::Direction,
    #[serde(default = "tcp")]
    protocol: Protocol,
    local: String,
    remote: String,
}

fn inbound() -> fault::Direction {
    fault::Direction::Inbound
}

fn tcp() -> Protocol {
    Protocol::Tcp
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hop {
    vm: String,
    from: IpAddr,
    to: IpAddr,
}

impl RawObservation {
    pub(super) fn seen(self) -> Result<Observation, Problem> {
        let hint = "name one of: on and run, flow, hop, routes, rules, document, capture";
        if let Err(error) = regex::Regex::new(&self.shows) {
            let last = error.to_string().lines().last().unwrap_or_default().to_owned();
            return Err(Problem::new(
                format!("`shows` is no regular expression: {last}"),
                "escape ( ) [ ] . * + ? with \\\\",
            ));
        }
        let run = match (self.on, self.run) {
            (Some(vm), Some(command)) => Some(ObservationKind::Run { vm, command }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                return Err(Problem::new(
                    "`on` and `run` belong together",
                    "name the machine and the command",
                ));
            }
        };
        let flow = self.flow.map(|flow| ObservationKind::Flow {
            vm: flow.vm,
            inbound: flow.direction == fault::Direction::Inbound,
            protocol: flow.protocol,
            local: flow.local,
            remote: flow.remote,
        });
        let all = [
            run,
            flow,
            self.hop.map(|hop| ObservationKind::Hop { vm: hop.vm, from: hop.from, to: hop.to }),
            self.routes.map(|vm| ObservationKind::Routes { vm }),
            self.rules.map(|vm| ObservationKind::Rules { vm }),
            self.document.map(|path| ObservationKind::Document { path }),
            self.capture.map(|vm| ObservationKind::Capture { vm }),
        ];
        let mut named = all.into_iter().flatten();
        match (named.next(), named.next()) {
            (Some(sight), None) => Ok(Observation { sight, shows: self.shows, until: self.until }),
            (None, _) => Err(Problem::new("`seen` names no place", hint)),
            (Some(_), Some(_)) => Err(Problem::new("`seen` names several places", hint)),
        }
    }
}
