//! What a question behind an answer asks for.
//!
//! Goes in: the words. Comes out: one kind of question, or none. Never: a guess where no word of the table stands in the text.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::complaint::{Phrases, Request, folded, names_capture, request};

/// Longer words are a new request and no question about the report.
const MAX_WORDS: usize = 60;

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// How a step is taken back.
    Undo,
    /// How it is seen that a step worked.
    Verify,
    ReturnPath,
    /// What was not looked at.
    Unchecked,
    /// Whether Ghost changed anything.
    DidYouChange,
    /// Where recorded packets lie.
    Recordings,
    /// Who decides, and who is to be asked.
    Approvers,
    Summary,
    Confidence,
    Commands,
    Evidence,
    /// Whether a restart, a cache or time takes it away.
    WouldHelp,
    /// What becomes of it once a cause is gone.
    Effect,
    /// What a step risks.
    Safe,
    /// Who changed it, and when.
    Who,
    FixedNow,
    /// How it was before.
    Compare,
    Fix,
    SecurityGroup,
    /// What was recorded, as it stands there.
    Show,
    /// Whether it is a layer, by the hypothesis about it.
    Layer(&'static str),
    /// What stops it, and where.
    Cause,
}

#[derive(Debug, Default, Deserialize)]
struct Words {
    words: Phrases,
}

#[derive(Debug, Default, Deserialize)]
struct Layers {
    #[serde(rename = "H-rules")]
    rules: Phrases,
    #[serde(rename = "H-names")]
    names: Phrases,
    #[serde(rename = "H-routes")]
    routes: Phrases,
    #[serde(rename = "H-guest")]
    guest: Phrases,
    #[serde(rename = "H-shaping")]
    shaping: Phrases,
    #[serde(rename = "H-storage")]
    storage: Phrases,
    #[serde(rename = "H-wire")]
    wire: Phrases,
    #[serde(rename = "H-path")]
    path: Phrases,
    #[serde(rename = "H-sockets")]
    sockets: Phrases,
    #[serde(rename = "H-cluster")]
    cluster: Phrases,
    #[serde(rename = "H-changed")]
    changed: Phrases,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    undo: Words,
    verify: Words,
    return_path: Words,
    unchecked: Words,
    did_you_change: Words,
    recordings: Words,
    approvers: Words,
    summary: Words,
    confidence: Words,
    commands: Words,
    evidence: Words,
    would_help: Words,
    effect: Words,
    safe: Words,
    who: Words,
    fixed_now: Words,
    compare: Words,
    fix: Words,
    security_group: Words,
    show: Words,
    cause: Words,
    is_it: Words,
    layers: Layers,
}

/// A file that does not parse is found by a test, never by a user.
static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).unwrap_or_default());

impl Table {
    /// The kinds whose words alone tell them, in the order in which they count.
    fn kinds(&self) -> [(Question, &Phrases); 20] {
        [
            (Question::Undo, &self.undo.words),
            (Question::Verify, &self.verify.words),
            (Question::ReturnPath, &self.return_path.words),
            (Question::Unchecked, &self.unchecked.words),
            (Question::DidYouChange, &self.did_you_change.words),
            (Question::Recordings, &self.recordings.words),
            (Question::Approvers, &self.approvers.words),
            (Question::Summary, &self.summary.words),
            (Question::Confidence, &self.confidence.words),
            (Question::Commands, &self.commands.words),
            (Question::Evidence, &self.evidence.words),
            (Question::WouldHelp, &self.would_help.words),
            (Question::Effect, &self.effect.words),
            (Question::Safe, &self.safe.words),
            (Question::Who, &self.who.words),
            (Question::FixedNow, &self.fixed_now.words),
            (Question::Compare, &self.compare.words),
            (Question::Fix, &self.fix.words),
            (Question::SecurityGroup, &self.security_group.words),
            (Question::Show, &self.show.words),
        ]
    }

    const fn layers(&self) -> [(&'static str, &Phrases); 11] {
        let layers = &self.layers;
        [
            ("H-rules", &layers.rules),
            ("H-names", &layers.names),
            ("H-guest", &layers.guest),
            ("H-routes", &layers.routes),
            ("H-shaping", &layers.shaping),
            ("H-storage", &layers.storage),
            ("H-wire", &layers.wire),
            ("H-path", &layers.path),
            ("H-cluster", &layers.cluster),
            ("H-sockets", &layers.sockets),
            ("H-changed", &layers.changed),
        ]
    }
}

/// Returns what some words ask for. `None` where they are no question, an order to look, or a question that no word of the table tells.
pub(super) fn question(text: &str) -> Option<Question> {
    let said = folded(text);
    if said.split_whitespace().count() > MAX_WORDS || request(text) != Request::Question {
        return None;
    }
    let found = TABLE.kinds().into_iter().find(|(_, words)| words.are_in(&said));
    // The words for a capture of the complaint's table are known in more languages.
    let kind = found.map(|(kind, _)| kind);
    if let Some(kind) = kind {
        return Some(kind);
    }
    let whole = &TABLE.cause.words;
    let causes = whole.find_all(&said);
    let layer = TABLE.layers().into_iter().find_map(|(id, words)| {
        let found = words.find_all(&said);
        // In `which firewall` the layer is part of another question.
        let is_free = |start: usize| !causes.iter().any(|cause| cause.start < start && start < cause.end);
        found.iter().any(|place| is_free(place.start)).then_some(id)
    });
    match layer.filter(|_| TABLE.is_it.words.are_in(&said) || causes.is_empty()) {
        Some(id) => Some(Question::Layer(id)),
        None if names_capture(text) => Some(Question::Recordings),
        None => (!causes.is_empty()).then_some(Question::Cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read() {
        assert!(toml::from_str::<Table>(include_str!("words.toml")).is_ok());
    }

    #[test]
    fn words_tell_what_is_asked() {
        use Question::{
            Approvers, Cause, Commands, Compare, Confidence, DidYouChange, Effect, Evidence, Fix, FixedNow,
            Layer, Recordings, ReturnPath, Safe, SecurityGroup, Show, Summary, Unchecked, Undo, Verify, Who,
            WouldHelp,
        };
        for (text, expected) in [
            ("did you check the return path?", ReturnPath),
            ("is it asymmetric routing?", ReturnPath),
            ("Show the rule", Cause),
            ("which rule is it?", Cause),
            ("which firewall drops it?", Cause),
            ("where exactly?", Cause),
            ("¿qué regla es?", Cause),
            ("welche Regel ist schuld?", Cause),
            ("why is it blocked?", Cause),
            ("which NSG?", SecurityGroup),
            ("why not the firewall?", Layer("H-guest")),
            ("could it be a route?", Layer("H-routes")),
            ("So the NSG is innocent?", Layer("H-rules")),
            ("is it DNS?", Layer("H-names")),
            ("can you rule out DNS?", Layer("H-names")),
            ("liegt es am DNS?", Layer("H-names")),
            ("¿puede ser el DNS?", Layer("H-names")),
            ("is postgres the problem?", Layer("H-sockets")),
            ("are the routes ok?", Layer("H-routes")),
            ("since when?", Who),
            ("¿quién hizo el cambio?", Who),
            ("wer hat das geändert?", Who),
            ("what did you not check?", Unchecked),
            ("how do I fix it?", Fix),
            ("what now?", Fix),
            ("comment corriger ?", Fix),
            ("how do I undo that?", Undo),
            ("how do I know it worked?", Verify),
            ("are you sure?", Confidence),
            ("what commands did you run?", Commands),
            ("show the evidence", Evidence),
            ("where is the pcap file?", Recordings),
            ("wo liegt der Mitschnitt?", Recordings),
            ("did you change anything on our machines?", DidYouChange),
            ("hast du etwas verändert?", DidYouChange),
            ("explain it to my manager, one sentence please", Summary),
            ("tl;dr?", Summary),
            ("catch me up", Summary),
            ("what would happen if I removed that deny?", Effect),
            ("would restarting postgres help?", WouldHelp),
            ("is my fix going to expose the database to the internet?", Safe),
            ("is it safe to do that in production?", Safe),
            ("is it fixed now?", FixedNow),
            ("has this happened before?", Compare),
            ("who may approve that?", Approvers),
            ("show me the routes", Show),
        ] {
            assert_eq!(question(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn an_order_and_a_complaint_are_no_question() {
        for text in [
            "look once more",
            "please capture on web-1",
            "web-1 cannot reach db-1 on 5432",
            "now check the firewall of web-9",
            "check the rule again",
            "",
        ] {
            assert_eq!(question(text), None, "{text}");
        }
    }
}
