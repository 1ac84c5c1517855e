//! The arguments, and the files.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::show;
use crate::input;
use crate::print::{Hinted, line};
use ghost_inspect::cluster::{AskError, Cluster, Engine, Protocol, Question, ReadError, Verdict};
use ghost_inspect::net::DocumentError;

/// The arguments of `ghost cluster`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kubectl get pods,services,endpointslices,namespaces -A -o json > cluster.json\n  kubectl get networkpolicies -A -o json > policies.json\n  ghost cluster cluster.json --policies policies.json --from shop/web-1 --to shop/db:5432\n  ghost cluster cluster.json --policies policies.json --from shop/web-1 --to 10.50.0.4:443 --json\n  ghost cluster cluster.json --policies policies.json --rules node.rules --from shop/web-1 --to shop/db:sql --exit-code\n\nA FILE is what kubectl printed where it exited with 0: refused by the cluster it prints an empty list as well. An empty list does not say of what it is empty, so the policies have a file of their own. Both ends have to let a flow through; the port is the one of the service. With --exit-code: 3 for BLOCKED and DEGRADED, 4 for INDETERMINATE."
)]
pub struct Arguments {
    /// What `kubectl get … -A -o json` printed of pods, services, endpointslices and namespaces; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What `kubectl get networkpolicies -A -o json` printed; needed where the cluster may have none.
    #[arg(long, value_name = "FILE")]
    policies: Option<PathBuf>,
    /// What `iptables-save` printed on the node of the caller.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Who calls: NAMESPACE/POD, or an address.
    #[arg(long, value_name = "WHERE")]
    from: String,
    /// Who is called: NAMESPACE/SERVICE:PORT, NAMESPACE/POD:PORT or ADDRESS:PORT; the port of a service may be its name.
    #[arg(long, value_name = "WHERE:PORT")]
    to: String,
    /// The protocol.
    #[arg(long, value_enum, default_value_t = Transport::Tcp)]
    protocol: Transport,
    /// What enforces policies (`networkProfile.networkPolicy` of the cluster); found by its pods in kube-system unless said.
    #[arg(long, value_enum)]
    engine: Option<Enforcer>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where the flow does not pass to every pod, with 4 where that is undecided.
    #[arg(long)]
    exit_code: bool,
}

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Transport {
    Tcp,
    Udp,
    Sctp,
}

impl From<Transport> for Protocol {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Tcp => Self::Tcp,
            Transport::Udp => Self::Udp,
            Transport::Sctp => Self::Sctp,
        }
    }
}

/// What enforces policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Enforcer {
    Azure,
    Calico,
    Cilium,
    Other,
    None,
}

impl From<Enforcer> for Engine {
    fn from(enforcer: Enforcer) -> Self {
        match enforcer {
            Enforcer::Azure => Self::Azure,
            Enforcer::Calico => Self::Calico,
            Enforcer::Cilium => Self::Cilium,
            Enforcer::Other => Self::Other,
            Enforcer::None => Self::None,
        }
    }
}

/// So many bytes of one file are read.
const MAX_BYTES: usize = 128 << 20;

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let question = Question::parse(&arguments.from, &arguments.to, arguments.protocol.into())
        .map_err(|error| Hinted::new(error, "as in --from shop/web-1 --to shop/db:5432"))?
        .enforced_by(arguments.engine.map(Engine::from));
    let mut cluster = Cluster::default();
    for file in &arguments.files {
        read(file, |text| cluster.add(text))?;
    }
    if let Some(file) = &arguments.policies {
        read(file, |text| cluster.add_policies(text))?;
    }
    if let Some(file) = &arguments.rules {
        read(file, |text| cluster.add_rules(text))?;
    }
    let report = cluster.judge(&question).map_err(|error| {
        let hint = hint(&error);
        Hinted::new(error, hint)
    })?;
    if arguments.json {
        line(&serde_json::to_string(&report)?)?;
    } else {
        show::page(&report).print()?;
    }
    Ok(match (arguments.exit_code, report.verdict) {
        (false, _) | (true, Verdict::Passes) => 0,
        (true, Verdict::Blocked | Verdict::Degraded) => 3,
        (true, Verdict::Indeterminate) => 4,
    })
}

fn read(file: &Path, add: impl FnOnce(&str) -> Result<(), ReadError>) -> anyhow::Result<()> {
    let text = input::text(file, MAX_BYTES)?;
    add(&text).map_err(|error| {
        let hint = reading_hint(&error);
        let error = anyhow::Error::from(error).context(format!("reading {}", file.display()));
        Hinted::new(error, hint).into()
    })
}

const fn reading_hint(error: &ReadError) -> &'static str {
    if matches!(error, ReadError::Document(DocumentError::TooMuch { .. })) {
        "give it in several FILEs, for example one for each kind: they count together"
    } else if matches!(error, ReadError::Rules { .. }) {
        "--rules is what `iptables-save` printed on the node, whole"
    } else if matches!(error, ReadError::Failed { .. }) {
        "see that `kubectl` exits with 0, and whether you may read these kinds"
    } else if matches!(error, ReadError::Differs { .. }) {
        "read them again, all at one time"
    } else {
        "a FILE is what `kubectl get … -A -o json` printed, whole"
    }
}

const fn hint(error: &AskError) -> &'static str {
    if matches!(error, AskError::Ambiguous { .. }) {
        "write NAMESPACE/service/NAME:PORT or NAMESPACE/pod/NAME:PORT"
    } else if matches!(error, AskError::Missing { .. }) {
        "read pods and services of all namespaces: kubectl get pods,services -A -o json"
    } else if matches!(error, AskError::Unread { .. }) {
        "see what `kubectl` prints of it: it is not what Kubernetes writes"
    } else {
        "write the port as a number"
    }
}
