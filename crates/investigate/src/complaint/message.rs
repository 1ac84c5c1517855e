//! What a text says, by its words alone: whether there is anything to investigate, and what somebody wishes.

use std::collections::BTreeSet;

use super::clause::{Clause, clauses, is_end_like, is_group, names_something, symptoms};
use super::fold::fold;
use super::port;
use super::token::{Kind, tokens};
use super::vocabulary::WORDS;
use crate::symptom_text::{LeftBehind, Symptom};

/// The longest name that is one.
const MAX_NAME: usize = 80;

/// What a text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What it is about.
    pub topic: Topic,
    /// Somebody wants to see packets.
    pub wants_capture: bool,
    /// Somebody wants them from both ends.
    pub both_ends: bool,
    /// Names of what was kept before.
    pub baselines: Vec<String>,
    /// Resource groups that are named.
    pub groups: Vec<String>,
    /// Storage accounts that are named.
    pub accounts: Vec<String>,
    /// A capture that a session left behind is to be removed, and nothing else is asked.
    pub left_behind: Option<LeftBehind>,
    pub(super) clauses: Vec<Clause>,
}

impl Message {
    /// Returns the words that name a resource group, a baseline or a storage account, folded: they name no machine.
    pub(super) fn words_of_options(&self) -> Vec<String> {
        self.groups.iter().chain(&self.baselines).chain(&self.accounts).map(|word| fold(word)).collect()
    }
}

/// What a text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Something of a network is wrong, or somebody asks about the state of one.
    Incident,
    /// Something is wrong, and nothing in the words says that it is a network: names of the estate decide.
    Unclear,
    /// Somebody says hello.
    Greeting,
    /// Somebody says thank you.
    Thanks,
    /// A question about the bot itself.
    AboutBot,
    /// A question that knowledge answers.
    Knowledge,
    /// Somebody asks who changed something, or what was changed.
    Author,
    /// Words that say nothing of all that.
    Other,
    /// No words at all: a reaction, an empty text.
    Empty,
}

impl Topic {
    /// Tells whether the estate has to be looked at.
    #[must_use]
    pub fn needs_estate(self) -> bool {
        matches!(self, Self::Incident | Self::Unclear)
    }
}

/// Reads a text. It knows no estate: which words are machines is for `resolve` to say.
#[must_use]
pub fn read(text: &str) -> Message {
    let left_behind = crate::symptom_text::read(text).left_behind;
    let text = bounded(text);
    let folded = fold(text);
    let clauses = clauses(text);
    let baselines = baselines(&folded, text);
    let wants_capture = WORDS.capture.words.are_in(&folded);
    let topic = if left_behind.is_some() || !baselines.is_empty() {
        Topic::Incident
    } else {
        topic(&folded, &clauses, wants_capture)
    };
    Message {
        topic,
        wants_capture,
        both_ends: WORDS.capture.both_ends.are_in(&folded),
        baselines,
        groups: groups(text),
        accounts: accounts(&folded),
        left_behind,
        clauses,
    }
}

pub(super) fn topic(folded: &str, clauses: &[Clause], wants_capture: bool) -> Topic {
    if clauses.is_empty() {
        return Topic::Empty;
    }
    let chat = &WORDS.chat;
    let all = tokens(folded);
    let has_end = all.iter().any(|token| is_end_like(token) && !is_group(token.text));
    let has_port = !port::ports(folded, &all).is_empty();
    let number_port = port::ports(folded, &all).iter().any(|port| !port.is_word);
    let trouble = clauses.iter().any(|clause| !clause.symptoms.is_empty());
    let asks = chat.asking.find_all(folded).first().is_some_and(|place| place.start < 3);
    let doubt = WORDS.doubt.words.are_in(folded);
    let ping = clauses.iter().any(|clause| clause.is_ping);
    let question = WORDS.question.leftovers.are_in(folded)
        || WORDS.question.exposure_ports.are_in(folded)
        || clauses.iter().any(|clause| clause.symptoms.contains(&Symptom::Exposure));
    // "Who changed the NSG?", where nothing is said to fail.
    if WORDS.question.authors.are_in(folded) && !clauses.iter().any(Clause::is_trouble) {
        return Topic::Author;
    }
    let strong = (has_end && (trouble || has_port || doubt || ping || wants_capture))
        || (trouble && (has_port || ping || names_something(folded)))
        || all.iter().any(|token| matches!(token.kind, Kind::Address(..)))
        || (has_end && all.iter().filter(|token| is_end_like(token)).count() > 1);
    // "How do priorities work?", "what is a 502?"
    if asks && !strong {
        return Topic::Knowledge;
    }
    if strong || (question && !asks) || (wants_capture && !asks) {
        return Topic::Incident;
    }
    if trouble && (chat.network.are_in(folded) || number_port) {
        return Topic::Incident;
    }
    if number_port || (has_port && doubt) {
        return Topic::Incident;
    }
    let words = all.iter().filter(|token| token.kind == Kind::Word).count();
    if chat.about.are_in(folded) && !trouble {
        return Topic::AboutBot;
    }
    if chat.thanks.are_in(folded) && (words <= 12 || !trouble) {
        return Topic::Thanks;
    }
    if chat.greetings.find_all(folded).first().is_some_and(|place| place.start < 2) && words <= 6 && !trouble
    {
        return Topic::Greeting;
    }
    if trouble || has_end || doubt || names_something(folded) {
        return Topic::Unclear;
    }
    if clauses.iter().any(|clause| clause.is_question) && words > 1 {
        return Topic::Knowledge;
    }
    // A script that has no trouble word known here may still complain: two words of a foreign script are not nonsense.
    if words > 3 && !folded.is_ascii() { Topic::Unclear } else { Topic::Other }
}

/// So many bytes are read: whoever pastes more says what it is about before that.
const MAX_TEXT: usize = 8_000;
/// A run of letters without a space that is longer is data.
const MAX_RUN: usize = 1_000;

/// Cuts a text that is too long for somebody's words.
pub(super) fn bounded(text: &str) -> &str {
    let mut run = 0;
    let end = text.char_indices().find_map(|(at, char)| {
        run = if char.is_whitespace() { 0 } else { run + char.len_utf8() };
        (at >= MAX_TEXT || run > MAX_RUN).then_some(at)
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// Returns a text in the letters that are compared.
pub(crate) fn folded(text: &str) -> String {
    fold(bounded(text))
}

/// Returns what somebody sees, whatever sentence says it, and the names of what was kept before.
#[must_use]
pub fn said(text: &str) -> (BTreeSet<Symptom>, Vec<String>) {
    let text = bounded(text);
    let symptoms = clauses(text).into_iter().flat_map(|clause| clause.symptoms).collect();
    (symptoms, baselines(&fold(text), text))
}

/// Returns the names of what was kept: by their form, or behind the word that says so.
fn baselines(folded: &str, text: &str) -> Vec<String> {
    let places = WORDS.baseline.words.find_all(folded);
    let all = tokens(folded);
    let original: Vec<char> = text.chars().collect();
    let asks_for_changes = symptoms(folded).contains(&Symptom::NothingChanged);
    let is_since = |word: &str| ["since", "seit", "desde", "depuis", "dal", "od", "с"].contains(&word);
    let mut found: Vec<String> = Vec::new();
    // Where those stand that were found.
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for token in all.iter().filter(|token| token.kind == Kind::Word && token.text.len() <= MAX_NAME) {
        let word = token.text;
        let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        let prefixed = word.matches('_').count() > 1
            && WORDS.baseline.prefixes.iter().any(|prefix| word.starts_with(prefix.as_str()));
        // Behind `baseline`, within a few words of the same sentence.
        let behind = places.iter().any(|place| {
            let first = taken.iter().all(|(from, to)| {
                *from < place.end || folded.get(*to..token.start).is_some_and(|gap| is_joint(gap.trim()))
            });
            first
                && folded.get(place.end..token.start).is_some_and(|between| {
                    between.len() < 60
                        && !between.contains(['.', '?', '!', '\n'])
                        && between.split_whitespace().count() <= 6
                })
        });
        let before = places.iter().any(|place| {
            folded
                .get(token.end..place.start)
                .is_some_and(|between| between.trim().is_empty() || between.len() < 10)
        });
        let formed =
            word.contains('_') || (word.contains('-') && word.bytes().any(|byte| byte.is_ascii_digit()));
        // `the baseline is before-maintenance`
        let direct = places.iter().any(|place| {
            folded.get(place.end..token.start).is_some_and(|between| {
                let fillers = ["", "is", "was", "called", "named", "heisst", "ist"];
                let words = between.split([' ', ':', '=', '"', '\'', '`', '(']);
                !between.contains(['.', '?', '!', '\n', ','])
                    && words.into_iter().all(|word| fillers.contains(&word))
            })
        });
        // `what changed since pre_window_2?`
        let since = asks_for_changes
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
            && folded
                .get(..token.start)
                .is_some_and(|before| before.split_whitespace().next_back().is_some_and(is_since));
        let named = (behind && formed)
            || (before && word.contains('_'))
            || (direct && word.contains('-'))
            || (since && (formed || word.contains('-') && named_since(word)));
        if plain
            && !is_group(word)
            && (prefixed || named || (!places.is_empty() && word.matches('_').count() > 0))
        {
            taken.push((token.start, token.end));
            let from = folded.get(..token.start).map_or(0, |text| text.chars().count());
            let name: String = original.iter().skip(from).take(word.chars().count()).collect();
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// `before-maintenance`.
fn named_since(word: &str) -> bool {
    WORDS.baseline.since_prefixes.iter().any(|prefix| word.starts_with(prefix.as_str()))
}

/// `a_1, b_2 and c_3`.
fn is_joint(gap: &str) -> bool {
    gap.chars().all(|char| ",&+ ".contains(char)) || WORDS.boundary.and.hold(gap)
}

/// Returns the resource groups: by their form, or behind the words that say so.
fn groups(text: &str) -> Vec<String> {
    let lower = fold(text);
    let original: Vec<char> = text.chars().collect();
    let mut found: Vec<String> = Vec::new();
    for token in tokens(&lower).iter().filter(|token| token.kind == Kind::Word) {
        let before = lower.get(..token.start).unwrap_or_default().trim_end();
        let called = [
            "resource group",
            "resource-group",
            "ressourcengruppe",
            "grupo de recursos",
            "groupe de ressources",
            "rg",
        ]
        .iter()
        .any(|words| before.ends_with(words));
        let plain = token.text.len() > 2 && token.text.is_ascii();
        if plain && (is_group(token.text) || (called && token.text.contains(['-', '_']))) {
            let from = lower.get(..token.start).map_or(0, |text| text.chars().count());
            let name: String = original.iter().skip(from).take(token.text.len()).collect();
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// Returns the storage accounts, those that are called so first.
fn accounts(folded: &str) -> Vec<String> {
    let words = WORDS.symptom.get(&Symptom::StorageUnreachable);
    if !words.is_some_and(|languages| languages.values().any(|words| words.are_in(folded))) {
        return Vec::new();
    }
    let mut found: Vec<(bool, String)> = Vec::new();
    for token in tokens(folded) {
        let name = match token.kind {
            Kind::Word => token.text,
            Kind::Host(host, _) => host,
            Kind::Number(_)
            | Kind::Range(..)
            | Kind::Other
            | Kind::Address(..)
            | Kind::Port(..)
            | Kind::Arrow
            | Kind::BackArrow => continue,
        };
        let host =
            name.split_once('.').filter(|(_, rest)| rest.ends_with("core.windows.net")).map(|(name, _)| name);
        let before =
            folded.get(..token.start).unwrap_or_default().trim_end().trim_end_matches([':', '"', '\'', '(']);
        let called = host.is_some()
            || ["account", "storage", "konto", "cuenta", "compte", "speicherkonto"]
                .iter()
                .any(|word| before.ends_with(word));
        let name = host.unwrap_or(name);
        let fits = (3..=24).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && name.bytes().any(|byte| byte.is_ascii_lowercase());
        let digits = name.bytes().filter(u8::is_ascii_digit).count();
        if fits && (host.is_some() || digits > 1 || (called && name.len() > 7)) {
            found.push((!called, name.to_owned()));
        }
    }
    found.retain(|(_, name)| !is_ticket(name));
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, name)| name).collect()
}

/// `inc0106033`, `chg0042`: letters that name a list, and a number in it.
fn is_ticket(name: &str) -> bool {
    let number = name.trim_start_matches(|char: char| char.is_ascii_lowercase());
    let letters = name.len() - number.len();
    let lists = [
        "inc", "chg", "chge", "req", "ritm", "prb", "task", "sctask", "kb", "ref", "ticket", "case", "bug",
        "sev",
    ];
    number.bytes().all(|byte| byte.is_ascii_digit())
        && name.get(..letters).is_some_and(|letters| lists.contains(&letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn talk_needs_no_estate() {
        for (text, topic) in [
            ("hi", Topic::Greeting),
            ("Hello!", Topic::Greeting),
            ("Guten Morgen", Topic::Greeting),
            ("你好", Topic::Greeting),
            ("thanks!", Topic::Thanks),
            ("danke dir", Topic::Thanks),
            ("thank you, that was quick", Topic::Thanks),
            ("how do priorities work?", Topic::Knowledge),
            ("how do NSG priorities work?", Topic::Knowledge),
            ("what is a 502?", Topic::Knowledge),
            ("what can you do?", Topic::AboutBot),
            ("who changed the NSG?", Topic::Author),
            ("who deleted the rule deny-5432 of web-nsg yesterday?", Topic::Author),
            ("quién cambió el NSG de web-1?", Topic::Author),
            ("what changed in nw-forensics-rg between 1 and 3?", Topic::Author),
            ("which changes were made to web-nsg last night?", Topic::Author),
            ("who are you", Topic::AboutBot),
            ("asdf", Topic::Other),
            ("the pizza is cold", Topic::Other),
            ("👍", Topic::Empty),
            ("", Topic::Empty),
            ("...", Topic::Empty),
        ] {
            assert_eq!(read(text).topic, topic, "{text}");
        }
    }

    #[test]
    fn complaints_need_one_in_any_language() {
        for text in [
            "5432 dead",
            "tf-source-vm cannot reach tf-dest-vm",
            "checkout gives 504 since 10:00",
            "the api can not talk to its database",
            "hr-web-3からpartner-apiの8443番ポートに接続できません",
            "web-1 連不上 db-1",
            "z claims-app nie da sie polaczyc z claims-db na porcie 3306",
            "xyzzy web-1 plugh db-1 8443",
            "everything is down",
            "is RDP or SSH on web-1 reachable from anywhere?",
            "which ports are open to the world?",
            "what is left over?",
            "did the window change anything? baseline pre_window_7",
            "please capture on web-1",
            "who changed the NSG? web-1 cannot reach db-1 on 5432",
        ] {
            assert_eq!(read(text).topic, Topic::Incident, "{text}");
        }
    }

    #[test]
    fn baselines_and_groups_are_found_by_their_form_and_by_what_stands_before_them() {
        let message = read("Firewall baseline from before: fw_pre_docker_O. nw-forensics-rg.");
        assert_eq!(message.baselines, ["fw_pre_docker_O"]);
        assert_eq!(message.groups, ["nw-forensics-rg"]);
        assert_eq!(read("what changed since the signoff snapshot good-2026-11?").baselines, ["good-2026-11"]);
        assert_eq!(read("compare with baseline Release_42 please").baselines, ["Release_42"]);
        assert_eq!(
            read("did anything change? the baseline is before-maintenance").baselines,
            ["before-maintenance"]
        );
        assert_eq!(read("what changed on web-1 since pre_window_2?").baselines, ["pre_window_2"]);
        assert_eq!(
            read("Hi, what changed on web-1 since before-maintenance?").baselines,
            ["before-maintenance"]
        );
        assert_eq!(read("who changed the NSG since last-night?").baselines, [""; 0]);
        assert_eq!(read("web-1 cannot reach db-1 since deploy-42").baselines, [""; 0]);
    }

    #[test]
    fn whoever_wants_packets_says_so() {
        let message = read("Capture on both at the same time and compare web-1 with db-1.");
        assert!(message.wants_capture && message.both_ends);
        assert!(!read("Where does the traffic go?").wants_capture);
    }

    #[test]
    fn storage_accounts_are_named_by_their_host_or_by_what_they_are_called() {
        assert_eq!(read("time out writing to storage account nwlogs080613").accounts, ["nwlogs080613"]);
        assert_eq!(
            read("blob uploads to nwlogs080613 fail since 09:15 INC0106033").accounts,
            ["nwlogs080613"]
        );
        assert_eq!(read("https://mylogs.blob.core.windows.net/x hangs").accounts, ["mylogs"]);
    }
}
