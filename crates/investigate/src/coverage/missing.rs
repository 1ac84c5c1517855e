//! What is missing.

use std::collections::BTreeSet;

use crate::coverage::{OF_HOSTS, explains, layers, settling};
use crate::listed::ListedMachine;
use crate::state::State;
use crate::suspect::{Layer, Looked};
use crate::symptom_text::{Mention, Symptom, SymptomText};

/// Everything that people said in a session.
#[must_use]
pub fn asked(state: &State) -> String {
    use crate::event::Instruction;
    use crate::state::Entry;
    let mut text = state.opened.symptom.clone();
    for entry in &state.entries {
        if let Entry::Message { text: said, instruction: Instruction::Steer, .. } = entry {
            text.push('\n');
            text.push_str(said);
        }
    }
    text
}

/// Returns the machines that people speak of, in the order in which they name them, of those that were listed.
#[must_use]
pub fn machines(symptom_text: &SymptomText, listed: &[ListedMachine]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for mention in &symptom_text.mentions {
        let named = listed.iter().find(|machine| match mention {
            Mention::Word(word) => machine.name.eq_ignore_ascii_case(word),
            Mention::Address(address) => {
                let address = address.to_string();
                machine.all_addresses().any(|own| own == address)
            }
        });
        if let Some(machine) = named
            && !found.contains(&machine.name)
        {
            found.push(machine.name.clone());
        }
    }
    found
}

/// Returns what has to be looked at and was not. `codes` are the faults that were found: where there are some, what only settles is not
/// needed, unless somebody asked for it, or what is wrong cannot come from any of them.
#[must_use]
pub fn missing(
    symptom_text: &SymptomText,
    machines: &[String],
    looked: &[Looked],
    codes: &[&str],
) -> Vec<Looked> {
    let has = |layer: Layer, subject: &str| {
        looked.iter().any(|seen| {
            seen.layer == layer && (subject.is_empty() || seen.subject.eq_ignore_ascii_case(subject))
        })
    };
    let mut wanted: BTreeSet<Layer> = layers(&symptom_text.symptoms).into_iter().collect();
    // Nobody can tell drift without something to compare with.
    let kept =
        |start: &str| symptom_text.baselines.iter().any(|name| name.to_ascii_lowercase().starts_with(start));
    if kept("eni") || (!symptom_text.baselines.is_empty() && !kept("fw") && !kept("pm") && !kept("pipe")) {
        wanted.insert(Layer::NetworkDrift);
    }
    if kept("fw") {
        wanted.insert(Layer::GuestDrift);
    }
    let apart = symptom_text.symptoms.iter().filter(|symptom| {
        codes.is_empty() || (is_apart(**symptom) && !codes.iter().any(|code| explains(code, **symptom)))
    });
    wanted.extend(settling(&apart.copied().collect()));
    if symptom_text.wants_capture {
        wanted.insert(Layer::Wire);
    }
    if machines.is_empty() && symptom_text.symptoms.contains(&Symptom::StorageUnreachable) {
        wanted.retain(|layer| matches!(layer, Layer::Storage | Layer::Topology));
    }
    let mut missing = Vec::new();
    for layer in wanted {
        let subjects: Vec<&str> = match layer {
            Layer::Rules | Layer::Routes | Layer::Guest | Layer::Shaping => {
                machines.iter().map(String::as_str).collect()
            }
            // What is exposed is asked about whoever is named first; what drifted, about any one.
            Layer::Exposure => machines.first().map(String::as_str).into_iter().collect(),
            Layer::Wire if symptom_text.both_ends => machines.iter().take(2).map(String::as_str).collect(),
            // Two machines are measured, one cannot be.
            Layer::Measure if machines.len() < 2 => continue,
            Layer::Topology
            | Layer::Storage
            | Layer::NetworkDrift
            | Layer::GuestDrift
            | Layer::Measure
            | Layer::Wire => vec![""],
            Layer::Links | Layer::Names | Layer::Sockets | Layer::Cluster => continue,
        };
        let subjects = if subjects.is_empty() { vec![""] } else { subjects };
        for subject in subjects {
            if !has(layer, subject) {
                missing.push(Looked { layer, subject: subject.to_owned() });
            }
        }
    }
    missing
}

/// Returns what has to be looked at on machines that are read themselves, and was not.
#[must_use]
pub fn missing_of_hosts(machines: &[String], looked: &[Looked]) -> Vec<Looked> {
    let all = machines
        .iter()
        .flat_map(|machine| OF_HOSTS.into_iter().map(|layer| Looked { layer, subject: machine.clone() }));
    let has = |gap: &Looked| {
        looked.iter().any(|seen| seen.layer == gap.layer && seen.subject.eq_ignore_ascii_case(&gap.subject))
    };
    all.filter(|gap| !has(gap)).collect()
}

/// These are never a mere side effect of something else that was found.
fn is_apart(symptom: Symptom) -> bool {
    symptom == Symptom::Names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symptom_text::read;

    fn estate() -> Vec<ListedMachine> {
        let machine = |name: &str, address: &str, public: &[&str]| ListedMachine {
            name: name.to_owned(),
            addresses: vec![address.to_owned()],
            public: public.iter().map(|&one| one.to_owned()).collect(),
            ..ListedMachine::default()
        };
        vec![machine("web-1", "10.0.0.4", &[]), machine("db-1", "10.0.0.5", &["203.0.113.9"])]
    }

    fn seen(layers: &[(Layer, &str)]) -> Vec<Looked> {
        layers
            .iter()
            .map(|(layer, subject)| Looked { layer: *layer, subject: (*subject).to_owned() })
            .collect()
    }

    #[test]
    fn machines_are_named_by_name_or_by_any_address() {
        let symptom_text = read("from WEB-1 to 203.0.113.9, and 10.0.0.5 again, not api-7");
        assert_eq!(machines(&symptom_text, &estate()), ["web-1", "db-1"]);
        assert!(machines(&symptom_text, &[]).is_empty());
    }

    #[test]
    fn both_ends_have_to_be_looked_at() {
        let symptom_text = read("web-1 cannot reach db-1");
        let both = ["web-1".to_owned(), "db-1".to_owned()];
        let half = seen(&[
            (Layer::Topology, ""),
            (Layer::Rules, "web-1"),
            (Layer::Rules, "db-1"),
            (Layer::Routes, "web-1"),
            (Layer::Routes, "db-1"),
            (Layer::Guest, "web-1"),
            (Layer::Guest, "db-1"),
            (Layer::Shaping, "web-1"),
        ]);
        assert_eq!(missing(&symptom_text, &both, &half, &["nsg_deny"]), seen(&[(Layer::Shaping, "db-1")]));
        let whole = [half, seen(&[(Layer::Shaping, "DB-1")])].concat();
        assert!(missing(&symptom_text, &both, &whole, &["nsg_deny"]).is_empty());
        // Where nothing was found the wire has the last word.
        assert_eq!(missing(&symptom_text, &both, &whole, &[]), seen(&[(Layer::Wire, "")]));
    }

    #[test]
    fn a_named_baseline_has_to_be_compared_with() {
        let symptom_text = read("did it change anything on db-1? baseline eni_pre_window_R");
        let missing = missing(&symptom_text, &["db-1".to_owned()], &[], &["nsg_deny"]);
        assert!(missing.iter().any(|gap| gap.layer == Layer::NetworkDrift));
        assert!(!missing.iter().any(|gap| gap.layer == Layer::GuestDrift));
    }

    #[test]
    fn whoever_asks_for_packets_has_to_get_them() {
        let symptom_text = read("web-1 to db-1 loses packets; capture on both");
        let both = ["web-1".to_owned(), "db-1".to_owned()];
        let gaps = missing(&symptom_text, &both, &[], &["nsg_deny"]);
        assert_eq!(gaps.iter().filter(|gap| gap.layer == Layer::Wire).count(), 2);
    }
    #[test]
    fn a_rule_that_shuts_a_port_explains_no_name_that_is_not_found() {
        let symptom_text = read("web-1 cannot reach db-1; DNS does not resolve on web-1");
        let gaps = |codes: &[&str]| missing(&symptom_text, &["web-1".to_owned()], &[], codes);
        let wire = |codes: &[&str]| gaps(codes).iter().any(|gap| gap.layer == Layer::Wire);
        assert!(wire(&[]) && wire(&["service_endpoint_missing"]) && !wire(&["dns_failure"]));
    }
}
