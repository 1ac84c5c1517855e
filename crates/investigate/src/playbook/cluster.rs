//! The branch for what is inside of clusters: read them, judge, answer.
//!
//! One call brings everything that decides, so there is one thing to do and one to say. A question of which the cluster knows no end goes
//! on to the cloud, where the session may look at it.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::finding::title;
use crate::judged::{CLUSTERS, FlowVerdict, JudgedCause, JudgedFlows};
use crate::playbook::agenda::hypothesis;
use crate::playbook::conversation::{CallEnding, Conversation, FinishedCall, plain};
use crate::playbook::turn::Turn;
use crate::suspect::{Layer, Suspect};
use crate::unlooked::{MAKE_KNOWN, unknown_ends};

/// What is supposed.
pub(super) const SUPPOSED: &str =
    "A network policy of the cluster keeps the traffic out, or a service leads to no pod that takes it.";
/// So often clusters are read that could not be read.
const READS: usize = 2;
/// So often an end is tried.
const ENDS: usize = 3;
/// Words of whoever speaks of objects inside of a cluster.
const WORDS: [&str; 17] = [
    "pod",
    "pods",
    "namespace",
    "namespaces",
    "networkpolicy",
    "networkpolicies",
    "netpol",
    "coredns",
    "kube-dns",
    "kubernetes",
    "k8s",
    "deployment",
    "deployments",
    "statefulset",
    "daemonset",
    "svc",
    "clusterip",
];
/// Two words of whoever does.
const PAIRS: [[&str; 2]; 2] = [["network", "policy"], ["network", "policies"]];
/// What ends domains and files of two parts.
const DOMAINS: [&str; 10] =
    ["example", "internal", "local", "cloud", "corp", "home", "test", "toml", "yaml", "json"];
/// What stands around a slash that parts no namespace from a name.
const NO_NAMES: [&str; 8] = ["tcp", "udp", "icmp", "http", "https", "and", "or", "etc"];

/// Tells whether words are about what is inside of one of the clusters.
pub(super) fn is_meant(conversation: &Conversation) -> bool {
    if conversation.clusters.is_empty() {
        return false;
    }
    let text = conversation.user_text.to_lowercase();
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-._/:".contains(char);
    let words = text
        .split(|char| !is_part(char))
        .map(|word| word.trim_matches(|char: char| !char.is_ascii_alphanumeric()));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words
        .iter()
        .any(|word| WORDS.contains(word) || is_service_name(word) || is_qualified(word) || is_dotted(word))
        || words.windows(2).any(|pair| PAIRS.iter().any(|own| own.as_slice() == pair))
}

/// Tells whether it is the full name of a service.
fn is_service_name(word: &str) -> bool {
    word.contains(".svc") && word.split(['.', ':']).any(|part| part == "svc")
}

/// Tells whether a word may be a service and its namespace, and is not likely to be a domain or a file. Where no cluster has it, nothing is
/// lost: the cloud is asked then.
fn is_dotted(word: &str) -> bool {
    let name = word.split(':').next().unwrap_or_default();
    let is_label = |text: &str| {
        text.len() > 1
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && text.bytes().all(|byte| !byte.is_ascii_digit() || text.contains('-'))
    };
    let labels: Vec<&str> = name.split('.').collect();
    matches!(labels.as_slice(), [one, two] if is_label(one) && is_label(two) && two.len() > 3 && !DOMAINS.contains(two))
}

/// Tells whether a word is written as a namespace or a kind before a name.
fn is_qualified(word: &str) -> bool {
    let name = word.split(':').next().unwrap_or_default();
    let is_name = |text: &str| {
        text.len() > 1
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && text.bytes().any(|byte| byte.is_ascii_lowercase())
            && !NO_NAMES.contains(&text)
    };
    name.split_once('/').is_some_and(|(before, behind)| is_name(before) && is_name(behind))
}

/// Tells whether the cluster knows no end of what is asked: then it is about the cloud, where the session may look at it.
pub(super) fn is_beyond(conversation: &Conversation) -> bool {
    let last = reads(conversation).next_back();
    (conversation.cloud_too || !conversation.hosts.is_empty())
        && last.is_some_and(|call| match call.ending {
            CallEnding::Completed => {
                JudgedFlows::of_result(&call.result).is_none_or(|judged| judged.flows.is_empty())
            }
            CallEnding::Denied | CallEnding::Refused | CallEnding::Failed => {
                reads(conversation).count() >= READS
            }
        })
}

fn reads(conversation: &Conversation) -> impl DoubleEndedIterator<Item = &FinishedCall> {
    let recent = conversation.finished.iter().skip(conversation.before_last_words);
    recent.filter(|finished| finished.tool == CLUSTERS)
}

/// Returns the next turn.
pub(super) fn next(conversation: &Conversation, tools: &[&str]) -> Turn {
    let last = reads(conversation).next_back();
    let is_over = last.is_some_and(|finished| finished.ending != CallEnding::Failed)
        || reads(conversation).count() >= READS;
    if tools.contains(&CLUSTERS) && !is_over {
        return read(conversation);
    }
    let recent = conversation.finished.iter().skip(conversation.before_last_words);
    let ends = recent.filter(|finished| finished.tool == "complete_investigation").count();
    if ends >= ENDS || !tools.contains(&"complete_investigation") {
        let text = "I cannot bring this to an end by myself: what I claim is not accepted. Please read the observations.";
        return Turn { text: text.to_owned(), calls: Vec::new() };
    }
    end(conversation, last)
}

/// Reads the clusters.
fn read(conversation: &Conversation) -> Turn {
    let names = conversation.clusters.join(", ");
    let text = format!(
        "I read pods, services, endpoints and network policies of {names}, and judge the flows that you speak of by them."
    );
    let mut calls = Vec::new();
    if let Some(id) = hypothesis(Layer::Cluster).filter(|id| !conversation.added(id)) {
        let add = json!([{ "id": id, "description": SUPPOSED }]);
        calls.push(("manage_hypotheses".to_owned(), json!({ "add": add })));
    }
    calls.push((CLUSTERS.to_owned(), json!({ "reasoning": text })));
    Turn { text, calls }
}

/// Ends the session with what the clusters show.
fn end(conversation: &Conversation, last: Option<&FinishedCall>) -> Turn {
    let completed = last.filter(|finished| finished.ending == CallEnding::Completed);
    let judged = completed.and_then(|finished| JudgedFlows::of_result(&finished.result)).unwrap_or_default();
    let suspects = completed.map(FinishedCall::suspects).unwrap_or_default();
    let failed = last.filter(|_| completed.is_none()).map(FinishedCall::reason);
    let open = open(&judged, failed.as_deref());
    let (state, why) = match (suspects.as_slice(), open.first()) {
        ([], Some(why)) => (HypothesisState::Unverifiable, why.clone()),
        ([], None) => (HypothesisState::Refuted, passing(&judged)),
        (some, _) => {
            let titles: Vec<String> = some.iter().map(|one| title(&one.code, &one.object)).collect();
            (HypothesisState::Confirmed, format!("{}.", titles.join("; ")))
        }
    };
    let id = hypothesis(Layer::Cluster).unwrap_or_default();
    let others =
        conversation.board.iter().filter(|(own, state)| *state == HypothesisState::Active && own != id);
    let settled: Vec<(&str, HypothesisState, String)> = std::iter::once((id, state, why))
        .chain(others.map(|(own, _)| {
            let why = "What the cluster shows does not decide it.".to_owned();
            (own.as_str(), HypothesisState::Unverifiable, why)
        }))
        .collect();
    let with = |wanted: HypothesisState| -> Vec<&str> {
        settled.iter().filter(|(_, state, _)| *state == wanted).map(|(id, _, _)| *id).collect()
    };
    let update: Vec<Value> = settled
        .iter()
        .map(|(id, state, why)| json!({"id": id, "state": state, "why": plain(why, 900)}))
        .collect();
    let mut causes = judged.complaints.iter().flat_map(|complaint| &complaint.causes);
    let is_sure = causes.clone().all(|cause| !cause.is_likely);
    let confidence = match (suspects.is_empty(), open.is_empty() && is_sure) {
        (_, true) => "high",
        (false, false) => "medium",
        (true, false) => "low",
    };
    let likely = causes.any(|cause: &JudgedCause| cause.is_likely);
    let calls = vec![
        ("manage_hypotheses".to_owned(), json!({ "update": update })),
        (
            "complete_investigation".to_owned(),
            json!({
                "confidence": confidence,
                "root_cause_summary": summary(&suspects, &judged, failed.as_deref(), likely),
                "confirmed_hypotheses": with(HypothesisState::Confirmed),
                "refuted_hypotheses": with(HypothesisState::Refuted),
                "unverifiable_hypotheses": with(HypothesisState::Unverifiable),
                "contradicted_hypotheses": [],
                "recommended_actions": [],
                "findings": suspects.iter().map(|suspect| finding(suspect, completed)).collect::<Vec<_>>(),
                "open_questions": questions(&judged, &open, last.filter(|_| failed.is_some())),
                "waived": [],
            }),
        ),
    ];
    let text = match suspects.len() {
        0 => "What was read of the cluster does not explain it. I say what is open and end.",
        1 => "The cluster itself shows one cause. I settle the board and end.",
        _ => "The cluster itself shows several causes. I settle the board and end.",
    };
    Turn { text: text.to_owned(), calls }
}

/// Says what was not read, or not decided.
fn open(judged: &JudgedFlows, failed: Option<&str>) -> Vec<String> {
    if let Some(why) = failed {
        return vec![format!("It could not be read: {}", plain(why, 300))];
    }
    let unread = judged.clusters.iter().filter_map(|own| {
        let why = own.unread.as_ref()?;
        Some(format!("{} could not be read: {}", own.name, plain(why, 200)))
    });
    let doubts = judged.complaints.iter().flat_map(|complaint| complaint.doubts.iter().cloned());
    unread.chain(doubts).collect()
}

fn passing(judged: &JudgedFlows) -> String {
    let passing = judged.flows.iter().filter(|flow| flow.verdict == FlowVerdict::Passes);
    let names: Vec<String> = passing.map(crate::judged::JudgedFlow::name).take(4).collect();
    format!("The cluster lets it through: {}.", names.join(", "))
}

fn finding(suspect: &Suspect, completed: Option<&FinishedCall>) -> Value {
    let own: Vec<String> = suspect.observations.iter().map(ToString::to_string).collect();
    let cited =
        if own.is_empty() { completed.map(FinishedCall::observations).unwrap_or_default() } else { own };
    let evidence: Vec<Value> = cited.iter().take(4).map(|id| json!({ "observation": id })).collect();
    json!({
        "code": suspect.code,
        "object": suspect.object,
        "statement": plain(&suspect.why, 400),
        "evidence": evidence,
    })
}

fn summary(suspects: &[Suspect], judged: &JudgedFlows, failed: Option<&str>, likely: bool) -> String {
    if let Some(why) = failed {
        return format!("The cluster could not be read: {}.", plain(why, 300).trim_end_matches('.'));
    }
    let titles: Vec<String> = suspects.iter().map(|one| title(&one.code, &one.object)).collect();
    if let ([], Some(unknown)) = (titles.as_slice(), unknown_ends(&judged.unknown)) {
        return format!("{unknown}. {MAKE_KNOWN}");
    }
    let unsure = if likely { " What would prove it lies outside of what was read." } else { "" };
    match titles.as_slice() {
        [] if judged.flows.iter().any(|flow| flow.verdict == FlowVerdict::Passes) => {
            format!("{} Whether the program behind it answers was not tried.", passing(judged))
        }
        [] => "Nothing that was read of the cluster explains it.".to_owned(),
        [one] => format!("{one}.{unsure}"),
        some => format!("{} things explain it: {}.{unsure}", some.len(), some.join("; ")),
    }
}

/// Says what is open, and what would settle it.
fn questions(judged: &JudgedFlows, open: &[String], failed: Option<&FinishedCall>) -> Vec<String> {
    if let Some(failed) = failed {
        let general = "Does `kubectl` reach the cluster from here, and may it read?";
        let hint = plain(failed.hint().unwrap_or(general), 300);
        let end = if hint.ends_with('?') { "" } else { "." };
        return vec![format!("{hint}{end} Then ask again.")];
    }
    let mut all: Vec<String> =
        open.iter().map(|one| format!("Open: {}.", one.trim_end_matches('.'))).collect();
    let passes = |flow: &&crate::judged::JudgedFlow| flow.verdict == FlowVerdict::Passes;
    if let Some(flow) = judged.flows.iter().find(passes)
        && judged.complaints.iter().all(|complaint| complaint.causes.is_empty())
    {
        let to = flow.destination_machine.clone().unwrap_or_else(|| flow.destination.to_string());
        all.push(format!(
            "Does {to} answer? Its log and a call from within the pod show it; neither was tried."
        ));
    }
    all.truncate(20);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_cluster_are_about_its_inside() {
        let is = |text: &str| {
            is_meant(&Conversation {
                user_text: text.to_owned(),
                clusters: vec!["aks".to_owned()],
                ..Conversation::default()
            })
        };
        for text in [
            "checkout pods cannot resolve any name",
            "shop/web-1 gets connection refused from shop/api",
            "web cannot reach db.shop.svc.cluster.local:5432",
            "since the new network policy nothing reaches the api",
            "everything in namespace shop times out",
            "queue.messaging is ready again, is anything else wrong?",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "kubectl on shop-api-1 says no such host for the API server of shop-aks",
            "web-1 cannot reach 10.0.2.4/32 on tcp/443",
            "the nodes of shop-aks cannot pull images",
            "app-1 cannot reach db-1 and/or cache-1",
            "web-1 cannot reach db.internal on 5432, nor www.example.com nor example.com",
        ] {
            assert!(!is(text), "{text}");
        }
    }
}
