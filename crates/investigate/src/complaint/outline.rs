//! What a message of a thread names, before any estate is known: enough to say whether it is a complaint by itself.

use super::clause::{clauses, is_end_like, is_group};
use super::fold::fold;
use super::message::{Topic, bounded, topic};
use super::port;
use super::token::{Kind, Token, tokens};
use super::vocabulary::WORDS;
use crate::symptom_text::Symptom;

/// What a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    pub topic: Topic,
    /// Names and addresses, as they are compared.
    pub ends: Vec<String>,
    /// Whether a kind of machine is named, as "the database".
    pub names_role: bool,
    /// Ports that are written as numbers.
    pub ports: Vec<u16>,
    /// Whether it says that a flow fails, hangs or loses packets.
    pub is_trouble: bool,
    /// Whether it says that something works, and nothing else.
    pub is_healthy: bool,
    /// Whether it holds nothing but words such as "please look at this".
    pub is_bare: bool,
}

impl Outline {
    /// True if the text is a complaint by itself: it says between whom, or at whom, something fails.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        if self.is_healthy || self.is_bare || !self.topic.needs_estate() {
            return false;
        }
        let ends = self.ends.len() + usize::from(self.names_role);
        ends > 1 || ends == 1 && (self.is_trouble || !self.ports.is_empty())
    }

    /// True if it can add to a complaint: a port, or trouble. A name alone does not: people name machines that they restarted.
    #[must_use]
    pub fn adds(&self) -> bool {
        !self.is_bare && !self.is_healthy && (!self.ports.is_empty() || self.is_trouble)
    }
}

/// Reads what a text names.
#[must_use]
pub fn outline(text: &str) -> Outline {
    let text = bounded(text);
    let folded = fold(text);
    let clauses = clauses(text);
    let all = tokens(&folded);
    let wants_capture = WORDS.capture.words.are_in(&folded);
    let mut ends: Vec<String> = Vec::new();
    for token in all.iter().filter(|token| is_end_like(token) && !is_group(token.text)) {
        let name = end_name(token);
        if !ends.contains(&name) {
            ends.push(name);
        }
    }
    let mut ports: Vec<u16> = Vec::new();
    for port in port::ports(&folded, &all).iter().filter(|port| !port.is_word) {
        if !ports.contains(&port.port) {
            ports.push(port.port);
        }
    }
    // "db" within "db-2" is a part of a name.
    let mut without_ends = folded.clone();
    for token in all.iter().rev().filter(|token| is_end_like(token)) {
        without_ends.replace_range(token.start..token.end, " ");
    }
    let is_trouble = clauses.iter().any(|clause| clause.is_trouble() && !clause.is_history);
    let is_healthy = !is_trouble && clauses.iter().any(|clause| clause.is_healthy);
    Outline {
        topic: topic(&folded, &clauses, wants_capture),
        names_role: WORDS.role.values().any(|role| role.words.are_in(&without_ends)),
        ends,
        ports,
        is_trouble,
        is_healthy,
        is_bare: is_bare(&folded),
    }
}

/// Returns what a text says of ends, ports, numbers and trouble, so that two texts can be compared: a typing error that somebody
/// mended changes nothing of it.
#[must_use]
pub fn fingerprint(text: &str) -> String {
    let text = bounded(text);
    let read = outline(text);
    let folded = fold(text);
    if read.ends.is_empty() && !read.names_role {
        let words = folded.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        return words.collect::<Vec<_>>().join(" ");
    }
    let all = tokens(&folded);
    let mut parts: Vec<String> = all
        .iter()
        .filter(|token| {
            is_end_like(token)
                || matches!(token.kind, Kind::Number(_) | Kind::Range(..) | Kind::Other | Kind::Port(..))
        })
        .map(|token| token.text.to_owned())
        .collect();
    let roles =
        WORDS.role.iter().filter(|(_, role)| role.words.are_in(&folded)).map(|(name, _)| name.clone());
    parts.extend(roles);
    for clause in clauses(text) {
        // That it does not work may be a typing error away from being understood.
        let says = |symptom: &&Symptom| {
            !matches!(symptom, Symptom::Unreachable | Symptom::Hanging | Symptom::Refused)
        };
        parts.extend(clause.symptoms.iter().filter(says).map(|symptom| format!("{symptom:?}")));
    }
    parts.join(" ")
}

fn end_name(token: &Token<'_>) -> String {
    match &token.kind {
        Kind::Address(address, _) => address.to_string(),
        Kind::Host(host, _) => (*host).to_owned(),
        Kind::Word
        | Kind::Number(_)
        | Kind::Range(..)
        | Kind::Other
        | Kind::Port(..)
        | Kind::Arrow
        | Kind::BackArrow => token.text.to_owned(),
    }
}

/// Tells whether a text holds nothing but words that ask somebody to look. Emoji and mentions count for nothing.
fn is_bare(folded: &str) -> bool {
    let mut rest = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        let is_sign = word.len() > 2 && word.starts_with(':') && word.ends_with(':');
        if !is_sign && !word.starts_with('@') && !word.starts_with("<@") {
            rest.push_str(word);
            rest.push(' ');
        }
    }
    let words = rest.split(|char: char| !char.is_alphanumeric() && char != '\'');
    words.map(|word| word.trim_matches('\'')).filter(|word| !word.is_empty()).all(|word| {
        WORDS.thread.bare.contains(word) || word.split('\'').all(|part| WORDS.thread.bare.contains(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_to_look_names_nothing() {
        for text in [
            "",
            "please look",
            "PTAL",
            "can you check this?",
            "what's going on here?",
            "any ideas?",
            "look at this please :eyes:",
            "is it still broken?",
            "please investigate the alert above",
            "help us pls",
            "@bob can you have a look",
            "bitte mal anschauen",
            "kannst du hier mal schauen?",
            "por favor mira esto",
            "tu peux regarder stp ?",
            "puoi guardare?",
            "pode verificar isso?",
            "kun je hier even naar kijken",
            "prosze sprawdz",
            "посмотри пожалуйста",
            "確認してください",
            "请看一下",
            "👀",
            "^^",
            "what is this?",
            "root cause?",
        ] {
            let read = outline(text);
            assert!(read.is_bare && !read.is_whole() && !read.adds(), "{text}: {read:?}");
        }
    }

    #[test]
    fn a_typing_error_changes_nothing_and_another_port_does() {
        let before = "web-1 cannot reach db-1 on port 8081 sicne noon";
        for same in [
            "web-1 cannot reach db-1 on port 8081 since noon!",
            "Web-1  cannot reach db-1 on port 8081, since noon",
        ] {
            assert_eq!(fingerprint(before), fingerprint(same), "{same}");
        }
        for other in [
            "web-1 cannot reach db-1 on port 8080 since noon",
            "db-1 cannot reach web-1 on port 8081 since noon",
            "web-1 reaches db-1 on port 8081 slowly since noon",
            "web-2 cannot reach db-1 on port 8081 since noon",
        ] {
            assert_ne!(fingerprint(before), fingerprint(other), "{other}");
        }
        assert_ne!(fingerprint("the site is slow"), fingerprint("the shop is slow"));
    }

    #[test]
    fn a_complaint_names_who_and_what() {
        for text in [
            "web-1 cannot reach db-1 on port 5432",
            "db-1:5432 times out",
            "web-1 → db-1:5432 probe failed",
            "the web frontends cannot reach the database",
            "curl: (7) Failed to connect to 10.0.0.5 port 8080: Connection refused",
            "web-1 ist von app-2 aus nicht erreichbar",
        ] {
            assert!(outline(text).is_whole(), "{text}: {:?}", outline(text));
        }
        for text in [
            "I restarted it",
            "same here since 14:02",
            "web-2 works fine",
            "port 8080",
            "the pizza is cold",
            "web-1 was patched yesterday",
            "ok",
            "disk usage is at 91 %",
        ] {
            assert!(!outline(text).is_whole(), "{text}: {:?}", outline(text));
        }
        assert!(outline("port 8080").adds() && !outline("same here").adds());
    }
}
