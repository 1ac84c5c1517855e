//! Which changes an investigation said to have made what is at fault, held against those that did.

use std::fmt;

use serde::Serialize;

use ghost_investigate::changed::{ObjectOrigin, origins};
use ghost_investigate::state::State;
use ghost_lab::case::History;

/// How many faults were said to come from which changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct ChangeCounts {
    /// Faults that were found and whose change the log holds.
    pub(super) expected: usize,
    /// Those of them whose change was named.
    pub(super) attributed: usize,
    /// Those of them whose change was said to be possible.
    pub(super) possible: usize,
    /// Those of them of which nothing was said.
    pub(super) missed: usize,
    /// Faults for which a change was named that did not make them.
    pub(super) wrong: usize,
    /// Those of the wrong ones that were put into the log in order to be mistaken.
    pub(super) decoys_blamed: usize,
    /// Changes that were put into the log in order to be mistaken.
    pub(super) decoys: usize,
    #[serde(skip)]
    said: Vec<ObjectOrigin>,
    #[serde(skip)]
    found: Vec<String>,
}

impl ChangeCounts {
    /// Takes what an investigation said.
    pub(super) fn of(state: &State) -> Self {
        let said = origins(state).into_iter().map(|(origin, _)| origin).collect();
        let found = state.accepted.iter().map(|accepted| accepted.finding.object.clone()).collect();
        Self { said, found, ..Self::default() }
    }

    /// Holds it against what happened.
    pub(super) fn count(&mut self, history: &History) {
        let is_decoy = |id: &str| history.decoys.iter().any(|decoy| decoy == id);
        self.decoys = history.decoys.len();
        for origin in &self.said {
            let Some(id) = origin.correlation.as_deref() else { continue };
            let is_right = history.causes.iter().any(|(object, own)| *object == origin.object && own == id);
            if !is_right {
                self.wrong += 1;
                self.decoys_blamed += usize::from(is_decoy(id));
            }
        }
        for (object, id) in history.causes.iter().filter(|(object, _)| self.found.contains(object)) {
            self.expected += 1;
            let named = self.said.iter().find(|origin| origin.object == *object);
            let right = named.filter(|origin| origin.correlation.as_deref() == Some(id.as_str()));
            match right.map(|origin| origin.result.as_str()) {
                Some("made_by") => self.attributed += 1,
                Some(_) => self.possible += 1,
                None => self.missed += 1,
            }
        }
    }

    /// Adds up.
    pub(super) fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::default(), |sum, own| Self {
            expected: sum.expected + own.expected,
            attributed: sum.attributed + own.attributed,
            possible: sum.possible + own.possible,
            missed: sum.missed + own.missed,
            wrong: sum.wrong + own.wrong,
            decoys_blamed: sum.decoys_blamed + own.decoys_blamed,
            decoys: sum.decoys + own.decoys,
            said: Vec::new(),
            found: Vec::new(),
        })
    }
}

impl fmt::Display for ChangeCounts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} of {} attributed, {} possible, {} missed, {} wrong, {} of {} decoys blamed",
            self.attributed,
            self.expected,
            self.possible,
            self.missed,
            self.wrong,
            self.decoys_blamed,
            self.decoys
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(object: &str, result: &str, id: &str) -> ObjectOrigin {
        ObjectOrigin {
            fault: "nsg_deny".to_owned(),
            object: object.to_owned(),
            result: result.to_owned(),
            sentence: String::new(),
            correlation: Some(id.to_owned()),
        }
    }

    #[test]
    fn a_decoy_that_is_blamed_is_counted_and_so_is_what_is_missed() {
        let history = History {
            causes: vec![
                ("nsg/a/r".to_owned(), "1".to_owned()),
                ("nsg/b/r".to_owned(), "2".to_owned()),
                ("nsg/c/r".to_owned(), "3".to_owned()),
            ],
            decoys: vec!["9".to_owned()],
        };
        let found = ["nsg/a/r", "nsg/b/r"].map(str::to_owned).to_vec();
        let said = vec![said("nsg/a/r", "made_by", "1"), said("nsg/b/r", "may_be", "9")];
        let mut counts = ChangeCounts { said, found, ..ChangeCounts::default() };
        counts.count(&history);
        assert_eq!(
            counts.to_string(),
            "1 of 2 attributed, 0 possible, 1 missed, 1 wrong, 1 of 1 decoys blamed"
        );
    }
}
