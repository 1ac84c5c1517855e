//! Which layers belong to which symptom. `ghost playbook show` prints it.

use std::collections::BTreeSet;

use crate::suspect::Layer;
use crate::symptom_text::Symptom;

/// One symptom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub symptom: Symptom,
    /// What is read, always: it costs nothing and asks nobody.
    pub reads: &'static [Layer],
    /// What settles it where all of that is clean. It needs consent.
    pub settles: &'static [Layer],
    /// What people forget about it.
    pub note: &'static str,
}

const PATH: &[Layer] = &[Layer::Topology, Layer::Rules, Layer::Routes, Layer::Guest, Layer::Shaping];

/// What is read of a machine itself, whatever people complain about: one reading brings all of it.
pub const OF_HOSTS: [Layer; 6] =
    [Layer::Links, Layer::Routes, Layer::Guest, Layer::Shaping, Layer::Names, Layer::Sockets];

pub const TABLE: [Row; 13] = [
    Row {
        symptom: Symptom::Unreachable,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "effective rules and routes at both ends decide, not configured ones; the guest's own filter comes behind both gates",
    },
    Row {
        symptom: Symptom::Hanging,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "silence is a drop or a route to nowhere; large packets that hang where small ones pass are a path MTU",
    },
    Row {
        symptom: Symptom::Refused,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "a reset comes from a host that was reached, or from a rule that rejects; rules that drop explain no reset",
    },
    Row {
        symptom: Symptom::Slow,
        reads: PATH,
        settles: &[Layer::Measure],
        note: "stable is not healthy: compare with what the machine can do; look at the shaping of both ends, for each shapes what it sends",
    },
    Row {
        symptom: Symptom::Lossy,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "loss at one end only shows in a capture from the other one",
    },
    Row {
        symptom: Symptom::OneProtocol,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "what blocks one protocol is a filter: shaping never does; a blocked ping says nothing about slow TCP",
    },
    Row {
        symptom: Symptom::InternetLost,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "the route of 0.0.0.0/0, who owns its next hop, the guest's OUTPUT chain by port",
    },
    Row {
        symptom: Symptom::StorageUnreachable,
        reads: &[Layer::Topology, Layer::Storage, Layer::Rules, Layer::Routes, Layer::Guest],
        settles: &[Layer::Wire],
        note: "both sides of the relationship: the account's network rules, and the subnet's service endpoint",
    },
    Row {
        symptom: Symptom::NothingChanged,
        reads: PATH,
        settles: &[],
        note: "a named baseline is compared; no difference is a finding of its own and does not clear what was broken before",
    },
    Row {
        symptom: Symptom::RolledBack,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "compare with the baseline from before the window, and look where a rollback does not reach: inside the guest",
    },
    Row {
        symptom: Symptom::Exposure,
        reads: &[Layer::Topology, Layer::Exposure],
        settles: &[],
        note: "every rule that lets the internet in, at both gates",
    },
    Row {
        symptom: Symptom::Containers,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "container traffic is forwarded: FORWARD and the chains of the container engine, and its address translation",
    },
    Row {
        symptom: Symptom::Names,
        reads: PATH,
        settles: &[Layer::Wire],
        note: "addresses that work clear the path, not the name server: only the wire shows what it answers, or that it does not",
    },
];

/// Returns what is read for these symptoms. Where nobody says what is wrong everything on the path is.
#[must_use]
pub fn layers(symptoms: &BTreeSet<Symptom>) -> Vec<Layer> {
    let rows = rows(symptoms);
    let reads: BTreeSet<Layer> = rows.iter().flat_map(|row| row.reads).copied().collect();
    if reads.is_empty() { PATH.to_vec() } else { reads.into_iter().collect() }
}

/// Returns what settles these symptoms where everything that is read is clean.
#[must_use]
pub fn settling(symptoms: &BTreeSet<Symptom>) -> Vec<Layer> {
    let settles: BTreeSet<Layer> = rows(symptoms).iter().flat_map(|row| row.settles).copied().collect();
    settles.into_iter().collect()
}

/// Returns the rows of symptoms. Where exposure is the question and nothing is said to fail, exposure alone is.
fn rows(symptoms: &BTreeSet<Symptom>) -> Vec<&'static Row> {
    TABLE.iter().filter(|row| symptoms.contains(&row.symptom)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symptom_has_its_row() {
        for symptom in Symptom::ALL {
            assert_eq!(TABLE.iter().filter(|row| row.symptom == symptom).count(), 1, "{symptom:?}");
        }
    }

    #[test]
    fn symptoms_add_up() {
        let both = BTreeSet::from([Symptom::Slow, Symptom::Unreachable]);
        assert_eq!(settling(&both), [Layer::Measure, Layer::Wire]);
        assert_eq!(layers(&both), PATH);
        assert_eq!(layers(&BTreeSet::new()), PATH);
        assert_eq!(layers(&BTreeSet::from([Symptom::Exposure])), [Layer::Topology, Layer::Exposure]);
    }
}
