//! Who calls whom.

use super::read::Machine;
use super::word::{occurrence, stands_behind};
use crate::symptom_text::{Symptom, SymptomText, sentences};

/// Words behind which the caller stands, in the languages in which people describe incidents.
const FROM: &[&str] = &[
    "from", "von", "vom", "aus", "desde", "dal", "depuis", "van", "vanaf", "från", "fra", "z", "ze", "od",
    "iz", "из", "от", "с", "από", "从", "自",
];
/// Words behind which the called one stands.
const TO: &[&str] = &[
    "to", "on", "at", "reach", "reaching", "towards", "toward", "nach", "auf", "zu", "zum", "zur", "an", "a",
    "al", "en", "sur", "vers", "à", "su", "verso", "para", "em", "no", "na", "do", "naar", "op", "til",
    "till", "på", "к", "до", "на", "到", "against", "into", "inside",
];

/// Who has which part.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// The machine that calls.
    pub(super) source: Option<Machine>,
    /// The machine that is called.
    pub(super) destination: Option<Machine>,
    /// Further machines that are named.
    pub(super) others: Vec<Machine>,
}

/// Says who calls whom, of the machines that are named, by the words around them.
pub(super) fn assign_roles(mut named: Vec<Machine>, text: &str, symptom_text: &SymptomText) -> Roles {
    let key_sentence = key_sentence(&named, text);
    // Whoever that sentence leaves out is somebody further.
    named.sort_by_key(|machine| !is_in(machine, key_sentence));
    if named.len() < 2 {
        return alone(named.pop(), key_sentence, symptom_text);
    }
    // In some languages the same word stands for "of": the last one is meant.
    let from = named.iter().rposition(|machine| is_marked(machine, key_sentence, FROM));
    let at = from.unwrap_or_else(|| {
        // "On A …, B calls it": whoever is not called calls.
        let called = |index| named.get(index).is_some_and(|machine| is_marked(machine, key_sentence, TO));
        usize::from(called(0) && !called(1))
    });
    let source = named.remove(at);
    let to = named.iter().position(|machine| is_marked(machine, key_sentence, TO)).unwrap_or_default();
    let destination = named.remove(to);
    Roles { source: Some(source), destination: Some(destination), others: named }
}

fn alone(only: Option<Machine>, key_sentence: &str, symptom_text: &SymptomText) -> Roles {
    let outward = [Symptom::InternetLost, Symptom::StorageUnreachable];
    let calls = only.as_ref().is_some_and(|machine| is_marked(machine, key_sentence, FROM))
        || outward.iter().any(|symptom| symptom_text.symptoms.contains(symptom));
    if calls {
        Roles { source: only, ..Roles::default() }
    } else {
        Roles { destination: only, ..Roles::default() }
    }
}

/// Returns the first sentence that says who calls whom, as the next one may tell of something else; all of them where none does.
fn key_sentence<'a>(named: &[Machine], text: &'a str) -> &'a str {
    let tells = |sentence: &&str| {
        let both: Vec<&Machine> = named.iter().filter(|machine| is_in(machine, sentence)).collect();
        let marked = |machine: &Machine| [FROM, TO].iter().any(|marks| is_marked(machine, sentence, marks));
        both.len() > 1 && both.into_iter().any(marked)
    };
    sentences(text).into_iter().find(tells).unwrap_or(text)
}

fn is_in(machine: &Machine, text: &str) -> bool {
    names(machine).any(|name| occurrence(text, &name).is_some())
}

fn is_marked(machine: &Machine, text: &str, marks: &[&str]) -> bool {
    names(machine).any(|name| stands_behind(text, &name, marks))
}

/// Returns what a machine may be called, as it stands in a text of small letters.
fn names(machine: &Machine) -> impl Iterator<Item = String> {
    std::iter::once(&machine.name).chain(&machine.addresses).map(|name| name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symptom_text;

    /// Returns who calls whom of the machines that a text names, in its order.
    fn roles_of(text: &str) -> (String, String) {
        let text = text.to_lowercase();
        let mut all = ["web-1", "db-1", "cache-1"].map(|name| (text.find(name), name)).to_vec();
        all.sort_unstable();
        let machine = |name: &str| Machine { name: name.to_owned(), ..Machine::default() };
        let named = all.iter().filter(|(at, _)| at.is_some()).map(|(_, name)| machine(name)).collect();
        let Roles { source, destination, .. } = assign_roles(named, &text, &symptom_text::read(&text));
        let name = |machine: Option<Machine>| machine.map(|machine| machine.name).unwrap_or_default();
        (name(source), name(destination))
    }

    #[test]
    fn the_sentence_that_tells_of_both_gives_the_parts() {
        for (text, source, destination) in [
            ("web-1 cannot reach db-1", "web-1", "db-1"),
            ("On db-1 nothing answers, web-1 calls it", "web-1", "db-1"),
            ("db-1 is old. web-1 cannot reach cache-1.", "web-1", "cache-1"),
            ("cache-1 complains: calls from web-1 to db-1 hang", "web-1", "db-1"),
            ("From web-1 to db-1 all is slow. From db-1 to web-1 it is not.", "web-1", "db-1"),
            ("db-1 is not reachable", "", "db-1"),
            ("From web-1 nothing works", "web-1", ""),
        ] {
            assert_eq!(roles_of(text), (source.to_owned(), destination.to_owned()), "{text}");
        }
    }
}
