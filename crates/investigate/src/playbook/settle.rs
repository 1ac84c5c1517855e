//! What the evidence says about each hypothesis.

use serde::Deserialize;

use crate::HypothesisState;
use crate::finding::{Fault, title};
use crate::playbook::agenda::{PlaybookContext, hypothesis};
use crate::playbook::conversation::{CallEnding, FinishedCall};
use crate::playbook::findings::{self, CitedFault};
use crate::suspect::Layer;
use crate::symptom_text::Symptom;

/// A hypothesis at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) id: String,
    /// What is held of it.
    pub(super) state: HypothesisState,
    pub(super) why: String,
}

const LAYERS: [Layer; 9] = [
    Layer::Rules,
    Layer::Routes,
    Layer::Storage,
    Layer::NetworkDrift,
    Layer::Guest,
    Layer::Shaping,
    Layer::Measure,
    Layer::Wire,
    Layer::Exposure,
];

/// Settles everything that is on the board: what was put there in this round, and what others left open.
pub(super) fn settle(context: &PlaybookContext<'_>, faults: &[CitedFault]) -> Vec<Settled> {
    let mut all = Vec::new();
    for layer in LAYERS {
        let Some(id) = hypothesis(layer).filter(|id| context.conversation.added(id)) else { continue };
        let (state, why) = judge(context, layer, faults);
        all.push(Settled { id: id.to_owned(), state, why });
    }
    for (id, state) in &context.conversation.board {
        if *state == HypothesisState::Active && !all.iter().any(|known| known.id == *id) {
            let why = "It was put on the board before and was not tested to its end.".to_owned();
            all.push(Settled { id: id.clone(), state: HypothesisState::Unverifiable, why });
        }
    }
    all
}

fn judge(context: &PlaybookContext<'_>, layer: Layer, faults: &[CitedFault]) -> (HypothesisState, String) {
    if layer == Layer::NetworkDrift {
        return drifted(context);
    }
    let mine: Vec<&CitedFault> =
        faults.iter().filter(|fault| findings::layer(&fault.suspect.code) == layer).collect();
    if !mine.is_empty() {
        let shown: Vec<String> = mine
            .iter()
            .map(|fault| {
                let title = title(&fault.suspect.code, &fault.suspect.object);
                format!("{title} ({})", ranges(&fault.observations))
            })
            .collect();
        return (HypothesisState::Confirmed, shortened(&format!("{}.", shown.join("; "))));
    }
    let looked: Vec<&FinishedCall> = context
        .conversation
        .completed()
        .filter(|finished| finished.looked().iter().any(|seen| seen.layer == layer))
        .collect();
    let subjects: Vec<String> = match layer {
        Layer::Rules | Layer::Routes | Layer::Guest | Layer::Shaping | Layer::Exposure => {
            context.incident.names()
        }
        Layer::Links | Layer::Names | Layer::Sockets => context.incident.names(),
        Layer::Cluster => Vec::new(),
        Layer::Topology
        | Layer::Storage
        | Layer::NetworkDrift
        | Layer::GuestDrift
        | Layer::Measure
        | Layer::Wire => Vec::new(),
    };
    let open: Vec<&String> = subjects
        .iter()
        .filter(|name| {
            !looked
                .iter()
                .flat_map(|finished| finished.looked())
                .any(|seen| seen.layer == layer && seen.subject.eq_ignore_ascii_case(name))
        })
        .collect();
    if looked.is_empty() || !open.is_empty() {
        return (HypothesisState::Unverifiable, shortened(&unverified(context, layer, &open)));
    }
    let ids: Vec<String> = looked.iter().flat_map(|finished| finished.observations()).collect();
    if layer == Layer::Measure
        && let Some(anomaly) = looked.iter().find_map(|finished| anomaly(finished))
    {
        return (HypothesisState::Confirmed, shortened(&format!("Measured: {anomaly} ({}).", ranges(&ids))));
    }
    let why = format!("{} ({}).", clean(layer, &context.incident.names().join(" and ")), ranges(&ids));
    (HypothesisState::Refuted, shortened(&why))
}

/// Says how a layer was ruled out.
fn clean(layer: Layer, names: &str) -> String {
    match layer {
        Layer::Rules => {
            format!(
                "The rules in effect at {names} were read at subnet and interface, and none of them stops it"
            )
        }
        Layer::Exposure => {
            format!("The rules in effect at {names} were read, and let in nobody who need not be")
        }
        Layer::Routes => {
            format!(
                "The routes in effect at {names} were read, in both directions and outwards, and every next hop is there"
            )
        }
        Layer::Storage => "The account lets the subnet in, and the subnet has the endpoint for it".to_owned(),
        Layer::Guest => {
            format!("The packet filters of {names} were read as they run, and nothing in them stops it")
        }
        Layer::Shaping => format!("No delay, no loss and no limit is set on {names}"),
        Layer::Measure => "Latency and throughput were measured, and are as they should be".to_owned(),
        Layer::Wire => "Packets were recorded, and show nothing wrong".to_owned(),
        Layer::Topology
        | Layer::NetworkDrift
        | Layer::GuestDrift
        | Layer::Links
        | Layer::Names
        | Layer::Sockets
        | Layer::Cluster => "It was looked at and is clean".to_owned(),
    }
}

/// Writes observations in their order, those that follow each other as `o3–o7`.
fn ranges(ids: &[String]) -> String {
    let mut numbers: Vec<u32> = ids.iter().filter_map(|id| id.strip_prefix('o')?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.saturating_add(1) == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): (u32, u32)| {
        if first == last { format!("o{first}") } else { format!("o{first}–o{last}") }
    };
    runs.into_iter().map(run).collect::<Vec<_>>().join(", ")
}

/// Says what keeps a layer from being judged.
pub(super) fn unverified(context: &PlaybookContext<'_>, layer: Layer, open: &[&String]) -> String {
    let id = hypothesis(layer);
    let of = |finished: &&FinishedCall| {
        finished.ending != CallEnding::Completed && id.is_some() && finished.text("hypothesis_id") == id
    };
    let what = match open {
        [] => "It could not be looked at".to_owned(),
        some => format!(
            "It could not be looked at on {}",
            some.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" and ")
        ),
    };
    match context.conversation.finished.iter().rev().find(of) {
        Some(finished) if finished.ending == CallEnding::Denied => format!("{what}: a human denied it."),
        Some(finished) => format!("{what}: {}.", finished.reason().trim_end_matches('.')),
        None => format!("{what}: there is no tool for it here, or nothing it could be asked about."),
    }
}

fn drifted(context: &PlaybookContext<'_>) -> (HypothesisState, String) {
    let compared: Vec<&FinishedCall> = context
        .conversation
        .completed()
        .filter(|finished| finished.arguments.contains_key("compare_session_id"))
        .collect();
    if compared.is_empty() {
        return (HypothesisState::Unverifiable, shortened(&unverified(context, Layer::NetworkDrift, &[])));
    }
    let ids = ranges(&compared.iter().flat_map(|finished| finished.observations()).collect::<Vec<_>>());
    let changes: Vec<String> = compared
        .iter()
        .flat_map(|finished| finished.suspects())
        .filter(|found| found.code != Fault::NoDrift)
        .map(|found| title(&found.code, &found.object))
        .collect();
    let unchanged = context.symptom_text.symptoms.contains(&Symptom::NothingChanged);
    let (holds, why) = if changes.is_empty() {
        (unchanged, format!("The comparison shows nothing that was added since and breaks traffic ({ids})."))
    } else {
        (!unchanged, format!("Since the baseline: {} ({ids}).", changes.join("; ")))
    };
    (if holds { HypothesisState::Confirmed } else { HypothesisState::Refuted }, shortened(&why))
}

/// The facts of a measurement.
#[derive(Deserialize)]
struct MeasuredFacts {
    anomaly_type: Option<String>,
}

/// Returns what a measurement calls abnormal.
fn anomaly(finished: &FinishedCall) -> Option<String> {
    let named = finished.facts::<MeasuredFacts>()?.anomaly_type?;
    let fine = ["", "none", "normal", "stable", "no_anomaly"];
    (!fine.contains(&named.to_lowercase().as_str())).then(|| crate::playbook::conversation::plain(&named, 80))
}

fn shortened(text: &str) -> String {
    crate::playbook::conversation::plain(text, 900)
}
