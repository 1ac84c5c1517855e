//! The rules of the nodes on which callers run, where the session may read these machines.

use std::collections::BTreeSet;

use super::asked::{Callers, ClusterComplaint};
use super::judge::Read;
use crate::event::SessionCluster;
use crate::suspect::plain;
use crate::tool::call_replay::CallReplay;
use crate::tool::inspect::inspector::Unfinished;
use crate::tool::inspect::path::sentence;
use ghost_base::Limit;
use ghost_cloud::probe::{HostProbe, HostQuestion};
use ghost_inspect::host::{Gathered, Part};

/// How many nodes are read for one question: each costs a run on that machine.
const NODES: Limit = Limit::new("cluster.nodes", 16);
/// The chain in which kube-proxy lists services.
const SERVICES: &str = "KUBE-SERVICES";
/// Where rules of `iptables` may be.
const RULES: [Part; 2] = [Part::FilterIptables, Part::FilterLegacy];

/// Reads the nodes of those who call, and puts their rules beside what the cluster says. One that cannot be read is said, and its cluster is
/// judged without.
pub(super) fn read_nodes(
    complaints: &[ClusterComplaint],
    clusters: &[&SessionCluster],
    read: &mut Read,
    replay: &mut CallReplay<'_, '_>,
) -> Result<(), Unfinished> {
    let mut wanted: BTreeSet<(usize, String)> = BTreeSet::new();
    for flow in complaints.iter().flat_map(|complaint| &complaint.flows) {
        let pods = match &flow.callers {
            Callers::Pods { pods, .. } | Callers::Anybody(pods) => pods.as_slice(),
            Callers::Address(_) => &[],
        };
        let Some(inside) = read.clusters.get(flow.cluster) else { continue };
        wanted.extend(pods.iter().filter_map(|pod| Some((flow.cluster, inside.node(pod)?.to_owned()))));
    }
    let mut found = Vec::new();
    for (at, node) in wanted {
        let name = read.clusters.get(at).map(|inside| inside.name.clone()).unwrap_or_default();
        let own = clusters.iter().find(|cluster| cluster.name == name);
        let host = own.and_then(|own| own.nodes.iter().find(|host| host.name.eq_ignore_ascii_case(&node)));
        found.extend(host.map(|host| (at, node, host)));
    }
    let cut = NODES.cut(&mut found);
    if cut > 0 {
        read.unjudged.push(format!("the rules of {cut} more nodes"));
    }
    let question = HostQuestion::default();
    let probe = |(_, _, host): &(usize, String, &crate::event::SessionHost)| {
        HostProbe::by(&host.carrier, &host.name, &question)
    };
    let mut probes: Vec<HostProbe> = found.iter().map(probe).collect();
    for ((at, node, _), (gathered, observed)) in found.iter().zip(replay.run_all(&mut probes)?) {
        match gathered.map_err(|issue| issue.text).and_then(|gathered| with_rules(read, *at, node, &gathered))
        {
            Ok(()) => {
                if let Some(own) = read.observed.get_mut(*at) {
                    own.extend(observed);
                }
            }
            Err(why) => {
                read.notes.push(sentence(&format!("the rules of {} were not read: {why}", plain(node))))
            }
        }
    }
    Ok(())
}

/// Puts the rules of a node beside the cluster.
fn with_rules(read: &mut Read, at: usize, node: &str, gathered: &Gathered) -> Result<(), String> {
    let Some(inside) = read.clusters.get_mut(at) else { return Ok(()) };
    let texts: Vec<&str> = RULES.into_iter().filter_map(|part| gathered.text(part).ok()).collect();
    let text = texts.iter().find(|text| text.contains(SERVICES)).or(texts.first());
    let text = text.ok_or_else(|| "it has no iptables".to_owned())?;
    let mut cluster = inside.cluster.clone();
    cluster.add_rules(text).map_err(|error| error.to_string())?;
    inside.nodes.insert(node.to_owned(), cluster);
    Ok(())
}
