//! What became of packets, in words, and what to do next.

use super::assess::Sum;
use super::clock::How;
use super::ends::Conversation;
use super::path::{Confidence, FlowFacts, Overall};
use super::trip::Trip;
use super::verdict::Verdict;
use crate::flow::percent;

/// Says what became of a conversation.
pub(super) fn of(one: &Conversation) -> String {
    let (near, far) = (one.near.name(), one.near.other().name());
    let (there, back) = (&one.there, &one.back);
    let syns = there.turns.syns > 0 && there.turns.syns == there.sent;
    match one.verdict {
        Verdict::LostThere if syns => format!("{} SYNs leave {near} and never reach {far}", there.sent),
        Verdict::LostThere => format!("{} packets leave {near} and never reach {far}", there.sent),
        Verdict::AnswerLost => {
            format!("answered at {far}, and none of {} answers comes back to {near}", back.sent)
        }
        Verdict::ResetBetween => {
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
        Verdict::NoAnswer if syns => format!("SYNs reach {far} and get no answer there"),
        Verdict::NoAnswer => unanswered(there.arrived, far),
        Verdict::Refused => format!("it reaches {far}, is refused there, and the refusal comes back"),
        Verdict::PartialLoss => partial(one),
        Verdict::OtherWay if back.unseen > 0 || back.lost > 0 => {
            format!("answers take a way that does not pass {}", if back.lost > 0 { near } else { far })
        }
        Verdict::OtherWay => format!("packets to the server take a way that does not pass {far}"),
        Verdict::Delayed => "everything arrives, and waits on the way".to_owned(),
        Verdict::Clean => "everything arrives".to_owned(),
        Verdict::NotJudged => "too few packets while both captured".to_owned(),
        Verdict::Elsewhere => format!("nothing says that it passes {far}"),
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
    let part = |trip: &Trip, from: &str, to: &str| {
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
pub(super) fn sentence(verdict: Overall, confidence: Confidence, sum: &Sum) -> String {
    let lost = |trip: &Trip, from: &str, to: &str| match (trip.sent, trip.lost) {
        (0, _) => format!("nothing was seen to leave {from} for {to}"),
        (sent, 0) => format!("all {sent} packets from {from} reach {to}"),
        (sent, lost) => {
            format!("{lost} of {sent} packets from {from} never reach {to} ({} %)", percent(lost, sent))
        }
    };
    let ways = format!("{}, {}", lost(&sum.to_b, "A", "B"), lost(&sum.to_a, "B", "A"));
    let mut rest: Vec<String> = [
        (Verdict::NoAnswer, "reach the far side and get no answer"),
        (Verdict::Refused, "are refused"),
        (Verdict::ResetBetween, "are reset by something in between"),
        (Verdict::OtherWay, "take another way in one direction"),
        (Verdict::Delayed, "wait on the way"),
    ]
    .into_iter()
    .filter(|(kind, _)| sum.of(*kind) > 0)
    .map(|(kind, what)| format!("{} conversations {what}", sum.of(kind)))
    .collect();
    let (twice, late) = (sum.to_a.duplicated + sum.to_b.duplicated, sum.to_a.reordered + sum.to_b.reordered);
    if verdict == Overall::Degraded {
        let kinds = [(twice, "packets arrive more than once"), (late, "packets are overtaken on the way")];
        rest.extend(
            kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
        );
    }
    let rest = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
    match verdict {
        Overall::Inconclusive => "INCONCLUSIVE: no conversation could be judged by both captures".to_owned(),
        Overall::CleanPath
        | Overall::PartialDrop
        | Overall::FullDrop
        | Overall::Degraded
        | Overall::Asymmetric => {
            format!("{}: {ways}{rest} (confidence {})", verdict.name(), confidence.name())
        }
    }
}

/// Says what to do next.
pub(super) fn next(verdict: Overall, flows: &[FlowFacts], how: How) -> Vec<String> {
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
            Verdict::LostThere => format!(
                "packets to {server} are lost before the far side: take them through the rules with `ghost nsg verdict --dst {host} --dst-port {port} …` and `ghost route select --to {host} …`, then capture halfway: `tcpdump -ni any -w middle.pcap {filter}`"
            ),
            Verdict::AnswerLost => format!(
                "answers of {host} are lost on the way back: `ghost route select --to {client} …` with the table of {host}, and the outbound rules there; then capture halfway: `tcpdump -ni any -w middle.pcap {filter}`"
            ),
            Verdict::NoAnswer => format!(
                "{host} gets packets and says nothing: on it, `ss -lntu 'sport = :{port}'` and `iptables-save | ghost netfilter walk - --hook input --dst {host} --dport {port} …`"
            ),
            Verdict::Refused => {
                format!("nothing listens on {server}, or it refuses: on {host}, `ss -lntu 'sport = :{port}'`")
            }
            Verdict::ResetBetween => format!(
                "something between both places resets connections to {server}: look into the logs of firewalls and proxies there, and capture on either side of each"
            ),
            Verdict::PartialLoss => format!(
                "some packets with {server} are lost: `ip -s link` and `tc -s qdisc` on each hop, then capture halfway: `tcpdump -ni any -s 128 -w middle.pcap {filter}`"
            ),
            Verdict::OtherWay => format!(
                "one direction with {server} passes elsewhere: compare `ghost route select` of both ends, and capture on the other way"
            ),
            Verdict::Delayed => {
                format!("packets with {server} wait in a queue: `tc -s qdisc` and the load of each hop")
            }
            Verdict::Clean | Verdict::NotJudged | Verdict::Elsewhere => continue,
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
    if verdict == Overall::Inconclusive || how == How::Assumed {
        next.push("capture at both places at the same time, with synchronized clocks, some seconds longer than the trouble lasts, and without a filter on addresses that may be translated".to_owned());
    } else if verdict == Overall::Degraded && next.is_empty() {
        next.push("packets overtake each other or arrive twice: look for ways of unequal length on the way (bonds, several equal routes), and for a mirror that shows them twice".to_owned());
    } else if verdict == Overall::CleanPath && next.is_empty() {
        next.push(
            "the way between both places is clean: look at the ends, `ghost pcap analyze` of each capture"
                .to_owned(),
        );
    }
    next
}
