//! What became of packets, in words, and what to do next.

use super::assess::PathTotals;
use super::clock::ClockSource;
use super::conversation::Conversation;
use super::path::{Confidence, ConversationFacts, PathVerdict};
use super::transit::Transit;
use super::verdict::ConversationVerdict;
use crate::flow::percent;

/// Says what became of a conversation.
pub(super) fn of(one: &Conversation) -> String {
    let (near, far) = (one.near.name(), one.near.other().name());
    let (there, back) = (&one.there, &one.back);
    let syns = there.turns.syns > 0 && there.turns.syns == there.sent;
    match one.verdict {
        ConversationVerdict::LostThere if syns => {
            format!("{} SYNs leave {near} and never reach {far}", there.sent)
        }
        ConversationVerdict::LostThere => {
            format!("{} packets leave {near} and never reach {far}", there.sent)
        }
        ConversationVerdict::AnswerLost => {
            format!("answered at {far}, and none of {} answers comes back to {near}", back.sent)
        }
        ConversationVerdict::ResetBetween => {
            let (arrived_at, never, frame) = if back.turns.resets_unseen > 0 {
                (near, far, back.turns.reset_frame)
            } else {
                (far, near, there.turns.reset_frame)
            };
            let frame = frame.map_or_else(String::new, |frame| format!(" (frame {frame} there)"));
            format!(
                "{arrived_at} sees a RST{frame} that never passed {never}: something in between resets it"
            )
        }
        ConversationVerdict::NoAnswer if syns => format!("SYNs reach {far} and get no answer there"),
        ConversationVerdict::NoAnswer => unanswered(there.arrived, far),
        ConversationVerdict::Refused => {
            format!("it reaches {far}, is refused there, and the refusal comes back")
        }
        ConversationVerdict::PartialLoss => partial(one),
        ConversationVerdict::OtherPath if back.unseen > 0 || back.lost > 0 => {
            format!("answers take a path that does not pass {}", if back.lost > 0 { near } else { far })
        }
        ConversationVerdict::OtherPath => {
            format!("packets to the server take a path that does not pass {far}")
        }
        ConversationVerdict::Delayed => "everything arrives, and waits on the path".to_owned(),
        ConversationVerdict::Clean => "everything arrives".to_owned(),
        ConversationVerdict::NotJudged => "too few packets while both captured".to_owned(),
        ConversationVerdict::Elsewhere => format!("nothing says that it passes {far}"),
    }
}

fn unanswered(count: u64, far: &str) -> String {
    if count == 1 {
        return format!("one packet reaches {far} and gets no answer there");
    }
    format!("{count} packets reach {far} and get no answer there")
}

fn partial(one: &Conversation) -> String {
    let (near, far) = (one.near.name(), one.near.other().name());
    let part = |trip: &Transit, from: &str, to: &str| {
        (trip.lost > 0).then(|| {
            let again = if trip.recovered > 0 {
                format!(", {} of them sent again", trip.recovered)
            } else {
                String::new()
            };
            format!("{} of {} packets from {from} to {to} are lost{again}", trip.lost, trip.sent)
        })
    };
    let parts = [part(&one.there, near, far), part(&one.back, far, near)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Says what all conversations together tell.
pub(super) fn sentence(verdict: PathVerdict, confidence: Confidence, sum: &PathTotals) -> String {
    let lost = |trip: &Transit, from: &str, to: &str| match (trip.sent, trip.lost) {
        (0, _) => format!("nothing was seen to leave {from} for {to}"),
        (sent, 0) => format!("all {sent} packets from {from} reach {to}"),
        (sent, lost) => {
            format!("{lost} of {sent} packets from {from} never reach {to} ({} %)", percent(lost, sent))
        }
    };
    let address_pairs = format!("{}, {}", lost(&sum.to_b, "A", "B"), lost(&sum.to_a, "B", "A"));
    let mut rest: Vec<String> = [
        (ConversationVerdict::NoAnswer, "reach the far side and get no answer"),
        (ConversationVerdict::Refused, "are refused"),
        (ConversationVerdict::ResetBetween, "are reset by something in between"),
        (ConversationVerdict::OtherPath, "take another path in one direction"),
        (ConversationVerdict::Delayed, "wait on the path"),
    ]
    .into_iter()
    .filter(|(kind, _)| sum.of(*kind) > 0)
    .map(|(kind, what)| format!("{} conversations {what}", sum.of(kind)))
    .collect();
    let (twice, late) = (sum.to_a.duplicated + sum.to_b.duplicated, sum.to_a.reordered + sum.to_b.reordered);
    if verdict == PathVerdict::Degraded {
        let kinds = [(twice, "packets arrive more than once"), (late, "packets are overtaken on the path")];
        rest.extend(
            kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
        );
    }
    let rest = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
    match verdict {
        PathVerdict::Inconclusive => {
            "INCONCLUSIVE: no conversation could be judged by both captures".to_owned()
        }
        PathVerdict::CleanPath
        | PathVerdict::PartialDrop
        | PathVerdict::FullDrop
        | PathVerdict::Degraded
        | PathVerdict::Asymmetric => {
            format!("{}: {address_pairs}{rest} (confidence {})", verdict.name(), confidence.name())
        }
    }
}

/// Says what to do next.
pub(super) fn next(verdict: PathVerdict, flows: &[ConversationFacts], how: ClockSource) -> Vec<String> {
    let mut next = Vec::new();
    for flow in flows.iter().filter(|flow| flow.verdict.judged()) {
        let (client, server) = (flow.client.ip(), flow.server);
        let (host, port) = (server.ip(), server.port());
        let filter = if port == 0 {
            format!("host {client} and host {host}")
        } else {
            format!("host {host} and port {port}")
        };
        let step = match flow.verdict {
            ConversationVerdict::LostThere => format!(
                "packets to {server} are lost before the far side: take them through the rules with `ghost nsg verdict --dst {host} --dst-port {port} …` and `ghost route select --to {host} …`, then capture halfway: `tcpdump -ni any -w middle.pcap {filter}`"
            ),
            ConversationVerdict::AnswerLost => format!(
                "answers of {host} are lost on the return path: `ghost route select --to {client} …` with the table of {host}, and the outbound rules there; then capture halfway: `tcpdump -ni any -w middle.pcap {filter}`"
            ),
            ConversationVerdict::NoAnswer => format!(
                "{host} gets packets and says nothing: on it, `ss -lntu 'sport = :{port}'` and `iptables-save | ghost netfilter walk - --hook input --dst {host} --dport {port} …`"
            ),
            ConversationVerdict::Refused => {
                format!("nothing listens on {server}, or it refuses: on {host}, `ss -lntu 'sport = :{port}'`")
            }
            ConversationVerdict::ResetBetween => format!(
                "something between both places resets connections to {server}: look into the logs of firewalls and proxies there, and capture on either side of each"
            ),
            ConversationVerdict::PartialLoss => format!(
                "some packets with {server} are lost: `ip -s link` and `tc -s qdisc` on each hop, then capture halfway: `tcpdump -ni any -s 128 -w middle.pcap {filter}`"
            ),
            ConversationVerdict::OtherPath => format!(
                "one direction with {server} passes elsewhere: compare `ghost route select` of both ends, and capture on the other path"
            ),
            ConversationVerdict::Delayed => {
                format!("packets with {server} wait in a queue: `tc -s qdisc` and the load of each hop")
            }
            ConversationVerdict::Clean | ConversationVerdict::NotJudged | ConversationVerdict::Elsewhere => {
                continue;
            }
        };
        let kind = step.split(':').next().map(str::len);
        let known =
            next.iter().any(|other: &String| other.get(..kind.unwrap_or(0)) == step.get(..kind.unwrap_or(0)));
        if !known {
            next.push(step);
        }
        if next.len() == 3 {
            return next;
        }
    }
    if verdict == PathVerdict::Inconclusive || how == ClockSource::Assumed {
        next.push("capture at both places at the same time, with synchronized clocks, some seconds longer than the trouble lasts, and without a filter on addresses that may be translated".to_owned());
    } else if verdict == PathVerdict::Degraded && next.is_empty() {
        next.push("packets overtake each other or arrive twice: look for paths of unequal length (bonds, several equal routes), and for a mirror that shows them twice".to_owned());
    } else if verdict == PathVerdict::CleanPath && next.is_empty() {
        next.push(
            "the path between both places is clean: look at the ends, `ghost pcap analyze` of each capture"
                .to_owned(),
        );
    }
    next
}
