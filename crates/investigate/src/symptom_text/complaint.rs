//! What people complain about, one by one: each sentence is a complaint of its own.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::symptom_text::{Mention, Symptom, port, symptom, token};

/// One thing that somebody sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong. Where it says what it is about (names, storage, containers …), that alone.
    pub symptoms: BTreeSet<Symptom>,
    /// The ports that stand in it.
    pub ports: Vec<u16>,
    /// Addresses and words that may be names.
    pub mentions: Vec<Mention>,
}

/// What these are about needs no other word: `lookups fail` speaks of names, not of machines that cannot be reached.
const SPECIFIC: [Symptom; 5] = [
    Symptom::Names,
    Symptom::StorageUnreachable,
    Symptom::Containers,
    Symptom::InternetLost,
    Symptom::Exposure,
];

/// Returns the complaints of a text, in order.
pub(super) fn complaints(text: &str) -> Vec<Complaint> {
    sentences(text).into_iter().filter_map(complaint).collect()
}

fn complaint(sentence: &str) -> Option<Complaint> {
    let mut symptoms = symptom::read(sentence);
    let specific: BTreeSet<Symptom> =
        SPECIFIC.into_iter().filter(|symptom| symptoms.contains(symptom)).collect();
    if !specific.is_empty() {
        symptoms = specific;
    }
    if symptoms.is_empty() {
        return None;
    }
    let tokens = token::tokens(sentence);
    let mention = |token: &token::Token<'_>| -> Option<Mention> {
        let address: Option<IpAddr> = token.address();
        address
            .map(Mention::Address)
            .or_else(|| token.is_name().then(|| Mention::Word(token.text.to_owned())))
    };
    Some(Complaint {
        symptoms,
        ports: port::ports(&tokens),
        mentions: tokens.iter().filter_map(mention).collect(),
    })
}

/// Cuts a text behind its sentences. A dot within a name or an address ends nothing.
#[must_use]
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let ends = match letter {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' => letters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            let to = at + letter.len_utf8();
            found.extend(text.get(from..to));
            from = to;
        }
    }
    found.extend(text.get(from..));
    found.retain(|sentence| !sentence.trim().is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_where_a_name_does_not() {
        assert_eq!(
            sentences("db.corp.local (10.0.1.5) is slow. Also: 10.0.1.4 hangs!\nWhy?  "),
            ["db.corp.local (10.0.1.5) is slow.", " Also: 10.0.1.4 hangs!", "\n", "Why?"]
                .into_iter()
                .filter(|text| !text.trim().is_empty())
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_says_what_it_is_about_is_about_that_alone() {
        let all =
            complaints("DNS is broken on web-1: names do not resolve. web-1 cannot reach 5432 on db-1.");
        let [names, port] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(names.symptoms, BTreeSet::from([Symptom::Names]));
        assert!(names.mentions.contains(&Mention::Word("web-1".to_owned())));
        assert_eq!(port.symptoms, BTreeSet::from([Symptom::Unreachable]));
        assert_eq!(port.ports, [5432]);
    }

    #[test]
    fn a_port_that_times_out_is_no_number_of_times() {
        let ports = |text| complaints(text).iter().flat_map(|one| one.ports.clone()).collect::<Vec<u16>>();
        assert_eq!(ports("The billing service on 8000 times out."), [8000]);
        assert_eq!(ports("It was tried 8000 times and 5432 hangs."), [5432]);
    }

    #[test]
    fn a_sentence_without_trouble_is_no_complaint() {
        assert!(complaints("Resource group net-rg. Good morning!").is_empty());
    }
}
