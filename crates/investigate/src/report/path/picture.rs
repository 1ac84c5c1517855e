//! The picture of a way, and its words.

use super::{Known, Stop, stops};
use crate::state::State;

/// Slack takes so much of a picture's description.
const LONGEST: usize = 900;

/// Draws the way as a PNG file; nothing where the machines are not known, or where pictures are not built in.
#[must_use]
pub fn picture(state: &State) -> Option<Vec<u8>> {
    let stops = stops(state);
    if stops.is_empty() { None } else { drawn(state, &stops) }
}

/// Says what the picture shows, for whoever cannot see it.
#[must_use]
pub fn told(state: &State) -> String {
    let stops = stops(state);
    let stop = |stop: &Stop| {
        let faults = stop.lines.iter().filter(|(known, _)| *known == Known::Fault);
        let faults: Vec<&str> = faults.map(|(_, text)| text.as_str()).collect();
        if faults.is_empty() {
            stop.name.clone()
        } else {
            format!("{} (at fault: {})", stop.name, faults.join("; "))
        }
    };
    let told = format!("The way: {}", stops.iter().map(stop).collect::<Vec<_>>().join(", then "));
    told.chars().take(LONGEST).collect()
}

#[cfg(feature = "plot")]
fn drawn(state: &State, stops: &[Stop]) -> Option<Vec<u8>> {
    use ghost_pcap::{Hop, HopStatus, hop_diagram};
    let tone = |known: Known| match known {
        Known::Fault => HopStatus::Bad,
        Known::Clean => HopStatus::Good,
        Known::Open => HopStatus::Open,
    };
    let rungs: Vec<Hop> = stops
        .iter()
        .map(|stop| Hop {
            name: stop.name.clone(),
            what: stop.what.clone(),
            lines: stop.lines.iter().map(|(known, text)| (tone(*known), text.clone())).collect(),
        })
        .collect();
    let below = format!("session {}", state.session);
    hop_diagram(&crate::report::headline(state), &below, &rungs).ok()
}

#[cfg(not(feature = "plot"))]
fn drawn(_state: &State, _stops: &[Stop]) -> Option<Vec<u8>> {
    None
}
