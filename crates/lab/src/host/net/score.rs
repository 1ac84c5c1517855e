//! How well what was said agrees with what is right.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use super::topology::Topology;
use super::trace::Trace;

/// What came of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The names of the faults, or of the look-alike.
    pub name: String,
    /// The network.
    pub topology: Topology,
    /// What is right: `fault object`.
    pub truth: BTreeSet<String>,
    /// What was said to be broken or degraded.
    pub said: BTreeSet<String>,
    /// What gave the injection away.
    pub traces: BTreeSet<Trace>,
    /// How long gathering on all machines took.
    pub gathered_in: Duration,
    /// Whether the network was afterwards as before.
    pub is_restored: bool,
}

impl Outcome {
    /// Returns F1 of the pairs; nothing said of nothing is 1.
    #[must_use]
    pub fn f1(&self) -> f64 {
        let whole = self.truth.len() + self.said.len();
        if whole == 0 {
            return 1.0;
        }
        let both = self.truth.intersection(&self.said).count();
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        2.0 * number(both) / number(whole)
    }

    /// Tells whether what was said is right, nothing gave the fault away, and the network was afterwards as before.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.truth == self.said && self.traces.is_empty() && self.is_restored
    }

    /// Tells whether nothing was right to say.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.truth.is_empty()
    }
}

/// The board of many cases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Board {
    /// All of them.
    pub outcomes: Vec<Outcome>,
    /// What could not be run here, and why.
    pub skipped: Vec<(String, String)>,
    /// What was to run and did not come to be as it should, and why: it says nothing of what is judged, and is no success.
    pub failed: Vec<(String, String)>,
}

impl Board {
    /// Returns the mean F1 of the cases with faults; 1 where there is none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(self.outcomes.iter().filter(|one| !one.is_healthy()))
    }

    /// Returns how many healthy cases there are, and of how many something was said.
    #[must_use]
    pub fn healthy(&self) -> (usize, usize) {
        let all = self.outcomes.iter().filter(|one| one.is_healthy());
        (all.clone().count(), all.filter(|one| !one.said.is_empty()).count())
    }

    /// Returns how many kinds of faults there were.
    #[must_use]
    pub fn kinds(&self) -> usize {
        let pairs = self.outcomes.iter().flat_map(|one| &one.truth);
        pairs.filter_map(|pair| pair.split(' ').next()).collect::<BTreeSet<_>>().len()
    }
}

fn mean<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> f64 {
    let (sum, count) = outcomes.fold((0.0, 0_u32), |(sum, count), one| (sum + one.f1(), count + 1));
    if count == 0 { 1.0 } else { sum / f64::from(count) }
}

impl fmt::Display for Board {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.outcomes {
            writeln!(out, "{:.2}  {}  {}", one.f1(), one.topology.as_str(), one.name)?;
            for missed in one.truth.difference(&one.said) {
                writeln!(out, "      not said: {missed}")?;
            }
            for wrong in one.said.difference(&one.truth) {
                writeln!(out, "      wrongly said: {wrong}")?;
            }
            for trace in &one.traces {
                writeln!(out, "      given away: {trace}")?;
            }
            if !one.is_restored {
                writeln!(out, "      the network was not as before")?;
            }
        }
        let mut by_class: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
        for one in self.outcomes.iter().filter(|one| !one.is_healthy()) {
            by_class.entry(one.topology.as_str()).or_default().push(one);
        }
        writeln!(out)?;
        for (class, outcomes) in by_class {
            writeln!(out, "{:.3}  {class}, {} cases", mean(outcomes.iter().copied()), outcomes.len())?;
        }
        for (name, why) in &self.skipped {
            writeln!(out, "skipped  {name}: {why}")?;
        }
        for (name, why) in &self.failed {
            writeln!(out, "failed   {name}: {why}")?;
        }
        let (healthy, named) = self.healthy();
        let slowest = self.outcomes.iter().map(|one| one.gathered_in).max().unwrap_or_default();
        writeln!(
            out,
            "F1 {:.3} over {} cases of {} kinds of faults; {named} of {healthy} healthy ones named; slowest gathering {:.1} s; {} given away; {} not restored",
            self.mean(),
            self.outcomes.len() - healthy,
            self.kinds(),
            slowest.as_secs_f64(),
            self.outcomes.iter().filter(|one| !one.traces.is_empty()).count(),
            self.outcomes.iter().filter(|one| !one.is_restored).count()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(truth: &[&str], said: &[&str]) -> Outcome {
        let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Outcome {
            name: "x".to_owned(),
            topology: Topology::Lan,
            truth: set(truth),
            said: set(said),
            traces: BTreeSet::new(),
            gathered_in: Duration::ZERO,
            is_restored: true,
        }
    }

    #[test]
    fn what_is_said_wrongly_counts_as_what_is_not_said() {
        for (truth, said, expected) in [
            (&[][..], &[][..], 1.0),
            (&["a x"], &["a x"], 1.0),
            (&["a x"], &[], 0.0),
            (&[], &["a x"], 0.0),
            (&["a x"], &["a x", "b y"], 2.0 / 3.0),
        ] {
            assert!((outcome(truth, said).f1() - expected).abs() < 1e-9, "{truth:?} {said:?}");
        }
    }

    #[test]
    fn a_board_counts_healthy_networks_apart() {
        let outcomes = vec![outcome(&["a x"], &["a x"]), outcome(&[], &["a x"]), outcome(&[], &[])];
        let board = Board { outcomes, skipped: Vec::new(), failed: Vec::new() };
        assert_eq!((board.mean(), board.healthy(), board.kinds()), (1.0, (2, 1), 1));
    }
}
