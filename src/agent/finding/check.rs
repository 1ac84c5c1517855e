//! Whether a claim holds against what was recorded.

use crate::agent::Fence;
use crate::agent::event::{Citation, Finding};
use crate::agent::finding::FaultCode;
use crate::agent::suspect::Suspect;
use crate::agent::tool::Bench;

/// A quote has to be long enough to say something.
const SHORTEST_QUOTE: usize = 4;

/// Looks the evidence of a claim up; returns what bears it out.
///
/// # Errors
/// Says what is wrong with it.
pub fn check(finding: &Finding, bench: &Bench<'_>) -> Result<String, String> {
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
    let held: Result<Vec<String>, String> =
        finding.evidence.iter().map(|cited| cite(finding, cited, bench)).collect();
    let held = held?;
    let borne: Vec<String> =
        finding.evidence.iter().filter_map(|cited| borne(finding, cited, bench)).collect();
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

/// Reads what was recorded anew: returns why the cited observation bears the claim out.
fn borne(finding: &Finding, cited: &Citation, bench: &Bench<'_>) -> Option<String> {
    let id = cited.observation;
    let owner = &bench.state.observation(id)?.observed.call;
    let call = bench.state.calls().find(|call| call.call.id == *owner)?;
    let suspects = bench.borne(call).suspects;
    let same = suspects.iter().find(|suspect| suspect.code == finding.code && is_object(suspect, finding))?;
    Some(format!("{id}: {}", same.why))
}

/// A part of an object that is not known where the observation was made stands there as `*`.
fn is_object(suspect: &Suspect, finding: &Finding) -> bool {
    let (known, claimed) = (suspect.object.split('/'), finding.object.split('/'));
    known.clone().count() == claimed.clone().count()
        && known.zip(claimed).all(|(known, claimed)| known == "*" || known == claimed)
}

/// Looks a quote up; an observation that is cited without one says nothing by itself.
fn cite(finding: &Finding, cited: &Citation, bench: &Bench<'_>) -> Result<String, String> {
    let id = cited.observation;
    let text = bench.whole(id).ok_or_else(|| format!("there is no observation {id}, or its text is gone"))?;
    let quote = cited.quote.as_deref().map(str::trim).unwrap_or_default();
    if quote.is_empty() && borne(finding, cited, bench).is_some() {
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
