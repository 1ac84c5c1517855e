//! What a text says, read in one pass.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::symptom_text::{Complaint, LeftBehind, Symptom, complaint, port, symptom, token};

/// What a text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymptomText {
    /// Addresses, and words that may be names, in the order in which they stand there, each once.
    pub mentions: Vec<Mention>,
    /// Ports, those of services that are named by a word among them.
    pub ports: Vec<u16>,
    pub protocols: Vec<Protocol>,
    /// Sessions under which something was kept before.
    pub baselines: Vec<String>,
    /// What is wrong.
    pub symptoms: BTreeSet<Symptom>,
    /// The same, sentence by sentence.
    pub complaints: Vec<Complaint>,
    /// Nothing is to be investigated: a capture is to be cleaned up.
    pub left_behind: Option<LeftBehind>,
    /// Somebody wants to see packets.
    pub wants_capture: bool,
    /// Somebody wants them from both ends.
    pub both_ends: bool,
}

/// Something that is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mention {
    Address(IpAddr),
    /// A word that may be a name.
    Word(String),
}

/// A protocol that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    Tcp,
    Udp,
    Icmp,
}

impl Protocol {
    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
        }
    }
}

impl SymptomText {
    /// Tells whether it speaks of trouble with a network, or asks to look at one.
    #[must_use]
    pub fn names_trouble(&self) -> bool {
        !self.symptoms.is_empty() || self.wants_capture || !self.baselines.is_empty()
    }
}

#[must_use]
pub fn read(text: &str) -> SymptomText {
    let tokens = token::tokens(text);
    if let Some(left_behind) = LeftBehind::read(text) {
        let mentions = vec![Mention::Word(left_behind.machine.clone())];
        return SymptomText { left_behind: Some(left_behind), mentions, ..SymptomText::default() };
    }
    let (symptoms, complaints) = (symptom::read(text), complaint::complaints(text));
    let mut symptom_text = SymptomText { symptoms, complaints, ..SymptomText::default() };
    let lower = text.to_lowercase();
    (symptom_text.wants_capture, symptom_text.both_ends) =
        (symptom::wants_capture(&lower), symptom::both_ends(&lower));
    let speaks_of_baseline = lower.contains("baseline") || lower.contains("snapshot");
    for token in &tokens {
        if let Some(address) = token.address() {
            push(&mut symptom_text.mentions, Mention::Address(address));
        } else if token.is_kept(speaks_of_baseline) {
            push(&mut symptom_text.baselines, token.text.to_owned());
        } else if token.is_name() {
            push(&mut symptom_text.mentions, Mention::Word(token.text.to_owned()));
        }
        if let Some(protocol) = token.protocol() {
            push(&mut symptom_text.protocols, protocol);
        }
    }
    for name in crate::complaint::said(text).1 {
        push(&mut symptom_text.baselines, name);
    }
    for port in port::ports(&tokens) {
        push(&mut symptom_text.ports, port);
    }
    symptom_text
}

fn push<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(symptom_text: &SymptomText) -> Vec<String> {
        let text = |mention: &Mention| match mention {
            Mention::Address(ip) => Some(ip.to_string()),
            Mention::Word(_) => None,
        };
        symptom_text.mentions.iter().filter_map(text).collect()
    }

    fn names(symptom_text: &SymptomText, name: &str) -> bool {
        symptom_text.mentions.contains(&Mention::Word(name.to_owned()))
    }

    #[test]
    fn names_addresses_and_ports_are_found_in_a_sentence() {
        let symptom_text = read(
            "The app on tf-dest-vm (10.0.1.5) listens on 8080, but from tf-source-vm (10.0.1.4) the connection just hangs.",
        );
        assert_eq!(addresses(&symptom_text), ["10.0.1.5", "10.0.1.4"]);
        assert!(names(&symptom_text, "tf-dest-vm") && names(&symptom_text, "tf-source-vm"));
        assert_eq!(symptom_text.ports, [8080]);
        assert!(symptom_text.symptoms.contains(&Symptom::Hanging));
    }

    #[test]
    fn the_language_around_them_does_not_matter() {
        let german =
            read("Seit heute früh ist Port 5432 auf db-1 von 10.2.0.7 aus nicht erreichbar, ping geht.");
        assert_eq!(german.ports, [5432]);
        assert!(names(&german, "db-1") && german.symptoms.contains(&Symptom::Unreachable));
        let spanish = read("El puerto 6379 de cache-vm está inaccesible desde web-vm");
        assert_eq!(spanish.ports, [6379]);
        assert!(names(&spanish, "cache-vm") && spanish.symptoms.contains(&Symptom::Unreachable));
    }

    #[test]
    fn services_stand_for_their_ports() {
        assert_eq!(read("cannot reach PostgreSQL and Redis on db").ports, [5432, 6379]);
        assert_eq!(read("partner cannot open SSH").ports, [22]);
        assert_eq!(read("since 14:02 db-1:5432 hangs, started 7:30, 02:30 UTC").ports, [5432]);
        assert_eq!(read("updates over plain HTTP still hang, HTTPS works").ports, [80]);
        assert_eq!(read("tcp/9090 and 53/udp and 10.0.0.1:7070").ports, [9090, 53, 7070]);
    }

    #[test]
    fn numbers_of_something_else_are_no_ports() {
        let symptom_text = read(
            "Ninety minutes, 1500 bytes, 30 min ago, in 2026, 20 % of 4000 calls, P1, ten to twenty times, 150 ms",
        );
        assert_eq!(symptom_text.ports, [] as [u16; 0]);
    }

    #[test]
    fn baselines_are_sessions_and_no_machines() {
        let symptom_text =
            read("Baseline from before: eni_pre_window_P. Firewall baseline fw_pre_docker_O, too.");
        assert_eq!(symptom_text.baselines, ["eni_pre_window_P", "fw_pre_docker_O"]);
        assert!(!names(&symptom_text, "eni_pre_window_P"));
    }

    #[test]
    fn whoever_wants_packets_says_so() {
        let symptom_text =
            read("Capture on both at the same time and compare. We cannot say who is losing packets.");
        assert!(
            symptom_text.wants_capture
                && symptom_text.both_ends
                && symptom_text.symptoms.contains(&Symptom::Lossy)
        );
        assert!(!read("Where does the traffic go?").wants_capture);
    }

    #[test]
    fn nothing_makes_it_fail() {
        for text in ["", ":::", "10.0.0.1:99999999", "//::/", "p\u{0}rt \u{202e}", &"a-".repeat(50_000)] {
            let _ = read(text);
        }
    }
}
