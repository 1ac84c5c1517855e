//! Whether a claim holds against what was recorded.

use crate::Fence;
use crate::event::{Citation, Finding, ObservationId};
use crate::finding::FaultCode;
use crate::state::CallState;
use crate::suspect::{Borne, Suspect};
use crate::tool::CallContext;

/// A quote has to be long enough to say something.
const SHORTEST_QUOTE: usize = 4;

/// Looks the evidence of a claim up; returns what bears it out.
///
/// # Errors
/// Says what is wrong with it.
pub fn check(finding: &Finding, bench: &CallContext<'_>) -> Result<String, String> {
    let code =
        FaultCode::find(&finding.code).ok_or_else(|| format!("there is no fault code `{}`", finding.code))?;
    if !code.names(&finding.object) {
        return Err(format!(
            "the object of {} is named {}, not {:?}",
            code.name, code.object, finding.object
        ));
    }
    if finding.evidence.is_empty() {
        return Err("it cites no observation".to_owned());
    }
    let looks = looks(finding, bench);
    let held: Result<Vec<String>, String> =
        finding.evidence.iter().map(|cited| cite(cited, &looks, bench)).collect();
    let held = held?;
    let borne: Vec<String> =
        finding.evidence.iter().filter_map(|cited| borne(cited.observation, &looks)).collect();
    if borne.is_empty() {
        return Err(format!(
            "nothing that it cites bears out {} {}; look with the inspector of that layer and cite what it saw",
            finding.code, finding.object
        ));
    }
    Ok(borne
        .into_iter()
        .chain(held.into_iter().filter(|told| !told.is_empty()))
        .collect::<Vec<_>>()
        .join("; "))
}

/// A call that bears a claim out: what it observed, and why.
struct Look {
    observed: Vec<ObservationId>,
    why: String,
}

/// Reads what was recorded anew: returns the calls behind the citations that bear the claim out. A call bears with what it read
/// itself, and with what it was read with.
fn looks(finding: &Finding, bench: &CallContext<'_>) -> Vec<Look> {
    let cited = |id: &ObservationId| finding.evidence.iter().any(|cited| cited.observation == *id);
    let calls = bench.state.calls().filter(|call| call.observations.iter().any(cited));
    let look = |call: &CallState| {
        let Borne { suspects, around, .. } = bench.supported(call);
        let is_same = |suspect: &&Suspect| suspect.code == finding.code && is_object(suspect, finding);
        let why = suspects.iter().find(is_same)?.why.clone();
        Some(Look { observed: call.observations.iter().copied().chain(around).collect(), why })
    };
    calls.filter_map(look).collect()
}

fn borne(id: ObservationId, looks: &[Look]) -> Option<String> {
    let look = looks.iter().find(|look| look.observed.contains(&id))?;
    Some(format!("{id}: {}", look.why))
}

/// A part of an object that is not known where the observation was made stands there as `*`.
fn is_object(suspect: &Suspect, finding: &Finding) -> bool {
    let (known, claimed) = (suspect.object.split('/'), finding.object.split('/'));
    known.clone().count() == claimed.clone().count()
        && known.zip(claimed).all(|(known, claimed)| known == "*" || known == claimed)
}

/// Looks a quote up; an observation that is cited without one says nothing by itself.
fn cite(cited: &Citation, looks: &[Look], bench: &CallContext<'_>) -> Result<String, String> {
    let id = cited.observation;
    let text = bench.whole(id).ok_or_else(|| format!("there is no observation {id}, or its text is gone"))?;
    let quote = cited.quote.as_deref().map(str::trim).unwrap_or_default();
    if quote.is_empty() && borne(id, looks).is_some() {
        return Ok(String::new());
    }
    if quote.len() < SHORTEST_QUOTE {
        return Err(format!("the citation of {id} quotes nothing; give words that stand in it"));
    }
    // The model may have read the text through its fence, which spells out what could pass for a marker.
    let fence = Fence::new(&bench.state.opened.nonce);
    let stands = |text: &str| words(text).contains(&words(quote));
    if !stands(&text) && !stands(&fence.inside(&text)) {
        return Err(format!("{id} does not say {quote:?}"));
    }
    Ok(format!("{id} says {quote:?}"))
}

/// Blanks and line breaks are the one thing that a model may change in a quote.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
