//! Complaints about calls inside of a cluster: one policy too much, or a service that leads nowhere, or all of it in order; beside it policies
//! and pods that concern nobody.
//!
//! What is right is not said here: the reader of cases follows each flow of `[[kubernetes.check]]` by the lab's own truth, and a draw
//! that it refuses is drawn again.

use std::collections::BTreeSet;

use super::draw::{Complaint, judged};
use super::words::time;
use crate::case::model::{Case, Pair};
use crate::case::random::Rng;

/// So often another one is drawn.
const TRIES: usize = 60;

/// An application: its name, its port, what the port is called, whether its pods are numbered.
type Kind = (&'static str, u16, &'static str, bool);

const KINDS: [Kind; 12] = [
    ("web", 8080, "http", false),
    ("api", 9000, "http", false),
    ("db", 5432, "sql", true),
    ("cache", 6379, "redis", true),
    ("queue", 5672, "amqp", true),
    ("index", 9200, "http", true),
    ("auth", 8443, "https", false),
    ("billing", 8081, "http", false),
    ("catalog", 8082, "grpc", false),
    ("mailer", 8025, "smtp", false),
    ("store", 9001, "s3", true),
    ("events", 9092, "kafka", true),
];

const NAMESPACES: [&str; 8] = ["shop", "orders", "payments", "search", "media", "identity", "team-a", "prod"];
const PLACES: [&str; 5] = ["aks", "prod-aks", "k8s", "cluster", "aks-01"];
/// Letters of generated names.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wrong {
    #[default]
    Nothing,
    /// A policy of the called pods lets others in.
    Ingress,
    /// A policy closes the whole namespace of the called pods.
    Closed,
    /// A policy that opened what is called does so for others now, in a namespace that is closed by default.
    Narrowed,
    /// A policy of the calling pods lets them out to others.
    Egress,
    /// A policy of the calling pods forgets the name servers.
    Names,
    Selector,
    NotReady,
    TargetPort,
    ServicePort,
}

impl Wrong {
    const BAD: [Self; 9] = [
        Self::Ingress,
        Self::Closed,
        Self::Narrowed,
        Self::Egress,
        Self::Names,
        Self::Selector,
        Self::NotReady,
        Self::TargetPort,
        Self::ServicePort,
    ];

    const fn is_policy(self) -> bool {
        matches!(self, Self::Ingress | Self::Closed | Self::Narrowed | Self::Egress | Self::Names)
    }

    fn words(self, rng: &mut Rng) -> &'static str {
        const TIMEOUT: [&str; 12] = [
            "{s} times out connecting to {d}",
            "{s} cannot reach {d}, timeout since {t}",
            "in cluster {c} calls from {s} to {d} hang",
            "dial tcp: i/o timeout when {s} calls {d}. pods are all Running",
            "{s} -> {d}: Connection timed out since {t}, nothing was deployed there",
            "no answer from {d} for {s}, curl just hangs until it gives up",
            "{c}: {s} gets no connection to {d} any more, is it a network policy?",
            "504 everywhere, the log of {s} says: timeout while connecting to {d}",
            "upstream timed out (110) on {s} while connecting to {d}",
            "since {t} requests of {s} to {d} time out; restarting the pods changed nothing",
            "our pods in {c} cannot talk: {s} to {d} times out",
            "{d} does not respond to {s}, others may be affected too",
        ];
        const REFUSED: [&str; 10] = [
            "{s} gets connection refused from {d}",
            "connection refused: {s} to {d}, since {t}",
            "ECONNREFUSED in the log of {s} when it calls {d}",
            "{d} refuses every call of {s} since the helm upgrade",
            "{c}: curl from {s} to {d} says Failed to connect, Connection refused",
            "dial tcp: connect: connection refused ({s} calling {d}), the pods are there",
            "{s} fails right away against {d} with connection refused. in {c}",
            "why is {s} refused by {d}? worked until {t}",
            "connect() failed (111: Connection refused) on {s}, upstream is {d}",
            "service {d} is down for {s}: connection refused",
        ];
        const NAMES: [&str; 6] = [
            "{s} cannot resolve any name since the new network policy",
            "getaddrinfo EAI_AGAIN in {s} for every host since {t}",
            "DNS is broken for {s} in {c}, other pods resolve fine",
            "{s}: Temporary failure in name resolution",
            "names do not resolve in {s}, nslookup says no servers could be reached",
            "{s} gets 'could not resolve host' for everything since {t}",
        ];
        const DOUBT: [&str; 8] = [
            "can {s} reach {d}? somebody claims a network policy is in between",
            "{s} to {d} hung once at {t}, fine again. please check the policies in {c}",
            "is anything in {c} blocking {s} from {d}?",
            "a colleague says {s} gets no connection to {d}, I cannot see it. check?",
            "does traffic from {s} to {d} get through?",
            "security rolled out network policies in {c}; is {s} to {d} still allowed?",
            "one timeout from {s} to {d} was reported at {t}, is something wrong with the service?",
            "please verify {s} -> {d} in {c} before the release",
        ];
        match self {
            Self::Nothing => rng.one(&DOUBT),
            Self::Ingress | Self::Closed | Self::Narrowed | Self::Egress | Self::ServicePort => {
                rng.one(&TIMEOUT)
            }
            Self::Names => rng.one(&NAMES),
            Self::Selector | Self::NotReady | Self::TargetPort => rng.one(&REFUSED),
        }
    }
}

/// An application that was drawn.
#[derive(Debug, Clone)]
struct App {
    namespace: &'static str,
    name: &'static str,
    port: u16,
    port_name: &'static str,
    pods: Vec<String>,
    /// The port of its service.
    outside: u16,
    /// Whether the service leads to the port by its name.
    is_named: bool,
}

impl App {
    fn draw(namespace: &'static str, (name, port, port_name, is_numbered): Kind, rng: &mut Rng) -> Self {
        let hash = letters(9, rng);
        let count = rng.one(&[1, 2, 2, 3]);
        let pod = |at: usize, rng: &mut Rng| match is_numbered {
            true => format!("{name}-{at}"),
            false => format!("{name}-{hash}-{}", letters(5, rng)),
        };
        let pods = (0..count).map(|at| pod(at, rng)).collect();
        let outside = if port_name == "http" && rng.percent(40) { 80 } else { port };
        Self { namespace, name, port, port_name, pods, outside, is_named: rng.percent(50) }
    }

    /// Writes its pods and its service.
    fn tables(&self, unready: Option<usize>) -> String {
        let Self { namespace, name, port, port_name, outside, .. } = self;
        let mut text = String::new();
        for (at, pod) in self.pods.iter().enumerate() {
            let ready = if unready == Some(at) { "ready = false\n" } else { "" };
            text.push_str(&format!(
                "[[kubernetes.pod]]\nname = \"{namespace}/{pod}\"\nlabels = {{ app = \"{name}\" }}\n\
                 ports = [{{ name = \"{port_name}\", port = {port} }}]\n{ready}\n"
            ));
        }
        let target = if self.is_named { format!("\"{port_name}\"") } else { port.to_string() };
        text.push_str(&format!(
            "[[kubernetes.service]]\nname = \"{namespace}/{name}\"\nselector = {{ app = \"{name}\" }}\n\
             ports = [{{ name = \"{port_name}\", port = {outside}, target = {target} }}]\n\n"
        ));
        text
    }

    fn first(&self) -> String {
        format!("{}/{}", self.namespace, self.pods.first().map_or(self.name, String::as_str))
    }
}

fn letters(count: usize, rng: &mut Rng) -> String {
    let letter = |rng: &mut Rng| char::from(rng.one(LETTERS));
    (0..count).map(|_| letter(rng)).collect()
}

/// Draws the inside of a cluster, and what somebody says about it; nothing where no draw holds.
pub(super) fn inside(app: &str, healthy: bool, rng: &mut Rng) -> Option<(String, Complaint)> {
    for _ in 0..TRIES {
        let (text, complaint) = one(app, healthy, rng)?;
        if Case::read(&file(&text, &complaint)).is_ok() {
            return Some((text, complaint));
        }
    }
    None
}

/// Writes a case about a cluster and nothing else.
pub(super) fn file(text: &str, complaint: &Complaint) -> String {
    let pairs = |table: &str, all: &BTreeSet<Pair>| -> String {
        let one = |pair: &Pair| {
            format!("[[{table}]]\nfault = \"{}\"\nobject = \"{}\"\n\n", pair.fault, pair.object)
        };
        all.iter().map(one).collect()
    };
    let head = "id = \"x\"\ntitle = \"x\"\nprompt = \"x\"\noutcome = [\"LIKELY\"]\n\n";
    format!("{head}{text}{}{}", pairs("expected", &complaint.expected), pairs("may", &complaint.may))
}

fn one(app: &str, healthy: bool, rng: &mut Rng) -> Option<(String, Complaint)> {
    let cluster = format!("{app}-{}", rng.one(&PLACES));
    let wrong = if healthy { Wrong::Nothing } else { rng.one(&Wrong::BAD) };
    let engine = match wrong {
        own if own.is_policy() => rng.one(&["azure", "calico", "cilium"]),
        _ => rng.one(&["azure", "calico", "cilium", "none"]),
    };
    let (mut namespaces, mut kinds) = (NAMESPACES.to_vec(), KINDS.to_vec());
    rng.mix(&mut namespaces);
    rng.mix(&mut kinds);
    namespaces.truncate(1 + rng.below(3));
    let count = (namespaces.len() + 1 + rng.below(3)).max(3);
    let apps: Vec<App> = kinds
        .into_iter()
        .take(count)
        .enumerate()
        .filter_map(|(at, kind)| Some(App::draw(namespaces.get(at % namespaces.len())?, kind, rng)))
        .collect();
    let (from, to, other) = (apps.first()?, apps.get(1)?, apps.get(2)?);
    let mut text = format!(
        "[[kubernetes]]\nname = \"{cluster}\"\nengine = \"{engine}\"\nnodes = {}\n\n",
        1 + rng.below(4)
    );
    for own in &apps {
        // One pod of several that is not ready takes nothing away.
        let unready = (own.pods.len() > 1 && rng.percent(20)).then(|| rng.below(own.pods.len()));
        let unready = unready.filter(|at| own.name != from.name || *at != 0);
        text.push_str(&own.tables(unready));
    }
    text.push_str(&decoys(&apps, wrong, rng));
    let fault = fault(wrong, from, to, other, rng);
    text.push_str(&fault.text);
    text.push_str(&checks(wrong, from, to, other));
    let words = spoken(wrong, (from, to), &cluster, rng);
    let notes = format!("{} -> {}/{}:{}: {wrong:?}", from.first(), to.namespace, to.name, to.outside);
    let mut complaint = judged(words, &[], &[], notes);
    let pair = |(code, object): &(&'static str, String)| {
        let (kind, name) = object.split_once(' ').unwrap_or(("", object));
        Pair::new(code, format!("{kind}/{cluster}/{name}"))
    };
    complaint.expected = fault.expected.iter().map(pair).collect();
    complaint.may = fault.may.iter().map(pair).collect();
    Some((text, complaint))
}

/// A fault as a file has it, and what it comes to: codes, and kinds and names of objects.
#[derive(Debug, Default)]
struct Written {
    text: String,
    expected: Vec<(&'static str, String)>,
    may: Vec<(&'static str, String)>,
}

fn policy(table: &str, namespace: &str, name: &str, spec: &str) -> String {
    let kind = if table == "fault" { "kind = \"policy\"\n" } else { "" };
    format!("[[kubernetes.{table}]]\n{kind}name = \"{namespace}/{name}\"\nspec = {{ {spec} }}\n\n")
}

fn selector(app: &str) -> String {
    format!("{{ matchLabels = {{ app = \"{app}\" }} }}")
}

/// A peer: pods of an application in whichever namespace.
fn peer(app: &App) -> String {
    format!(
        "{{ namespaceSelector = {{ matchLabels = {{ \"kubernetes.io/metadata.name\" = \"{}\" }} }}, podSelector = {} }}",
        app.namespace,
        selector(app.name)
    )
}

const NAME_SERVERS: &str = "{ to = [{ namespaceSelector = {}, podSelector = { matchLabels = { k8s-app = \"kube-dns\" } } }], \
     ports = [{ protocol = \"UDP\", port = 53 }, { protocol = \"TCP\", port = 53 }] }";

fn fault(wrong: Wrong, from: &App, to: &App, other: &App, rng: &mut Rng) -> Written {
    let denies = |app: &App, name: &str, spec: &str| Written {
        text: policy("fault", app.namespace, name, spec),
        expected: vec![("k8s_policy_deny", format!("netpol {}/{name}", app.namespace))],
        may: Vec::new(),
    };
    let service = format!("{}/{}", to.namespace, to.name);
    let leads = |code: &'static str, fields: String| Written {
        text: format!("[[kubernetes.fault]]\n{fields}\n\n"),
        expected: vec![(code, format!("service {service}"))],
        may: Vec::new(),
    };
    match wrong {
        Wrong::Nothing => Written::default(),
        Wrong::Ingress => {
            let name = format!("{}-{}", to.name, rng.one(&["ingress", "in", "from-known", "allow"]));
            let (who, port) = match rng.below(3) {
                0 => (peer(from), to.port + 1),
                1 => (format!("{{ podSelector = {} }}", selector("frontend")), to.port),
                _ => (peer(other), to.port),
            };
            let rule = format!("ingress = [{{ from = [{who}], ports = [{{ port = {port} }}] }}]");
            denies(
                to,
                &name,
                &format!("podSelector = {}, policyTypes = [\"Ingress\"], {rule}", selector(to.name)),
            )
        }
        Wrong::Closed => {
            let name = rng.one(&["default-deny", "deny-all", "zero-trust", "lockdown"]);
            denies(to, name, "podSelector = {}, policyTypes = [\"Ingress\"]")
        }
        Wrong::Narrowed => {
            let name = format!("{}-from-{}", to.name, from.name);
            let rule = format!("ingress = [{{ from = [{{ podSelector = {} }}] }}]", selector("gateway"));
            let spec = format!("podSelector = {}, {rule}", selector(to.name));
            let own = denies(to, &name, &spec);
            Written {
                may: vec![("k8s_policy_deny", format!("netpol {}/deny-by-default", to.namespace))],
                ..own
            }
        }
        Wrong::Egress => {
            let name = format!("{}-{}", from.name, rng.one(&["egress", "out", "restrict"]));
            let rules = format!("egress = [{{ to = [{}] }}, {NAME_SERVERS}]", peer(other));
            denies(
                from,
                &name,
                &format!("podSelector = {}, policyTypes = [\"Egress\"], {rules}", selector(from.name)),
            )
        }
        Wrong::Names => {
            let name = format!("{}-{}", from.name, rng.one(&["egress", "out", "baseline"]));
            let rules = format!("egress = [{{ to = [{}] }}, {{ to = [{}] }}]", peer(to), peer(other));
            denies(
                from,
                &name,
                &format!("podSelector = {}, policyTypes = [\"Egress\"], {rules}", selector(from.name)),
            )
        }
        Wrong::Selector => {
            let odd = rng.one(&["v2", "blue", "green", "canary"]);
            let labels = if rng.percent(50) {
                format!("{{ app = \"{}-{odd}\" }}", to.name)
            } else {
                format!("{{ app = \"{}\", track = \"{odd}\" }}", to.name)
            };
            leads(
                "k8s_no_endpoints",
                format!("kind = \"selector\"\nservice = \"{service}\"\nselector = {labels}"),
            )
        }
        Wrong::NotReady => {
            let pods: Vec<String> = to.pods.iter().map(|pod| format!("{}/{pod}", to.namespace)).collect();
            let waits = rng.one(&["", "", "waits = \"CrashLoopBackOff\"", "waits = \"ImagePullBackOff\""]);
            leads("k8s_no_endpoints", format!("kind = \"not_ready\"\npods = {pods:?}\n{waits}"))
        }
        Wrong::TargetPort => {
            let named = rng.one(&["http-web", "main", "svc", "tcp-main"]);
            leads(
                "k8s_port_not_served",
                format!(
                    "kind = \"target_port\"\nservice = \"{service}\"\nport = {}\ntarget = \"{named}\"",
                    to.outside
                ),
            )
        }
        Wrong::ServicePort => {
            let now = to.outside + rng.one(&[1, 10, 100]);
            leads(
                "k8s_service_port_missing",
                format!(
                    "kind = \"service_port\"\nservice = \"{service}\"\nport = {}\nnow = {now}",
                    to.outside
                ),
            )
        }
    }
}

/// Policies that deny, and keep nobody of the complaint from anything.
fn decoys(apps: &[App], wrong: Wrong, rng: &mut Rng) -> String {
    let mut text = String::new();
    let (Some(from), Some(to)) = (apps.first(), apps.get(1)) else { return text };
    if wrong == Wrong::Narrowed || wrong == Wrong::Nothing && rng.percent(50) {
        text.push_str(&policy(
            "policy",
            to.namespace,
            "deny-by-default",
            "podSelector = {}, policyTypes = [\"Ingress\"]",
        ));
        text.push_str(&policy(
            "policy",
            to.namespace,
            "allow-others",
            &format!(
                "podSelector = {{ matchExpressions = [{{ key = \"app\", operator = \"NotIn\", values = [\"{}\"] }}] }}, ingress = [{{}}]",
                to.name
            ),
        ));
        let name = format!("{}-from-{}", to.name, from.name);
        let rule = format!("ingress = [{{ from = [{}], ports = [{{ port = {} }}] }}]", peer(from), to.port);
        text.push_str(&policy(
            "policy",
            to.namespace,
            &name,
            &format!("podSelector = {}, {rule}", selector(to.name)),
        ));
    }
    if rng.percent(60) {
        let own =
            "podSelector = { matchLabels = { app = \"legacy\" } }, policyTypes = [\"Ingress\", \"Egress\"]";
        text.push_str(&policy(
            "policy",
            to.namespace,
            rng.one(&["quarantine", "legacy-deny", "deny-old"]),
            own,
        ));
    }
    if rng.percent(40) {
        let rule = format!(
            "podSelector = {}, ingress = [{{ ports = [{{ port = {} }}] }}]",
            selector(from.name),
            from.port
        );
        text.push_str(&policy("policy", from.namespace, &format!("{}-open", from.name), &rule));
    }
    if let Some(last) = apps.get(3..).and_then(|rest| rest.last()).filter(|_| rng.percent(50)) {
        let rule = format!("podSelector = {}, policyTypes = [\"Ingress\"]", selector(last.name));
        text.push_str(&policy("policy", last.namespace, &format!("{}-closed", last.name), &rule));
    }
    text
}

/// The flow of the complaint, and one that passes whatever is wrong.
fn checks(wrong: Wrong, from: &App, to: &App, other: &App) -> String {
    let check = |from: &App, to: &str, protocol: &str, passes: bool| {
        format!(
            "[[kubernetes.check]]\nfrom = \"{}\"\nto = \"{to}\"\nprotocol = \"{protocol}\"\npasses = {passes}\n\n",
            from.first()
        )
    };
    let called = |app: &App| format!("{}/{}:{}", app.namespace, app.name, app.outside);
    let names = "kube-system/kube-dns:53";
    let is_names = wrong == Wrong::Names;
    let mut text = check(from, &called(to), "tcp", is_names || wrong == Wrong::Nothing);
    text.push_str(&check(from, names, "udp", !is_names));
    if !matches!(wrong, Wrong::Closed) {
        text.push_str(&check(from, &called(other), "tcp", true));
    }
    text
}

fn spoken(wrong: Wrong, (from, to): (&App, &App), cluster: &str, rng: &mut Rng) -> String {
    let is_same = from.namespace == to.namespace;
    let source = match rng.below(4) {
        0 => from.first(),
        1 => format!("{} in namespace {}", from.name, from.namespace),
        2 => format!("the {} pods in {}", from.name, from.namespace),
        _ => format!("{}/{}", from.namespace, from.name),
    };
    // Who names no port where it is another than callers think would be misled.
    let is_bare = wrong != Wrong::ServicePort && rng.percent(20);
    let port = if is_bare { String::new() } else { format!(":{}", to.outside) };
    let target = match rng.below(4) {
        0 if is_same => format!("{}{port}", to.name),
        1 => format!("{}.{}.svc.cluster.local{port}", to.name, to.namespace),
        2 => format!("{}.{}{port}", to.name, to.namespace),
        _ => format!("{}/{}{port}", to.namespace, to.name),
    };
    let words = wrong.words(rng);
    words.replace("{s}", &source).replace("{d}", &target).replace("{c}", cluster).replace("{t}", time(rng))
}
