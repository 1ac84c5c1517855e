//! The words for what nobody looked at: names that are not known here, and what a limit cut off.
//!
//! Goes in: what was judged. Comes out: a clause for each, and what to do about it. Never: a claim about what was not looked at.

use crate::judged::{JudgedFlows, UnknownName};

/// So many of them are named; the others are counted.
const MAX_NAMED: usize = 4;

/// What makes an end known. The same words hold wherever they are read: in a thread, in a terminal.
pub(crate) const MAKE_KNOWN: &str = "Check the spelling, or make it known: a machine with --host NAME or under [hosts], a cluster with --cluster NAME or \
under [clusters], anything in a cloud by its resource group, after az login.";

/// Names the ends that are not known here, with those that are like them: `db-9 is not known here; db-1 and db-2 are`.
#[must_use]
pub(crate) fn unknown_ends(ends: &[UnknownName]) -> Option<String> {
    let words: Vec<&str> = ends.iter().map(|end| end.word.as_str()).collect();
    let named = listed(&words)?;
    let verb = if words.len() == 1 { "is" } else { "are" };
    let mut nearest: Vec<&str> = Vec::new();
    for name in ends.iter().flat_map(|end| &end.nearest) {
        if !nearest.contains(&name.as_str()) {
            nearest.push(name);
        }
    }
    let near = match (listed(&nearest), nearest.len()) {
        (None, _) => String::new(),
        (Some(near), 1) => format!("; the nearest known name is {near}"),
        (Some(near), _) => format!("; the nearest known names are {near}"),
    };
    Some(format!("{named} {verb} not known here{near}"))
}

/// Says what a limit cut off: `not judged: 3 more pods of shop/web`.
#[must_use]
pub(crate) fn cut_off(judged: &JudgedFlows) -> Option<String> {
    let all: Vec<&str> = judged.unjudged.iter().map(String::as_str).collect();
    Some(format!("not judged, as a limit was reached: {}", listed(&all)?))
}

/// Returns why nobody may say that all is well, where something was not looked at.
#[must_use]
pub(crate) fn why_open(judged: &JudgedFlows) -> Option<String> {
    let parts: Vec<String> = unknown_ends(&judged.unknown).into_iter().chain(cut_off(judged)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Writes a list as a sentence has it.
fn listed(all: &[&str]) -> Option<String> {
    let more = all.len().saturating_sub(MAX_NAMED);
    let mut shown: Vec<String> = all.iter().take(MAX_NAMED).map(|one| (*one).to_owned()).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    let last = shown.pop()?;
    Some(if shown.is_empty() { last } else { format!("{} and {last}", shown.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(word: &str, nearest: &[&str]) -> UnknownName {
        UnknownName { word: word.to_owned(), nearest: nearest.iter().map(|&name| name.to_owned()).collect() }
    }

    #[test]
    fn an_unknown_end_is_named_with_the_nearest_ones() {
        let said = |ends: &[UnknownName]| unknown_ends(ends).unwrap_or_default();
        assert_eq!(said(&[]), "");
        assert_eq!(said(&[end("db-9", &[])]), "db-9 is not known here");
        assert_eq!(said(&[end("db-9", &["db-1"])]), "db-9 is not known here; the nearest known name is db-1");
        assert_eq!(
            said(&[end("web-9", &["web-1", "web-2"]), end("db-9", &["db-1"])]),
            "web-9 and db-9 are not known here; the nearest known names are web-1, web-2 and db-1"
        );
        let many: Vec<UnknownName> =
            ["a-1", "a-2", "a-3", "a-4", "a-5", "a-6"].map(|word| end(word, &[])).into();
        assert_eq!(said(&many), "a-1, a-2, a-3, a-4 and 2 more are not known here");
    }

    #[test]
    fn what_a_limit_cut_off_is_said() {
        let judged =
            JudgedFlows { unjudged: vec!["3 more services of shop".to_owned()], ..JudgedFlows::default() };
        assert_eq!(
            why_open(&judged).as_deref(),
            Some("not judged, as a limit was reached: 3 more services of shop")
        );
        assert_eq!(why_open(&JudgedFlows::default()), None);
    }
}
