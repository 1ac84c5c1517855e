//! What holds for every estate.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::draft::Draft;
use crate::path::{Bundle, Cause, Estate, Fate, Flow, Guest, Object, Protocol, Reading, remedies};

/// A change of an estate with a hub, a choice of many.
fn change(draft: Draft, choice: u8) -> Draft {
    let deny = |name, priority, port| (name, priority, "Inbound", "Deny", "Tcp", "*", "*", port);
    let allow = |name, priority, port| (name, priority, "Inbound", "Allow", "Tcp", "*", "*", port);
    match choice % 34 {
        0 => draft.rule("right/work", deny("n1", 110, "8443")),
        1 => draft.rule("right/work", deny("n2", 120, "8000-9000")),
        2 => draft.rule("right/work", deny("n3", 130, "22")),
        3 => draft.rule("right/work", allow("n4", 115, "8443")),
        4 => draft.rule("right/work", ("n5", 4096, "Inbound", "Deny", "*", "*", "*", "*")),
        5 => draft.rule("b", deny("n6", 110, "8443")),
        6 => draft.rule("a", ("n7", 200, "Outbound", "Deny", "*", "*", "10.12.0.0/16", "*")),
        7 => draft.rule("hub/nva", ("n8", 200, "Inbound", "Deny", "*", "10.11.0.0/16", "*", "*")),
        8 => draft.drops("b", "-A INPUT -p tcp -m tcp --dport 8443 -j DROP"),
        9 => draft.drops("b", "-A INPUT -j REJECT --reject-with icmp-port-unreachable"),
        10 => draft.drops("b", "-A INPUT -p tcp -m tcp --dport 8443 -j ACCEPT"),
        11 => draft.policy("b", "INPUT", "DROP"),
        12 => {
            draft.drops("b", "-A INPUT -s 10.11.0.0/16 -m statistic --mode random --probability 0.5 -j DROP")
        }
        13 => draft.drops("nva", "-A FORWARD -p tcp -m tcp --dport 8443 -j DROP"),
        14 => draft.policy("nva", "FORWARD", "DROP"),
        15 => draft.drops("nva", "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT"),
        16 => draft.drops("nva", "-A FORWARD -p tcp -j ACCEPT"),
        17 => draft.drops("a", "-A INPUT -m conntrack --ctstate INVALID -j DROP"),
        18 => draft.drops("a", "-A OUTPUT -p tcp -m tcp --dport 8443 -j DROP"),
        19 => draft.route("left/work", "r1", "10.12.0.0/24", "None", None),
        20 => draft.route("right/work", "r2", "10.11.0.4/32", "VirtualAppliance", Some("10.10.0.99")),
        21 => draft.route("left/work", "r3", "10.12.0.4/32", "VirtualAppliance", Some("10.11.0.4")),
        22 => draft.route("left/work", "r4", "172.20.0.0/16", "None", None),
        23 => draft.shapes("b", "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 delay 20ms loss 3%\n"),
        24 => draft.shapes("nva", "qdisc tbf 1: dev eth0 root refcnt 2 rate 1Mbit burst 16Kb lat 50ms\n"),
        25 => draft.routes("a", "default via 10.11.0.1 dev eth0\nblackhole 10.12.0.0/16\n"),
        26 => draft.drops("a", "-A INPUT -p tcp -m tcp --sport 8443 -j DROP"),
        27 => draft.forwarding("nva", false),
        28 => draft.stopped("b"),
        29 => draft.nat("nva", "-A POSTROUTING -s 10.11.0.0/16 -j MASQUERADE"),
        30 => draft
            .listens("b", "0.0.0.0:9443")
            .nat("b", "-A PREROUTING -p tcp -m tcp --dport 8443 -j REDIRECT --to-ports 9443"),
        31 => draft
            .listens("b", "0.0.0.0:9443")
            .nat("nva", "-A PREROUTING -d 10.12.0.4/32 -p tcp -m tcp --dport 8443 -j DNAT --to-destination 10.12.0.4:9443"),
        32 => draft.drops("b", "-A INPUT -p tcp -m tcp --dport 9443 -j DROP"),
        _ => draft.drops("b", "-A OUTPUT -d 10.11.0.0/16 -j DROP"),
    }
}

fn drafts() -> impl Strategy<Value = Draft> {
    proptest::collection::vec(any::<u8>(), 0..7)
        .prop_map(|choices| choices.into_iter().fold(Draft::hub(), change))
}

fn flow(draft: &Draft) -> Flow {
    draft.flow("a", "b", Protocol::Tcp, 8443)
}

fn without_guest(bundle: &mut Bundle, name: &str, change: impl FnOnce(&mut Guest)) {
    if let Some(guest) = bundle.guests.get_mut(name) {
        change(guest);
    }
}

/// Takes one document away.
fn take(bundle: &mut Bundle, choice: u8) {
    let machine = ["a", "b", "nva"][usize::from(choice / 16 % 3)];
    match choice % 16 {
        0 => bundle.cloud.interfaces = None,
        1 => bundle.cloud.networks = None,
        2 => bundle.cloud.route_tables = None,
        3 => bundle.cloud.groups = None,
        4 => without_guest(bundle, machine, |guest| guest.filters.clear()),
        5 => without_guest(bundle, machine, |guest| {
            guest.filters.remove("nft");
        }),
        6 => without_guest(bundle, machine, |guest| guest.shaping = None),
        7 => without_guest(bundle, machine, |guest| guest.routes = None),
        8 => without_guest(bundle, machine, |guest| guest.addresses = None),
        9 => without_guest(bundle, machine, |guest| guest.settings = None),
        10 => without_guest(bundle, machine, |guest| guest.tcp = None),
        11 => drop(bundle.guests.remove(machine)),
        12 => bundle.cloud.groups = Some(Reading::Failed { error: "no".into() }),
        13 => without_guest(bundle, machine, |guest| guest.shaping = Some(Reading::Text("{".into()))),
        14 => without_guest(bundle, machine, |guest| {
            guest.filters.insert("iptables-save".into(), Reading::Failed { error: "no".into() });
        }),
        _ => bundle.cloud.networks = Some(Reading::Text("[]".into())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With every cause taken away the flow passes; with all but one it is still stopped or hurt by that one.
    #[test]
    fn taking_every_cause_away_lets_the_flow_pass(draft in drafts()) {
        let (estate, flow) = (draft.estate(), flow(&draft));
        let judgement = estate.judge(&flow);
        prop_assert_ne!(&judgement.fate, &Fate::Unknown);
        let all: Vec<Cause> = judgement.findings().into_iter().collect();
        // Nothing is judged behind a gap, and nobody who listens behind what stops.
        if all.iter().any(|cause| cause.fault.is_gap()) || !judgement.masked.is_empty() {
            return Ok(());
        }
        prop_assert_eq!(estate.judge_without(&flow, &all).fate, Fate::Passes, "{:?}", all);
        for one in &all {
            let others: Vec<Cause> = all.iter().filter(|other| *other != one).cloned().collect();
            let alone = estate.judge_without(&flow, &others);
            prop_assert_eq!(alone.findings(), BTreeSet::from([one.clone()]));
            prop_assert_ne!(alone.fate, Fate::Passes);
        }
    }

    /// Fewer documents never make an answer more certain: it stays what it was, or is not known.
    #[test]
    fn taking_documents_away_never_makes_an_answer_certain(
        draft in drafts(), taken in proptest::collection::vec(any::<u8>(), 1..4)
    ) {
        let flow = flow(&draft);
        let mut bundle = draft.bundle();
        let whole = Estate::of(&bundle).judge(&flow);
        taken.iter().for_each(|choice| take(&mut bundle, *choice));
        let part = Estate::of(&bundle).judge(&flow);
        match &part.fate {
            Fate::Unknown => prop_assert!(!part.missing().is_empty()),
            // Which of several causes is reported depends on what was read; that it is stopped does not.
            Fate::Stopped | Fate::NoPath(_) => prop_assert_eq!(part.fate.verdict(), whole.fate.verdict()),
            certain @ (Fate::Passes | Fate::Degraded | Fate::Partly) => prop_assert_eq!(certain, &whole.fate),
        }
        let known = whole.findings();
        for cause in part.findings().iter().filter(|cause| !cause.fault.is_gap()) {
            prop_assert!(known.contains(cause) || whole.fate.verdict() == "BLOCKED", "{}", cause);
        }
    }

    /// The order of rows in a document never matters.
    #[test]
    fn the_order_of_documents_never_matters(draft in drafts(), seed in any::<u64>()) {
        let flow = flow(&draft);
        let bundle = draft.bundle();
        let mut turned = bundle.clone();
        for reading in [&mut turned.cloud.interfaces, &mut turned.cloud.networks, &mut turned.cloud.route_tables,
            &mut turned.cloud.groups, &mut turned.cloud.machines] {
            if let Some(Reading::Text(text)) = reading {
                let mut rows: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
                let by = usize::try_from(seed % 7).unwrap() % rows.len().max(1);
                rows.rotate_left(by);
                *text = serde_json::Value::Array(rows).to_string();
            }
        }
        prop_assert_eq!(Estate::of(&bundle).judge(&flow), Estate::of(&turned).judge(&flow));
    }

    /// Whatever stands in a document, nothing panics, and nothing certain follows from it.
    #[test]
    fn garbage_never_panics(garbage in "[ -~\\n]{0,80}", place in 0..12_u8) {
        let draft = Draft::hub();
        let flow = flow(&draft);
        let mut bundle = draft.bundle();
        let text = || Some(Reading::Text(garbage.clone()));
        let cloud = &mut bundle.cloud;
        match place {
            0 => cloud.interfaces = text(),
            1 => cloud.networks = text(),
            2 => cloud.route_tables = text(),
            3 => cloud.groups = text(),
            4 => cloud.machines = text(),
            5 => cloud.tags = text(),
            _ => without_guest(&mut bundle, "nva", |guest| match place {
                6 => drop(guest.filters.insert("iptables-save".into(), Reading::Text(garbage.clone()))),
                7 => drop(guest.filters.insert("nft".into(), Reading::Text(garbage.clone()))),
                8 => guest.shaping = text(),
                9 => guest.routes = text(),
                10 => guest.addresses = text(),
                _ => guest.settings = text(),
            }),
        }
        let estate = Estate::of(&bundle);
        let judgement = estate.judge(&flow);
        drop(serde_json::to_string(&judgement.report(&estate)).unwrap());
    }
}

proptest! {
    // Each judges a good many flows several times.
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is named as a remedy takes its cause away and opens nothing that catches all.
    #[test]
    fn a_remedy_holds_and_keeps_shut_what_has_to_be_shut(draft in drafts()) {
        let (bundle, flow) = (draft.bundle(), flow(&draft));
        let estate = Estate::of(&bundle);
        let causes = estate.judge(&flow).findings();
        // Nobody serves this port, and nobody asked for it.
        let other = draft.flow("a", "b", Protocol::Tcp, 6000);
        let catches_all = |judgement: &crate::path::Judgement| judgement.stops().iter().any(|(_, effect)| effect.catches_all);
        let was_shut = catches_all(&estate.judge(&other));
        let all = remedies(&bundle, std::slice::from_ref(&flow));
        let (mut bundle, mut left) = (bundle, causes.clone());
        for remedy in &all {
            for change in &remedy.changes {
                let change_of_all = format!("{change:?}");
                prop_assert!(!change_of_all.contains("rule: \"n5\"") && !change_of_all.contains("rule: \"DenyAll"), "{}", change_of_all);
                bundle = change.apply(&bundle, &Estate::of(&bundle)).unwrap();
            }
            let now = Estate::of(&bundle).judge(&flow);
            prop_assert!(!now.findings().contains(&remedy.cause), "{:?}", remedy);
            prop_assert_eq!(&remedy.after[0].fate, &now.fate);
            left = now.findings();
        }
        let is_remediable = |cause: &Cause| matches!(cause.object, Object::NsgRule { .. } | Object::Qdisc { .. } | Object::GuestChain { .. } | Object::GuestRule { .. });
        if was_shut {
            prop_assert!(catches_all(&Estate::of(&bundle).judge(&other)));
        }
        // Behind translations the addresses of a rule are not those of the flow; whatever else is left has no remedy of its own.
        if !draft.translates() {
            prop_assert!(!left.iter().any(is_remediable), "{:?} of {:?}", left, causes);
        }
    }
}
