//! Pods, services and namespaces in what people write.

use std::collections::{BTreeMap, BTreeSet};

use ghost_inspect::cluster::{Cluster, ListedPod, ListedService, Name};

/// A cluster that was read.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) name: String,
    /// The context of `kubectl` that leads to it.
    pub(super) context: String,
    pub(super) cluster: Cluster,
    pub(super) pods: Vec<ListedPod>,
    pub(super) services: Vec<ListedService>,
    /// The cluster as its nodes see it whose rules were read, by their names.
    pub(super) nodes: BTreeMap<String, Cluster>,
}

impl Inside {
    pub(super) fn new(name: String, context: String, cluster: Cluster) -> Self {
        let (pods, services) = (cluster.listed_pods(), cluster.listed_services());
        Self { name, context, cluster, pods, services, nodes: BTreeMap::new() }
    }

    /// Returns the node of a pod.
    pub(super) fn node(&self, pod: &Name) -> Option<&str> {
        self.pods.iter().find(|own| own.name == *pod)?.node.as_deref()
    }

    /// Returns the cluster as the node of a pod sees it.
    pub(super) fn seen_by(&self, pod: &Name) -> &Cluster {
        self.node(pod).and_then(|node| self.nodes.get(node)).unwrap_or(&self.cluster)
    }
}

/// What a word stands for: what runs under a name, and the service of that name. Which of the two is meant says the side of the flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spoken {
    /// The place of its cluster.
    pub(super) cluster: usize,
    pub(super) namespace: String,
    /// As it was written.
    pub(super) word: String,
    pub(super) pods: Vec<ListedPod>,
    pub(super) service: Option<ListedService>,
}

/// What somebody wrote, with one word for each pod or service.
#[derive(Debug, Default)]
pub(super) struct SpokenText {
    /// The text, in which every pod and service is one plain name.
    pub(super) text: String,
    /// What these names stand for.
    pub(super) named: BTreeMap<String, Spoken>,
    /// Namespaces that are named, each with the place of its cluster.
    pub(super) namespaces: BTreeSet<(usize, String)>,
    /// Names that are written as only those of a cluster are, and that nothing there has.
    pub(super) unknown: BTreeSet<String>,
    /// Domains that are named: ends outside of the cluster.
    pub(super) domains: BTreeSet<String>,
    /// Words that fit several, with what they fit.
    pub(super) ambiguous: BTreeMap<String, Vec<String>>,
}

/// Words for kinds of objects, as `kubectl` takes them and people write them.
const POD: [&str; 3] = ["pod", "pods", "po"];
const SERVICE: [&str; 4] = ["service", "services", "svc", "svcs"];
const WORKLOAD: [&str; 9] =
    ["deployment", "deployments", "deploy", "statefulset", "sts", "daemonset", "ds", "replicaset", "rs"];
const NAMESPACE: [&str; 2] = ["namespace", "ns"];
/// Words that are names of nothing, whatever somebody may have called a service.
const COMMON: [&str; 14] = [
    "users",
    "user",
    "clients",
    "customers",
    "everything",
    "nothing",
    "network",
    "policy",
    "policies",
    "cluster",
    "node",
    "nodes",
    "default",
    "traffic",
];
/// The namespace of the system: a name there is meant where no other has it.
const SYSTEM: &str = "kube-system";
/// The ends of full names of services.
const SUFFIXES: [&str; 3] = [".svc.cluster.local", ".svc.cluster", ".svc"];

/// What kind of object a word beside a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pod,
    Service,
    Workload,
}

fn kind(word: &str) -> Option<Kind> {
    if POD.contains(&word) {
        Some(Kind::Pod)
    } else if SERVICE.contains(&word) {
        Some(Kind::Service)
    } else if WORKLOAD.contains(&word) {
        Some(Kind::Workload)
    } else {
        None
    }
}

/// A part of a text: a word, or what stands between two.
#[derive(Debug, Clone)]
enum Part {
    /// Its beginning as it stands, the word in small letters, the rest.
    Word {
        before: String,
        word: String,
        after: String,
    },
    Between(String),
}

fn parts(text: &str) -> Vec<Part> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-._/:".contains(char);
    let mut found: Vec<Part> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|char| is_part(char) != is_part(first)).unwrap_or(rest.len());
        let (run, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = behind;
        let core = run.trim_matches(|char: char| !char.is_ascii_alphanumeric());
        let at = run.find(core).unwrap_or_default();
        if core.is_empty() || !is_part(first) {
            found.push(Part::Between(run.to_owned()));
            continue;
        }
        found.push(Part::Word {
            before: run.get(..at).unwrap_or_default().to_owned(),
            word: core.to_ascii_lowercase(),
            after: run.get(at + core.len()..).unwrap_or_default().to_owned(),
        });
    }
    found
}

/// Tells whether only blanks stand between two words, so that one can belong to the other.
fn is_joined(parts: &[Part], one: usize, other: usize) -> bool {
    let (first, last) = (one.min(other), one.max(other));
    let ends = |part: Option<&Part>| matches!(part, Some(Part::Word { after, .. }) if !after.is_empty());
    let is_blank = |part: &Part| matches!(part, Part::Between(text) if text.trim().is_empty());
    !ends(parts.get(first)) && parts.get(first + 1..last).is_some_and(|all| all.iter().all(is_blank))
}

/// Writes who is called as people say it, where a web server names its upstream.
fn say_upstream(parts: &mut Vec<Part>) {
    let is = |part: Option<&Part>, wanted: &[&str]| matches!(part, Some(Part::Word { word, .. }) if wanted.contains(&word.as_str()));
    for at in 0..parts.len() {
        if !is(parts.get(at), &["upstream"]) {
            continue;
        }
        if is(parts.get(at + 2), &["is", "was", "server"]) {
            parts.splice(at + 1..at + 3, []);
        }
        if let Some(Part::Word { word, .. }) = parts.get_mut(at) {
            "to".clone_into(word);
        }
    }
}

/// Writes the port of a command, `-p 6379` or `--port=5432`, as people say it.
fn say_ports(parts: &mut [Part]) {
    let is_number = |part: Option<&Part>| matches!(part, Some(Part::Word { word, .. }) if word.bytes().all(|byte| byte.is_ascii_digit()));
    for at in 0..parts.len() {
        if !is_number(parts.get(at + 2)) {
            continue;
        }
        if let Some(Part::Word { before, word, .. }) = parts.get_mut(at)
            && before.ends_with('-')
            && ["p", "port"].contains(&word.as_str())
        {
            (*before, *word) = (String::new(), "port".to_owned());
            if let Some(between) = parts.get_mut(at + 1) {
                *between = Part::Between(" ".to_owned());
            }
        }
    }
}

/// Splits a port off.
fn without_port(word: &str) -> (&str, Option<&str>) {
    match word.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, Some(port))
        }
        Some(_) | None => (word, None),
    }
}

impl SpokenText {
    /// Reads what somebody wrote.
    pub(super) fn read(text: &str, clusters: &[Inside]) -> Self {
        let mut parts = parts(text);
        let mut found = Self::default();
        say_ports(&mut parts);
        say_upstream(&mut parts);
        found.take_namespaces(&mut parts, clusters);
        let words: Vec<(usize, String)> = parts
            .iter()
            .enumerate()
            .filter_map(|(at, part)| match part {
                Part::Word { word, .. } => Some((at, word.clone())),
                Part::Between(_) => None,
            })
            .collect();
        let mut gone: BTreeSet<usize> = BTreeSet::new();
        for (place, (at, word)) in words.iter().enumerate() {
            let (name, port) = without_port(word);
            let beside = |step: isize| {
                let (other, word) = words.get(place.checked_add_signed(step)?)?;
                is_joined(&parts, *at, *other).then_some(())?;
                Some((*other, kind(word)?))
            };
            let said = beside(1).or_else(|| beside(-1));
            let Some(alias) = found.alias(name, said.map(|(_, kind)| kind), clusters) else { continue };
            if kind(word).is_some() {
                continue;
            }
            gone.extend(said.map(|(other, _)| other));
            if let Some(Part::Word { word, .. }) = parts.get_mut(*at) {
                *word = port.map_or(alias.clone(), |port| format!("{alias}:{port}"));
            }
        }
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Word { .. } if gone.contains(&at) => {}
                Part::Word { before, word, after } => {
                    found.text.push_str(before);
                    found.text.push_str(word);
                    found.text.push_str(after);
                }
                Part::Between(text) => found.text.push_str(text),
            }
        }
        found
    }

    /// Takes the names of namespaces out of a text: they are ends of nothing.
    fn take_namespaces(&mut self, parts: &mut Vec<Part>, clusters: &[Inside]) {
        let word_at = |parts: &[Part], at: usize| match parts.get(at) {
            Some(Part::Word { word, .. }) => Some(word.clone()),
            Some(Part::Between(_)) | None => None,
        };
        let owners = |name: &str| -> Vec<(usize, String)> {
            let has = |inside: &Inside| inside.cluster.namespaces().contains(name);
            let all = clusters.iter().enumerate().filter(|(_, inside)| has(inside));
            all.map(|(at, _)| (at, name.to_owned())).collect()
        };
        let mut at = 0;
        while at < parts.len() {
            let (Some(word), next) = (word_at(parts, at), word_at(parts, at + 2)) else {
                at += 1;
                continue;
            };
            // `namespace shop`, `ns/shop`, `the shop namespace`, `in shop`.
            let before = NAMESPACE.contains(&word.as_str()).then(|| next.clone()).flatten();
            let behind = next.as_deref().is_some_and(|next| NAMESPACE.contains(&next)).then(|| word.clone());
            let glued =
                word.strip_prefix("ns/").or_else(|| word.strip_prefix("namespace/")).map(str::to_owned);
            let within = (word == "in").then_some(next).flatten().filter(|next| {
                !clusters.iter().any(|inside| inside.pods.iter().any(|pod| pod.workloads.contains(next)))
            });
            let (name, taken) = match (before, behind, glued, within) {
                (Some(name), _, _, _) | (_, _, _, Some(name)) => (name, 3),
                (_, Some(name), _, _) => (name, 3),
                (_, _, Some(name), _) => (name, 1),
                (None, None, None, None) => {
                    at += 1;
                    continue;
                }
            };
            let found = owners(&name);
            if found.is_empty() {
                at += 1;
                continue;
            }
            self.namespaces.extend(found);
            parts.splice(at..at + taken, [Part::Between(String::new())]);
            at += 1;
        }
    }

    /// Returns the plain name for what a word stands for; nothing where it stands for no pod and no service.
    fn alias(&mut self, word: &str, said: Option<Kind>, clusters: &[Inside]) -> Option<String> {
        let Some((namespace, own, name)) = qualified(word, clusters) else {
            if is_domain(word) {
                self.domains.insert(word.to_owned());
            }
            return None;
        };
        let is_bare = namespace.is_none() && own.is_none();
        if is_bare && said.is_none() && COMMON.contains(&name.as_str()) {
            return None;
        }
        let mut all = candidates(namespace.as_deref(), own.or(said), &name, clusters);
        if all.len() > 1 {
            let is_near = |one: &Spoken| self.namespaces.contains(&(one.cluster, one.namespace.clone()));
            let near: Vec<Spoken> = all.iter().filter(|one| is_near(one)).cloned().collect();
            let others: Vec<Spoken> = all.iter().filter(|one| one.namespace != SYSTEM).cloned().collect();
            if !near.is_empty() {
                all = near;
            } else if !others.is_empty() {
                all = others;
            }
        }
        let [one] = all.as_slice() else {
            if all.is_empty() && !is_bare {
                self.unknown.insert(word.to_owned());
            } else if all.is_empty() && is_domain(word) {
                self.domains.insert(word.to_owned());
            } else if !all.is_empty() {
                let full = |one: &Spoken| match clusters.get(one.cluster) {
                    Some(inside) if clusters.len() > 1 => {
                        format!("{}/{name} of {}", one.namespace, inside.name)
                    }
                    Some(_) | None => format!("{}/{name}", one.namespace),
                };
                self.ambiguous.insert(word.to_owned(), all.iter().map(full).collect());
            }
            return None;
        };
        let plain = name.replace('.', "-");
        let same = |known: &Spoken| {
            (known.cluster, &known.namespace, &known.word) == (one.cluster, &one.namespace, &one.word)
        };
        for alias in
            [plain.clone(), format!("{}-{plain}", one.namespace), format!("{plain}-{}", self.named.len())]
        {
            match self.named.get(&alias) {
                Some(known) if same(known) => return Some(alias),
                Some(_) => {}
                None => {
                    self.named.insert(alias.clone(), one.clone());
                    return Some(alias);
                }
            }
        }
        None
    }
}

/// Tells whether a word is a domain, and no name in a cluster.
fn is_domain(word: &str) -> bool {
    let last = word.rsplit('.').next().unwrap_or_default();
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    word.contains('.')
        && word.len() <= 253
        && word.split('.').all(is_label)
        && last.len() > 1
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Takes a word apart: the namespace, the kind and the name that it holds.
fn qualified(word: &str, clusters: &[Inside]) -> Option<(Option<String>, Option<Kind>, String)> {
    let is_namespace = |text: &str| clusters.iter().any(|inside| inside.cluster.namespaces().contains(text));
    let word = SUFFIXES.iter().find_map(|suffix| word.strip_suffix(suffix)).unwrap_or(word);
    Some(match word.split('/').collect::<Vec<_>>().as_slice() {
        [name] => match name.split_once('.') {
            Some((name, namespace)) if is_namespace(namespace) => {
                (Some(namespace.to_owned()), Some(Kind::Service), name.to_owned())
            }
            Some(_) | None => (None, None, (*name).to_owned()),
        },
        [first, name] => match kind(first) {
            Some(kind) => (None, Some(kind), (*name).to_owned()),
            None if is_namespace(first) => (Some((*first).to_owned()), None, (*name).to_owned()),
            None => return None,
        },
        [namespace, middle, name] if is_namespace(namespace) => {
            (Some((*namespace).to_owned()), Some(kind(middle)?), (*name).to_owned())
        }
        _ => return None,
    })
}

/// Returns everything that has a name, one for each namespace.
fn candidates(namespace: Option<&str>, kind: Option<Kind>, name: &str, clusters: &[Inside]) -> Vec<Spoken> {
    let mut found = Vec::new();
    for (at, inside) in clusters.iter().enumerate() {
        for own in inside.cluster.namespaces() {
            if namespace.is_some_and(|wanted| wanted != own) {
                continue;
            }
            let has = |known: &Name| known.namespace == own && known.name == name;
            let exact: Vec<&ListedPod> = inside.pods.iter().filter(|pod| has(&pod.name)).collect();
            let is_part = |pod: &&ListedPod| pod.name.namespace == own && pod.workloads.contains(name);
            let pods: Vec<ListedPod> = match exact.as_slice() {
                [] => inside.pods.iter().filter(is_part).cloned().collect(),
                some => some.iter().map(|pod| (*pod).clone()).collect(),
            };
            let service = inside.services.iter().find(|service| has(&service.name)).cloned();
            let service = service.filter(|_| kind != Some(Kind::Pod));
            if pods.is_empty() && service.is_none() || kind == Some(Kind::Service) && service.is_none() {
                continue;
            }
            let word = name.to_owned();
            found.push(Spoken { cluster: at, namespace: own.to_owned(), word, pods, service });
        }
    }
    found
}
