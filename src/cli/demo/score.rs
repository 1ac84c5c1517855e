//! What was found, beside what is there.

use serde_json::{Value, json};

use crate::cli::lab::found;
use ghost_investigate::state::State;
use ghost_lab::case::Pair;

/// Compares the end of an investigation with what is there. `may` is right as well, and need not be found.
pub(super) fn score(state: &State, there: &[Pair], may: &[Pair]) -> Option<Value> {
    state.concluded.as_ref()?;
    Some(compared(&found(state), there, may))
}

fn compared(found: &[Pair], there: &[Pair], may: &[Pair]) -> Value {
    let texts = |pairs: Vec<&Pair>| pairs.into_iter().map(Pair::to_string).collect::<Vec<_>>();
    let missed = there.iter().filter(|pair| !found.contains(pair)).collect();
    let wrong = found.iter().filter(|pair| !there.contains(pair) && !may.contains(pair)).collect();
    let right = there.iter().filter(|pair| found.contains(pair)).collect();
    json!({"found": texts(right), "missed": texts(missed), "wrong": texts(wrong)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_found_is_neither_missed_nor_wrong() {
        let pair = |name: &str| Pair::new("nsg_deny", name);
        let compared_pairs =
            compared(&[pair("a"), pair("m"), pair("x")], &[pair("a"), pair("b")], &[pair("m")]);
        assert_eq!(
            compared_pairs,
            json!({"found": ["nsg_deny a"], "missed": ["nsg_deny b"], "wrong": ["nsg_deny x"]})
        );
    }
}
