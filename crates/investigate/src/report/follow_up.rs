//! Questions about a report, answered from what is recorded: nothing is read again.
//!
//! Goes in: the state of a session that is over, and words. Comes out: an answer, or nothing where the words are no question about what was
//! looked at. Never: a claim that no observation of the session shows.

use crate::HypothesisState;
use crate::changed::{self, LogReading, log_reading};
use crate::complaint::{Request, names_capture, request};
use crate::event::{FindingAccepted, ObservationId};
use crate::finding::title;
use crate::judged::{FlowVerdict, JudgedCause, JudgedFlow, JudgedFlows, judged};
use crate::listed::{ListedMachine, ListedResources};
use crate::report::answer::{carried, confidence, ends, hypothesis_subject};
use crate::report::looked::Looked;
use crate::report::packets::capture_files;
use crate::report::plain;
use crate::report::step_outcome::{StepOutcome, step_outcome};
use crate::state::{State, Step};

/// Longer words are a new request and no question about the report.
const MAX_WORDS: usize = 20;

/// So many rules are shown.
const MAX_RULES: usize = 6;

/// So many commands are named.
const MAX_COMMANDS: usize = 12;

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    ReturnPath,
    Rule,
    SecurityGroup,
    Since,
    Unchecked,
    Fix,
    Sure,
    Commands,
    Evidence,
    Recordings,
    /// A layer, by the hypothesis of the playbook about it.
    Layer(&'static str),
}

/// Words that name a layer, and the hypothesis about it. The first match counts.
const LAYERS: [(&[&str], &str); 8] = [
    (&["nsg", "security group", "security rule"], "H-rules"),
    (&["firewall", "iptables", "nftables", "packet filter", "ufw", "fail2ban"], "H-guest"),
    (&["route", "routing", "routes", "udr", "nva", "next hop"], "H-routes"),
    (&["shaping", "netem", "qdisc", "traffic control", "rate limit"], "H-shaping"),
    (&["storage", "endpoint", "private link"], "H-storage"),
    (&["capture", "packets", "wire", "pcap", "mtu"], "H-wire"),
    (&["latency", "throughput", "bandwidth"], "H-path"),
    (&["baseline", "drift"], "H-changed"),
];

/// Answers a question about the report; `None` where the words are none, or the session is not over.
#[must_use]
pub fn follow_up(state: &State, question: &str) -> Option<String> {
    state.concluded.as_ref()?;
    let state = state.shown();
    let subject = subject(question)?;
    let judged = judged(state).map(|(_, judged)| judged).unwrap_or_default();
    let answer = match subject {
        Subject::ReturnPath => return_path(&judged)?,
        Subject::Rule => rules(state)?,
        Subject::SecurityGroup => security_groups(state, &judged)?,
        Subject::Since => since(state),
        Subject::Unchecked => format!("Not checked: {}.", crate::report::answer::unchecked(state)),
        Subject::Fix => fix(state),
        Subject::Sure => confidence(state).map(|sure| format!("Confidence: {sure}"))?,
        Subject::Commands => commands(state),
        Subject::Evidence => evidence(state)?,
        Subject::Recordings => recordings(state),
        Subject::Layer(id) => layer(state, &judged, id)?,
    };
    Some(plain_lines(&without_ids(&answer)))
}

fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

fn subject(question: &str) -> Option<Subject> {
    let text = question.to_lowercase();
    let words: Vec<&str> =
        text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() || words.len() > MAX_WORDS {
        return None;
    }
    let said = format!(" {} ", words.join(" "));
    let has = |wanted: &[&str]| wanted.iter().any(|words| said.contains(&format!(" {words} ")));
    if request(question) == Request::Look
        || !(asks(question, &said) || request(question) == Request::Question)
    {
        return None;
    }
    if has(&[
        "return path",
        "return traffic",
        "other direction",
        "both directions",
        "there and back",
        "reverse path",
        "return direction",
    ]) {
        return Some(Subject::ReturnPath);
    }
    if has(&["since when", "who changed", "who did", "when did", "what changed"]) {
        return Some(Subject::Since);
    }
    if has(&["not check", "not checked", "did you not", "didn t you check", "what is missing", "left out"]) {
        return Some(Subject::Unchecked);
    }
    if has(&[
        "fix it",
        "fix this",
        "fix that",
        "the fix",
        "what to do",
        "what should i do",
        "what do i do",
        "what now",
        "what next",
        "solve it",
        "repair it",
    ]) {
        return Some(Subject::Fix);
    }
    if has(&["how sure", "how certain", "how confident", "are you sure", "are you certain", "confidence"]) {
        return Some(Subject::Sure);
    }
    if has(&["commands", "what did you run", "what did you do", "what have you done", "what did you read"]) {
        return Some(Subject::Commands);
    }
    if has(&["evidence", "proof", "prove it", "how do you know", "what proves", "what shows"]) {
        return Some(Subject::Evidence);
    }
    if has(&["which nsg", "which security group", "what nsg", "which nsgs"]) {
        return Some(Subject::SecurityGroup);
    }
    if has(&["rule", "rules"]) && has(&["show", "which", "what"]) {
        return Some(Subject::Rule);
    }
    let is_of_layer =
        has(&["why not", "why isn t it", "did you", "have you", "what about", "is it", "could it be", "why"])
            || has(&[
                "innocent",
                "guilty",
                "to blame",
                "at fault",
                "involved",
                "the cause",
                "the culprit",
                "clear",
            ]);
    let mut layers = LAYERS.iter().filter(|_| is_of_layer);
    let layer = layers.find(|(names, _)| has(names) || names.iter().any(|name| has(&[&format!("{name}s")])));
    match layer {
        Some((_, id)) => Some(Subject::Layer(id)),
        None if names_capture(question) => Some(Subject::Recordings),
        None => None,
    }
}

/// Tells whether words are a question; `said` is the same in lower case, a blank around each word.
fn asks(question: &str, said: &str) -> bool {
    let words = [
        "did you",
        "have you",
        "why not",
        "why",
        "which",
        "what",
        "show",
        "show me",
        "how",
        "since when",
        "who",
    ];
    question.trim_end().ends_with('?') || words.iter().any(|words| said.contains(&format!(" {words} ")))
}

/// Says that nothing recorded answers a question. A new look is offered beside it.
pub const UNANSWERED: &str =
    "I have nothing recorded that answers this, so I looked at nothing, and the report stands.";

/// Says that words behind a report were no order to look.
pub const REMARK: &str = "I take this as a remark: I looked at nothing, and the report stands.";

/// Returns what is to be done: each step with its command.
fn fix(state: &State) -> String {
    let actions: &[String] = state.concluded.as_ref().map_or(&[], |(_, concluded)| &concluded.actions);
    let step = |(number, action): (usize, &String)| {
        let mut lines = action.lines().map(str::trim);
        let first = lines.next().unwrap_or_default();
        let command =
            lines.find_map(|line| line.strip_prefix("Command: ")).map(|line| format!("\n    {line}"));
        format!("{number}. {first}{}", command.unwrap_or_default())
    };
    let steps: Vec<String> = (1..).zip(actions.iter().take(MAX_RULES)).map(step).collect();
    match steps.is_empty() {
        true => "Nothing is recommended: nothing that was found is to be taken away.".to_owned(),
        false => {
            format!(
                "{}\nNothing of this was carried out. The report says how to check each step.",
                steps.join("\n")
            )
        }
    }
}

/// Says which commands ran, by what they looked at.
fn commands(state: &State) -> String {
    let ran: Vec<&Step> =
        state.steps.iter().filter(|step| step_outcome(state, step) == StepOutcome::Ran).collect();
    let mut what: Vec<String> = Vec::new();
    for step in &ran {
        let looked = Looked::by(step, step.current()).plain();
        if !what.contains(&looked) {
            what.push(looked);
        }
    }
    let more = what.len().saturating_sub(MAX_COMMANDS);
    what.truncate(MAX_COMMANDS);
    what.extend((more > 0).then(|| format!("and {more} more, in the report and the audit")));
    format!("{} commands ran:\n{}", ran.len(), what.join("\n"))
}

/// Names the files of recorded packets, as far as there are any.
fn recordings(state: &State) -> String {
    let files: Vec<String> = capture_files(state)
        .into_iter()
        .filter(|file| file.is_recording)
        .map(|file| format!("{}: {}", file.title, file.file))
        .collect();
    match files.as_slice() {
        [] => "No packets were recorded for this report.".to_owned(),
        some => format!("Recorded packets, in the folder of captures:\n{}", some.join("\n")),
    }
}

/// Says what shows each fault.
fn evidence(state: &State) -> Option<String> {
    let line = |found: &FindingAccepted| {
        format!("{}: {}", title(&found.finding.code, &found.finding.object), bare(&found.why))
    };
    let lines = unique(state.accepted.iter().map(line));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns lines, each once, as many as are shown.
fn unique(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in all {
        if lines.len() < MAX_RULES && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Takes the names of observations out of a text: "(o1–o11)", "(o3, o4)".
#[must_use]
pub fn without_ids(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('(') {
        let inside = behind.split_once(')').filter(|(inside, _)| {
            let mut ids = inside.split([',', '–']).map(str::trim);
            ids.all(|id| id == "…" || id.parse::<ObservationId>().is_ok())
        });
        match inside {
            Some((_, after)) => {
                out.push_str(before.trim_end());
                rest = after;
            }
            None => {
                out.push_str(before);
                out.push('(');
                rest = behind;
            }
        }
    }
    out + rest
}

fn return_path(judged: &JudgedFlows) -> Option<String> {
    if judged.flows.is_empty() {
        return None;
    }
    let line = |flow: &JudgedFlow| {
        let name = format!("{} {}", ends(flow), carried(flow));
        let back: Vec<&JudgedCause> =
            flow.causes.iter().chain(&flow.behind).filter(|cause| cause.side == "return").collect();
        match (back.as_slice(), flow.verdict) {
            ([], FlowVerdict::Indeterminate) => {
                format!("{name}: not to its end; not everything could be read.")
            }
            ([], _) => format!("{name}: yes, both directions were judged, and nothing stops the answers."),
            (causes, _) => {
                let what = causes.iter().map(|cause| title(&cause.fault, &cause.object)).collect::<Vec<_>>();
                format!("{name}: yes, and the fault is on the return path: {}.", what.join("; "))
            }
        }
    };
    Some(judged.flows.iter().take(MAX_RULES).map(line).collect::<Vec<_>>().join("\n"))
}

fn rules(state: &State) -> Option<String> {
    let decides = |found: &&FindingAccepted| {
        ["nsg/", "netfilter/", "route/", "qdisc/"].iter().any(|kind| found.finding.object.starts_with(kind))
    };
    let line = |found: &FindingAccepted| {
        format!("{}: {}", title(&found.finding.code, &found.finding.object), bare(&found.why))
    };
    let lines = unique(state.accepted.iter().filter(decides).map(line));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Takes the names of observations out of what shows a finding; the first reason is enough.
fn bare(why: &str) -> &str {
    let first = why.split("; o").next().unwrap_or(why);
    match first.split_once(": ") {
        Some((id, rest))
            if id.starts_with('o') && id.get(1..).is_some_and(|id| id.parse::<u32>().is_ok()) =>
        {
            rest
        }
        _ => first,
    }
}

fn security_groups(state: &State, judged: &JudgedFlows) -> Option<String> {
    let named: Vec<String> = state
        .accepted
        .iter()
        .filter_map(|found| found.finding.object.strip_prefix("nsg/")?.split_once('/'))
        .map(|(group, rule)| format!("{group}, rule {rule}"))
        .collect();
    if !named.is_empty() {
        return Some(format!("{}.", named.join("; ")));
    }
    let concerned = judged.machines();
    let line = |machine: &ListedMachine| {
        let name = &machine.name;
        let is_concerned = concerned.is_empty() || concerned.contains(name);
        if name.is_empty() || !is_concerned {
            return None;
        }
        let groups: Vec<&str> = machine.security_groups().collect();
        let groups = if groups.is_empty() { "none".to_owned() } else { groups.join(" and ") };
        Some(format!("{name}: {groups}"))
    };
    let lines = unique(machines(state).iter().filter_map(line));
    (!lines.is_empty()).then(|| format!("None of them is at fault. Those on the path:\n{}", lines.join("\n")))
}

/// Returns the machines that were listed last.
pub(in crate::report) fn machines(state: &State) -> Vec<ListedMachine> {
    ListedResources::last(state).map(|listed| listed.machines).unwrap_or_default()
}

fn since(state: &State) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (origin, _) in changed::origins(state) {
        lines.push(format!("{}.", capital(&origin.sentence)));
    }
    if let Some(LogReading::Unread(why)) = log_reading(state) {
        lines.push(format!("The activity log was not read: {why}."));
    }
    let dated: Vec<String> = state
        .accepted
        .iter()
        .filter(|found| found.why.contains("baseline"))
        .map(|found| format!("{}: {}", title(&found.finding.code, &found.finding.object), bare(&found.why)))
        .collect();
    lines.extend(dated);
    if lines.is_empty() {
        return "That is not known: nothing that was read carries a date, and no baseline was compared."
            .to_owned();
    }
    lines.join("\n")
}

fn layer(state: &State, judged: &JudgedFlows, id: &str) -> Option<String> {
    let name = hypothesis_subject(id)?;
    let prefixes: &[&str] = match id {
        "H-rules" => &["nsg/"],
        "H-guest" => &["netfilter/"],
        "H-routes" => &["route/"],
        "H-shaping" => &["qdisc/"],
        "H-storage" => &["storage/", "subnet/"],
        "H-wire" => &["flow/", "host/"],
        _ => &[],
    };
    let mut lines: Vec<String> = state
        .accepted
        .iter()
        .filter(|found| prefixes.iter().any(|prefix| found.finding.object.starts_with(prefix)))
        .map(|found| {
            format!("It is: {} ({}).", title(&found.finding.code, &found.finding.object), bare(&found.why))
        })
        .collect();
    if let Some(found) = state.hypothesis(id) {
        let why = found.why.as_deref().map(str::trim).filter(|why| !why.is_empty());
        match (found.state, why) {
            (HypothesisState::Refuted, Some(why)) => {
                lines.push(format!("{}: checked and clear. {why}", capital(name)))
            }
            (HypothesisState::Refuted, None) => lines.push(format!("{}: checked and clear.", capital(name))),
            (HypothesisState::Unverifiable, Some(why)) => {
                lines.push(format!("{}: could not be checked. {why}", capital(name)))
            }
            _ => {}
        }
    }
    let noticed =
        judged.noticed.iter().filter(|one| prefixes.iter().any(|prefix| one.object.starts_with(prefix)));
    lines.extend(
        noticed.take(3).map(|one| format!("Noticed, and not the cause: {}; {}.", one.what, one.why_not)),
    );
    if lines.is_empty() {
        lines.push(format!("Not looked at: {name}. Mention me with \"check {name}\" and I do."));
    }
    Some(lines.join("\n"))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::rich;

    #[test]
    fn questions_about_the_report_are_not_new_requests() {
        for (text, expected) in [
            ("did you check the return path?", Some(Subject::ReturnPath)),
            ("Show the rule", Some(Subject::Rule)),
            ("which NSG?", Some(Subject::SecurityGroup)),
            ("why not the firewall?", Some(Subject::Layer("H-guest"))),
            ("could it be a route?", Some(Subject::Layer("H-routes"))),
            ("So the NSG is innocent?", Some(Subject::Layer("H-rules"))),
            ("since when?", Some(Subject::Since)),
            ("what did you not check?", Some(Subject::Unchecked)),
            ("how do I fix it?", Some(Subject::Fix)),
            ("are you sure?", Some(Subject::Sure)),
            ("what commands did you run?", Some(Subject::Commands)),
            ("show the evidence", Some(Subject::Evidence)),
            ("look once more", None),
            ("where is the pcap file?", Some(Subject::Recordings)),
            ("wo liegt der Mitschnitt?", Some(Subject::Recordings)),
            ("please capture on web-1", None),
            ("web-1 cannot reach db-1 on 5432", None),
            ("now check the firewall of web-9", None),
            ("", None),
        ] {
            assert_eq!(subject(text), expected, "{text}");
        }
    }

    #[test]
    fn a_rule_is_shown_as_it_was_recorded() {
        let answer = follow_up(&rich().state(), "show the rule").unwrap();
        assert_eq!(
            answer,
            "tf-dest-vm itself drops TCP port 5001 in its packet filter: rule 1 matches tcp/5001"
        );
    }

    #[test]
    fn questions_with_an_answer_get_it_and_an_order_gets_none() {
        for order in ["web-1 cannot reach db-1 on 5432", "look once more", "go on", "check the rule again"] {
            assert_eq!(follow_up(&rich().state(), order), None, "{order}");
        }
        let answer = |question| follow_up(&rich().state(), question).unwrap();
        assert!(answer("what should I do?").contains("Nothing of this was carried out"));
        assert!(answer("are you sure?").starts_with("Confidence: "));
        assert!(answer("show the evidence").contains("rule 1 matches tcp/5001"));
        assert!(answer("which commands?").contains("iptables-save -t filter"));
    }

    #[test]
    fn names_of_observations_are_taken_out_and_other_brackets_stay() {
        assert_eq!(without_ids("None stops it (o1–o11). Look (o3, o4)"), "None stops it. Look");
        assert_eq!(without_ids("eth0 (netem) at o1 (once)"), "eth0 (netem) at o1 (once)");
    }

    #[test]
    fn nothing_is_answered_before_the_end_and_nothing_that_was_not_read() {
        let ledger = crate::report::tests::Ledger::open("x");
        assert_eq!(follow_up(&ledger.state(), "show the rule"), None);
        assert_eq!(follow_up(&rich().state(), "did you check the return path?"), None);
        let routes = follow_up(&rich().state(), "why not the storage account?").unwrap();
        assert!(routes.contains("Not looked at: storage account"), "{routes}");
    }
}
