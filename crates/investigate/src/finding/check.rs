//! Whether a claim holds against what was recorded.

use crate::Fence;
use crate::event::{Citation, Finding, ObservationId};
use crate::finding::Fault;
use crate::state::CallState;
use crate::suspect::{SupportedFaults, Suspect};
use crate::tool::CallContext;

/// A shorter quote says nothing.
const MIN_QUOTE_BYTES: usize = 4;

/// What is wrong with a claim. Its text is recorded, and the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindingError {
    #[error("there is no fault code `{code}`")]
    UnknownFault { code: String },
    #[error("the object of {} is named {}, not {object:?}", fault.as_str(), fault.object_kind().pattern())]
    WrongObject { fault: Fault, object: String },
    #[error(
        "it was seen, and it neither stops nor degrades a flow that people complain about: it is noticed, and no finding"
    )]
    NotOfTheFlows,
    #[error("it cites no observation")]
    NothingCited,
    #[error(
        "nothing that it cites supports {code} {object}; read it with the inspector of that layer and cite what it saw"
    )]
    Unsupported { code: String, object: String },
    #[error("there is no observation {id}, or its text is gone")]
    NoObservation { id: ObservationId },
    #[error("the citation of {id} quotes nothing; give words that stand in it")]
    NothingQuoted { id: ObservationId },
    #[error("{id} does not say {quote:?}")]
    NotSaid { id: ObservationId, quote: String },
}

/// Finds the evidence of a claim; returns what supports it.
///
/// # Errors
/// Fails where the claim does not hold.
pub fn check(finding: &Finding, context: &CallContext<'_>) -> Result<String, FindingError> {
    let unknown = || FindingError::UnknownFault { code: finding.code.to_string() };
    let fault = finding.code.fault().ok_or_else(unknown)?;
    if !fault.object_kind().matches(&finding.object) {
        return Err(FindingError::WrongObject { fault, object: finding.object.clone() });
    }
    if finding.evidence.is_empty() {
        return Err(FindingError::NothingCited);
    }
    let supports = supports(finding, context);
    let quoted = finding.evidence.iter().map(|cited| cite(cited, &supports, context));
    let quoted: Vec<String> = quoted.collect::<Result<_, _>>()?;
    let reasons: Vec<String> =
        finding.evidence.iter().filter_map(|cited| reason(cited.observation, &supports)).collect();
    if reasons.is_empty() {
        let (code, object) = (finding.code.to_string(), finding.object.clone());
        return Err(FindingError::Unsupported { code, object });
    }
    let quoted = quoted.into_iter().filter(|quote| !quote.is_empty());
    Ok(reasons.into_iter().chain(quoted).collect::<Vec<_>>().join("; "))
}

/// A call that supports a claim: what it observed, and why it supports it.
struct Support {
    observed: Vec<ObservationId>,
    why: String,
}

/// Reads again what was recorded: returns the calls behind the citations that support the claim. A call supports it with what it
/// read itself, and with what it was read with.
fn supports(finding: &Finding, context: &CallContext<'_>) -> Vec<Support> {
    let cited = |id: &ObservationId| finding.evidence.iter().any(|cited| cited.observation == *id);
    let calls = context.state.calls().filter(|call| call.observations.iter().any(cited));
    let support = |call: &CallState| {
        let SupportedFaults { suspects, around, .. } = context.supported(call);
        let is_same = |suspect: &&Suspect| suspect.code == finding.code && is_object(suspect, finding);
        let why = suspects.iter().find(is_same)?.why.clone();
        Some(Support { observed: call.observations.iter().copied().chain(around).collect(), why })
    };
    calls.filter_map(support).collect()
}

fn reason(id: ObservationId, supports: &[Support]) -> Option<String> {
    let support = supports.iter().find(|support| support.observed.contains(&id))?;
    Some(format!("{id}: {}", support.why))
}

/// A part of an object that is not known where the observation was made stands there as `*`.
fn is_object(suspect: &Suspect, finding: &Finding) -> bool {
    let (known, claimed) = (suspect.object.split('/'), finding.object.split('/'));
    known.clone().count() == claimed.clone().count()
        && known.zip(claimed).all(|(known, claimed)| known == "*" || known == claimed)
}

/// Finds a quote; an observation that is cited without one says nothing by itself.
fn cite(cited: &Citation, supports: &[Support], context: &CallContext<'_>) -> Result<String, FindingError> {
    let id = cited.observation;
    let text = context.whole(id).ok_or(FindingError::NoObservation { id })?;
    let quote = cited.quote.as_deref().map(str::trim).unwrap_or_default();
    if quote.is_empty() && reason(id, supports).is_some() {
        return Ok(String::new());
    }
    if quote.len() < MIN_QUOTE_BYTES {
        return Err(FindingError::NothingQuoted { id });
    }
    // The model may have read the text through its fence, which spells out what could pass for a marker.
    let fence = Fence::new(&context.state.opened.nonce);
    let contains = |text: &str| words(text).contains(&words(quote));
    if !contains(&text) && !contains(&fence.inside(&text)) {
        return Err(FindingError::NotSaid { id, quote: quote.to_owned() });
    }
    Ok(format!("{id} says {quote:?}"))
}

/// Blanks and line breaks are the one thing that a model may change in a quote.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
