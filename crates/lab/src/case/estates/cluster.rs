//! Complaints about the API server of a cluster: it is stopped, it does not authorize the address by which the caller leaves, or all of
//! it is in order.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::address::Prefix;
use super::draw::{Tried, judged};
use super::estate::{Role, Route, Subnet};
use super::walk::{Flow, walk};
use super::write::PROVIDERS;
use crate::case::model::Pair;
use crate::case::random::Rng;
use crate::host::Protocol;

/// By which address the caller's subnet leaves.
const LEAVES: &str = "20.80.1.5";
/// Somebody of the internet: the path to the API server is as the path there.
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(8, 8, 8, 8);

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wrong {
    #[default]
    Nothing,
    Stopped,
    /// Its ranges do not hold the address of the caller.
    Ranges,
}

impl Wrong {
    fn words(self, rng: &mut Rng) -> &'static str {
        match self {
            Self::Nothing => rng.one(&[
                "kubectl on {s} timed out once against {c}, somebody suspects the authorized ranges. please check",
                "can {s} reach the API server of {c}?",
                "somebody claims that {s} does not get to the API server of {c}, is anything wrong there?",
                "{s}: kubectl against {c} hung for a moment this morning, fine again. is it the cluster?",
            ]),
            Self::Stopped => rng.one(&[
                "kubectl from {s} to {c} times out since this morning, the manifests did not change",
                "{s} cannot reach the API server of {c} any more, timeout",
                "the pipeline on {s} hangs at kubectl apply, {c} does not answer",
                "kubectl get nodes on {s}: Unable to connect to the server of {c}, i/o timeout",
            ]),
            Self::Ranges => rng.one(&[
                "since the pipeline moved to {s} its kubectl gets a timeout from the API server of {c}, from my laptop it works",
                "{s} cannot reach the API server of {c}, timeout; colleagues in the office can",
                "kubectl from {s} to {c} times out, from elsewhere it works",
                "kubectl get nodes on {s}: Unable to connect to the server of {c}, i/o timeout",
            ]),
        }
    }

    /// The ranges that it authorizes; whoever asks where there are none.
    fn ranges(self, rng: &mut Rng) -> &'static [&'static str] {
        const ELSEWHERE: [&[&str]; 2] = [&["203.0.113.0/24"], &["203.0.113.0/24", "20.80.2.0/24"]];
        // Ranges that hold the caller, or none, explain nothing.
        const MEANT: [&[&str]; 3] = [&[], &["203.0.113.0/24", "20.80.1.5/32"], &["20.80.0.0/16"]];
        match self {
            Self::Ranges => rng.one(&ELSEWHERE),
            Self::Nothing | Self::Stopped => rng.one(&MEANT),
        }
    }

    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Stopped => Some("aks_stopped"),
            Self::Ranges => Some("aks_api_restricted"),
        }
    }
}

/// Somebody calls the API server. All else on the path is in order, so that the cluster decides.
pub(super) fn cluster(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let estate = &tried.drawn.estate;
    let Some(own) = estate.machines.get(rng.below(estate.machines.len())).cloned() else { return };
    // What an appliance makes of outbound packets depends on addresses that it translates.
    let leaves_by_appliance = |route: &Route| route.prefix == Prefix::ALL;
    if own.role == Role::Appliance
        || own.public.is_some()
        || estate.tables.values().flatten().any(leaves_by_appliance)
    {
        return;
    }
    let call = Flow { source: own.address, destination: OUTSIDE, protocol: Protocol::Tcp, port: 443 };
    let Some(subnet) = estate.subnet(&own.subnet).filter(|_| walk(estate, &call).is_fine()) else { return };
    let wrong = if healthy { Wrong::Nothing } else { rng.one(&[Wrong::Stopped, Wrong::Ranges]) };
    let name = format!("{}-aks", tried.drawn.app);
    let words = wrong.words(rng).replace("{s}", &own.name).replace("{c}", &name);
    let notes = format!("{} -> {name} tcp/443: {wrong:?}", own.name);
    let text = table(&name, subnet, wrong, wrong.ranges(rng));
    let mut complaint = judged(words, &[], &[], notes);
    complaint.expected = wrong
        .code()
        .map(|code| Pair::new(code, format!("aks/{name}")))
        .into_iter()
        .collect::<BTreeSet<Pair>>();
    tried.more.push_str(&text);
    tried.complaints.push(complaint);
}

/// Writes how the subnet leaves, and the cluster.
fn table(name: &str, subnet: &Subnet, wrong: Wrong, ranges: &[&str]) -> String {
    let kind = "Microsoft.Network";
    let part = |field: &str, of: &str, named: &Option<String>| {
        let id = |named: &String| format!(", {field} = {{ id = \"{PROVIDERS}/{kind}/{of}/{named}\" }}");
        named.as_ref().map(id).unwrap_or_default()
    };
    let group = part("networkSecurityGroup", "networkSecurityGroups", &subnet.group);
    let routes = part("routeTable", "routeTables", &subnet.table);
    let state = if wrong == Wrong::Stopped { "Stopped" } else { "Running" };
    let ranges = match ranges {
        [] => String::new(),
        some => format!(", authorizedIPRanges = {some:?}"),
    };
    format!(
        "[[change]]\nput = \"{kind}/publicIPAddresses/{name}-out-ip\"\n\n[change.body]\nlocation = \"eastus\"\nsku = {{ name = \"Standard\" }}\n\
         properties = {{ ipAddress = \"{LEAVES}\", publicIPAllocationMethod = \"Static\" }}\n\n\
         [[change]]\nput = \"{kind}/natGateways/{name}-out\"\n\n[change.body]\nlocation = \"eastus\"\nsku = {{ name = \"Standard\" }}\n\n\
         [change.body.properties]\nidleTimeoutInMinutes = 4\n\
         publicIpAddresses = [{{ id = \"{PROVIDERS}/{kind}/publicIPAddresses/{name}-out-ip\" }}]\n\n\
         [[change]]\nput = \"{kind}/virtualNetworks/{}/subnets/{}\"\nbody = {{ properties = {{ addressPrefix = \"{}\", \
         natGateway = {{ id = \"{PROVIDERS}/{kind}/natGateways/{name}-out\" }}{group}{routes} }} }}\n\n\
         [[change]]\nput = \"Microsoft.ContainerService/managedClusters/{name}\"\n\n[change.body]\nlocation = \"eastus\"\n\n\
         [change.body.properties]\nagentPoolProfiles = [{{ name = \"pool1\", count = 2, vmSize = \"Standard_D2s_v5\" }}]\n\
         powerState = {{ code = \"{state}\" }}\napiServerAccessProfile = {{ enablePrivateCluster = false{ranges} }}\n\
         networkProfile = {{ networkPlugin = \"azure\", outboundType = \"loadBalancer\" }}\n\n",
        subnet.network(),
        subnet.short(),
        subnet.prefix,
    )
}
