//! Random policies, judged by a second evaluation of another kind: in place of asking each rule about a flow it writes out
//! all flows that a policy lets through, as a set.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::draft::{Draft, NAMESPACES, PODS, address};
use crate::cluster::{Protocol, Verdict};

const PORTS: [u16; 2] = [80, 81];

/// A caller or server, as `(namespace, pod)`.
type Who = (usize, usize);
/// Who, and on which port.
type Allowed = BTreeSet<(Who, u16)>;

fn everybody() -> impl Iterator<Item = Who> {
    (0..3).flat_map(|namespace| (0..3).map(move |pod| (namespace, pod)))
}

#[derive(Debug, Clone)]
enum Pick {
    All,
    One(usize),
    But(usize),
    Labelled,
    Unlabelled,
}

impl Pick {
    fn json(&self, key: &str, names: [&str; 3]) -> Value {
        let expression = |operator: &str, key: &str, values: Value| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        match self {
            Self::All => json!({}),
            Self::One(at) => json!({"matchLabels": {key: names[*at]}}),
            Self::But(at) => expression("NotIn", key, json!([names[*at]])),
            Self::Labelled => expression("Exists", key, json!([])),
            Self::Unlabelled => expression("DoesNotExist", key, json!(null)),
        }
    }

    /// Which of the three it picks; all of them have the label.
    fn set(&self) -> BTreeSet<usize> {
        match self {
            Self::All | Self::Labelled => (0..3).collect(),
            Self::One(at) => BTreeSet::from([*at]),
            Self::But(at) => (0..3).filter(|other| other != at).collect(),
            Self::Unlabelled => BTreeSet::new(),
        }
    }
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        Just(Pick::All),
        (0..3_usize).prop_map(Pick::One),
        (0..3_usize).prop_map(Pick::But),
        Just(Pick::Labelled),
        Just(Pick::Unlabelled),
    ]
}

#[derive(Debug, Clone)]
enum Peer {
    Pods(Option<Pick>, Option<Pick>),
    /// The addresses of a namespace but for one pod.
    Block(usize, Option<usize>),
}

impl Peer {
    fn json(&self) -> Value {
        match self {
            Self::Pods(namespaces, pods) => {
                let mut peer = json!({});
                if let Some(own) = namespaces {
                    peer["namespaceSelector"] = own.json("ns", NAMESPACES);
                }
                if let Some(own) = pods {
                    peer["podSelector"] = own.json("pod", PODS);
                }
                peer
            }
            Self::Block(namespace, hole) => {
                let within = format!("10.244.{}.0/24", namespace + 1);
                let hole = hole.map(|pod| format!("{}/32", address(NAMESPACES[*namespace], PODS[pod])));
                json!({"ipBlock": {"cidr": within, "except": hole.into_iter().collect::<Vec<_>>()}})
            }
        }
    }

    fn set(&self, home: usize) -> BTreeSet<Who> {
        let (namespaces, pods): (BTreeSet<usize>, BTreeSet<usize>) = match self {
            Self::Pods(namespaces, pods) => (
                namespaces.as_ref().map_or(BTreeSet::from([home]), Pick::set),
                pods.as_ref().map_or((0..3).collect(), Pick::set),
            ),
            Self::Block(namespace, hole) => {
                (BTreeSet::from([*namespace]), (0..3).filter(|pod| Some(*pod) != *hole).collect())
            }
        };
        namespaces.into_iter().flat_map(|namespace| pods.iter().map(move |pod| (namespace, *pod))).collect()
    }
}

fn peer() -> impl Strategy<Value = Peer> {
    prop_oneof![
        3 => (proptest::option::of(pick()), proptest::option::of(pick()))
            .prop_filter("a peer names somebody", |(namespaces, pods)| namespaces.is_some() || pods.is_some())
            .prop_map(|(namespaces, pods)| Peer::Pods(namespaces, pods)),
        1 => (0..3_usize, proptest::option::of(0..3_usize)).prop_map(|(namespace, hole)| Peer::Block(namespace, hole)),
    ]
}

/// Each with the TCP ports of the two that it lets through.
fn port() -> impl Strategy<Value = (Value, BTreeSet<u16>)> {
    let of = |value: Value, ports: &[u16]| Just((value, ports.iter().copied().collect::<BTreeSet<u16>>()));
    prop_oneof![
        of(json!({"port": 80}), &[80]),
        of(json!({"port": "serve-81-tcp", "protocol": "TCP"}), &[81]),
        of(json!({"protocol": "TCP"}), &PORTS),
        of(json!({"protocol": "UDP"}), &[]),
        of(json!({"port": 79, "endPort": 80}), &[80]),
        of(json!({"port": 81, "protocol": "SCTP"}), &[]),
    ]
}

type Rule = (Vec<Peer>, Vec<(Value, BTreeSet<u16>)>);

fn rule() -> impl Strategy<Value = Rule> {
    (proptest::collection::vec(peer(), 0..3), proptest::collection::vec(port(), 0..3))
}

#[derive(Debug, Clone)]
struct Policy {
    home: usize,
    pods: Pick,
    ingress: Option<Vec<Rule>>,
    egress: Option<Vec<Rule>>,
}

impl Policy {
    fn json(&self) -> Value {
        let rules = |rules: &Option<Vec<Rule>>, peers: &str| {
            let one = |(with, ports): &Rule| {
                let with: Vec<Value> = with.iter().map(Peer::json).collect();
                let ports: Vec<&Value> = ports.iter().map(|(own, _)| own).collect();
                json!({peers: with, "ports": ports})
            };
            rules.iter().flatten().map(one).collect::<Vec<_>>()
        };
        let mut types = Vec::new();
        types.extend(self.ingress.as_ref().map(|_| "Ingress"));
        types.extend(self.egress.as_ref().map(|_| "Egress"));
        json!({"podSelector": self.pods.json("pod", PODS), "policyTypes": types,
            "ingress": rules(&self.ingress, "from"), "egress": rules(&self.egress, "to")})
    }
}

fn policy() -> impl Strategy<Value = Policy> {
    let rules = || proptest::option::of(proptest::collection::vec(rule(), 0..3));
    (0..3_usize, pick(), rules(), rules())
        .prop_filter("a policy has a direction", |(_, _, ingress, egress)| {
            ingress.is_some() || egress.is_some()
        })
        .prop_map(|(home, pods, ingress, egress)| Policy { home, pods, ingress, egress })
}

/// Everything that the policies let a pod take or send; nothing where none selects it.
fn allowed(
    policies: &[Policy],
    subject: Who,
    rules: impl Fn(&Policy) -> Option<&Vec<Rule>>,
) -> Option<Allowed> {
    let own =
        policies.iter().filter(|policy| policy.home == subject.0 && policy.pods.set().contains(&subject.1));
    let own: Vec<(&Policy, &Vec<Rule>)> = own.filter_map(|policy| Some((policy, rules(policy)?))).collect();
    if own.is_empty() {
        return None;
    }
    let mut all = Allowed::new();
    for (policy, rules) in own {
        for (peers, ports) in rules {
            let with: BTreeSet<Who> = match peers.is_empty() {
                true => everybody().collect(),
                false => peers.iter().flat_map(|peer| peer.set(policy.home)).collect(),
            };
            let on: BTreeSet<u16> = match ports.is_empty() {
                true => PORTS.into(),
                false => ports.iter().flat_map(|(_, own)| own.clone()).collect(),
            };
            all.extend(with.iter().flat_map(|who| on.iter().map(move |port| (*who, *port))));
        }
    }
    Some(all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn both_evaluations_agree_about_every_flow(policies in proptest::collection::vec(policy(), 0..4)) {
        let mut draft = Draft::new();
        for own in &policies {
            draft = draft.policy(NAMESPACES[own.home], own.json());
        }
        let cluster = draft.cluster();
        let name = |(namespace, pod): Who| format!("{}/{}", NAMESPACES[namespace], PODS[pod]);
        for from in everybody() {
            let out = allowed(&policies, from, |policy| policy.egress.as_ref());
            for to in everybody().filter(|to| *to != from) {
                let into = allowed(&policies, to, |policy| policy.ingress.as_ref());
                for port in PORTS {
                    let passes = out.as_ref().is_none_or(|all| all.contains(&(to, port)))
                        && into.as_ref().is_none_or(|all| all.contains(&(from, port)));
                    let text = format!("{}:{port}", name(to));
                    let question = crate::cluster::Question::parse(&name(from), &text, Protocol::Tcp).unwrap();
                    let report = cluster.judge(&question.enforced_by(draft.engine)).unwrap();
                    let expected = if passes { Verdict::Passes } else { Verdict::Blocked };
                    prop_assert_eq!(report.verdict, expected, "{} {} {:?}", name(from), text, policies);
                }
            }
        }
    }
}
