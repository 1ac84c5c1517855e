//! What the evidence says about each hypothesis.

use serde_json::Value;

use crate::agent::HypothesisState;
use crate::agent::brief::Symptom;
use crate::agent::playbook::agenda::{Desk, hypothesis};
use crate::agent::playbook::pick::{self, Fault};
use crate::agent::playbook::story::{Done, Ending};
use crate::agent::suspect::Layer;

/// A hypothesis at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    /// Which.
    pub(super) id: String,
    /// What is held of it.
    pub(super) state: HypothesisState,
    /// Why.
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
pub(super) fn settle(desk: &Desk<'_>, faults: &[Fault]) -> Vec<Settled> {
    let mut all = Vec::new();
    for layer in LAYERS {
        let Some(id) = hypothesis(layer).filter(|id| desk.story.added(id)) else { continue };
        let (state, why) = judge(desk, layer, faults);
        all.push(Settled { id: id.to_owned(), state, why });
    }
    for (id, state) in &desk.story.board {
        if *state == HypothesisState::Active && !all.iter().any(|known| known.id == *id) {
            let why = "It was put on the board before and was not tested to its end.".to_owned();
            all.push(Settled { id: id.clone(), state: HypothesisState::Unverifiable, why });
        }
    }
    all
}

fn judge(desk: &Desk<'_>, layer: Layer, faults: &[Fault]) -> (HypothesisState, String) {
    if layer == Layer::NetworkDrift {
        return drifted(desk);
    }
    let mine: Vec<&Fault> = faults.iter().filter(|fault| pick::layer(&fault.suspect.code) == layer).collect();
    if !mine.is_empty() {
        let shown: Vec<String> = mine
            .iter()
            .map(|fault| format!("{} ({})", fault.suspect.object, fault.observations.join(", ")))
            .collect();
        return (HypothesisState::Confirmed, shortened(&format!("Shown by {}.", shown.join("; "))));
    }
    let looked: Vec<&Done> =
        desk.story.completed().filter(|done| done.looked().iter().any(|seen| seen.layer == layer)).collect();
    let subjects: Vec<String> = match layer {
        Layer::Rules | Layer::Routes | Layer::Guest | Layer::Shaping | Layer::Exposure => desk.ground.names(),
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
                .flat_map(|done| done.looked())
                .any(|seen| seen.layer == layer && seen.subject.eq_ignore_ascii_case(name))
        })
        .collect();
    if looked.is_empty() || !open.is_empty() {
        return (HypothesisState::Unverifiable, shortened(&unverified(desk, layer, &open)));
    }
    let ids: Vec<String> = looked.iter().flat_map(|done| done.observations()).collect();
    if layer == Layer::Measure
        && let Some(anomaly) = looked.iter().find_map(|done| anomaly(done))
    {
        return (
            HypothesisState::Confirmed,
            shortened(&format!("Measured: {anomaly} ({}).", ids.join(", "))),
        );
    }
    (HypothesisState::Refuted, shortened(&format!("It was looked at and is clean ({}).", ids.join(", "))))
}

/// Says what keeps a layer from being judged.
pub(super) fn unverified(desk: &Desk<'_>, layer: Layer, open: &[&String]) -> String {
    let id = hypothesis(layer);
    let of =
        |done: &&Done| done.ending != Ending::Completed && id.is_some() && done.text("hypothesis_id") == id;
    let what = match open {
        [] => "It could not be looked at".to_owned(),
        some => format!(
            "It could not be looked at on {}",
            some.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" and ")
        ),
    };
    match desk.story.done.iter().rev().find(of) {
        Some(done) if done.ending == Ending::Denied => format!("{what}: a human denied it."),
        Some(done) => format!("{what}: {}.", done.reason().trim_end_matches('.')),
        None => format!("{what}: there is no tool for it here, or nothing it could be asked about."),
    }
}

fn drifted(desk: &Desk<'_>) -> (HypothesisState, String) {
    let compared: Vec<&Done> =
        desk.story.completed().filter(|done| done.arguments.contains_key("compare_session_id")).collect();
    if compared.is_empty() {
        return (HypothesisState::Unverifiable, shortened(&unverified(desk, Layer::NetworkDrift, &[])));
    }
    let ids = compared.iter().flat_map(|done| done.observations()).collect::<Vec<_>>().join(", ");
    let changes: Vec<String> = compared
        .iter()
        .flat_map(|done| done.suspects())
        .filter(|found| found.code != "no_drift")
        .map(|found| found.object)
        .collect();
    let unchanged = desk.brief.symptoms.contains(&Symptom::NothingChanged);
    let (holds, why) = if changes.is_empty() {
        (unchanged, format!("The comparison shows nothing that was added since and breaks traffic ({ids})."))
    } else {
        (!unchanged, format!("Since the baseline: {} ({ids}).", changes.join("; ")))
    };
    (if holds { HypothesisState::Confirmed } else { HypothesisState::Refuted }, shortened(&why))
}

/// Returns what a measurement calls abnormal.
fn anomaly(done: &Done) -> Option<String> {
    let named = done.result.pointer("/facts/anomaly_type").and_then(Value::as_str)?;
    let fine = ["", "none", "normal", "stable", "no_anomaly"];
    (!fine.contains(&named.to_lowercase().as_str())).then(|| crate::agent::playbook::story::plain(named, 80))
}

fn shortened(text: &str) -> String {
    crate::agent::playbook::story::plain(text, 900)
}
