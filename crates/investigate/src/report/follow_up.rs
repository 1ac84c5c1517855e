//! Questions about a report, answered from what is recorded: nothing is read again.
//!
//! Goes in: the state of a session that is over, and words. Comes out: an answer, or nothing where the words are no question about what was
//! looked at. Never: a claim that no observation of the session shows.

use serde_json::Value;

use crate::HypothesisState;
use crate::finding::title;
use crate::judged::{FlowVerdict, JudgedCause, JudgedFlow, JudgedFlows, judged};
use crate::report::answer::{carried, ends, hypothesis_subject};
use crate::report::plain;
use crate::state::State;

/// Longer words are a new request and no question about the report.
const MAX_WORDS: usize = 20;

/// So many rules are shown.
const MAX_RULES: usize = 6;

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    ReturnPath,
    Rule,
    SecurityGroup,
    Since,
    Unchecked,
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
    let subject = subject(question)?;
    let judged = judged(state).map(|(_, judged)| judged).unwrap_or_default();
    let answer = match subject {
        Subject::ReturnPath => return_path(&judged)?,
        Subject::Rule => rules(state)?,
        Subject::SecurityGroup => security_groups(state, &judged)?,
        Subject::Since => since(state),
        Subject::Unchecked => format!("Not checked: {}.", crate::report::answer::unchecked(state)),
        Subject::Layer(id) => layer(state, &judged, id)?,
    };
    Some(plain_lines(&answer))
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
    let asks = question.trim_end().ends_with('?')
        || has(&[
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
        ]);
    if !asks {
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
    if has(&["which nsg", "which security group", "what nsg", "which nsgs"]) {
        return Some(Subject::SecurityGroup);
    }
    if has(&["rule", "rules"]) && has(&["show", "which", "what"]) {
        return Some(Subject::Rule);
    }
    if !has(&["why not", "why isn t it", "did you", "have you", "what about", "is it", "could it be", "why"])
    {
        return None;
    }
    let layer =
        LAYERS.iter().find(|(names, _)| has(names) || names.iter().any(|name| has(&[&format!("{name}s")])));
    layer.map(|(_, id)| Subject::Layer(id))
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
    let decides = |found: &&crate::event::FindingAccepted| {
        ["nsg/", "netfilter/", "route/", "qdisc/"].iter().any(|kind| found.finding.object.starts_with(kind))
    };
    let lines: Vec<String> = state
        .accepted
        .iter()
        .filter(decides)
        .take(MAX_RULES)
        .map(|found| format!("{}: {}", title(&found.finding.code, &found.finding.object), bare(&found.why)))
        .collect();
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
    let line = |machine: &Value| {
        let text = |key: &str| machine.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
        let name =
            text("name").filter(|name| concerned.is_empty() || concerned.iter().any(|one| one == name))?;
        let groups: Vec<&str> = ["nsg", "subnet_nsg"].into_iter().filter_map(text).collect();
        let groups = if groups.is_empty() { "none".to_owned() } else { groups.join(" and ") };
        Some(format!("{name}: {groups}"))
    };
    let mut lines: Vec<String> = machines(state).iter().filter_map(line).collect();
    lines.dedup();
    lines.truncate(MAX_RULES);
    (!lines.is_empty()).then(|| format!("None of them is at fault. Those on the path:\n{}", lines.join("\n")))
}

/// Returns the machines that were listed last.
fn machines(state: &State) -> Vec<Value> {
    let topology = state.calls().rfind(|call| call.call.tool == "topology");
    let content = topology.and_then(|call| call.returned.as_ref()).map(|returned| returned.content.as_str());
    let result: Option<Value> = content.and_then(|content| serde_json::from_str(content).ok());
    result.and_then(|result| result.get("facts")?.get("machines")?.as_array().cloned()).unwrap_or_default()
}

fn since(state: &State) -> String {
    let dated: Vec<String> = state
        .accepted
        .iter()
        .filter(|found| found.why.contains("baseline"))
        .map(|found| format!("{}: {}", title(&found.finding.code, &found.finding.object), bare(&found.why)))
        .collect();
    if dated.is_empty() {
        return "That is not known: nothing that was read carries a date, and no baseline was compared."
            .to_owned();
    }
    dated.join("\n")
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
            ("since when?", Some(Subject::Since)),
            ("what did you not check?", Some(Subject::Unchecked)),
            ("look once more", None),
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
    fn nothing_is_answered_before_the_end_and_nothing_that_was_not_read() {
        let ledger = crate::report::tests::Ledger::open("x");
        assert_eq!(follow_up(&ledger.state(), "show the rule"), None);
        assert_eq!(follow_up(&rich().state(), "did you check the return path?"), None);
        let routes = follow_up(&rich().state(), "why not the storage account?").unwrap();
        assert!(routes.contains("Not looked at: storage account"), "{routes}");
    }
}
