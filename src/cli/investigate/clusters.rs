//! Which clusters' inside an investigation may read: those that are named, or those of the configuration.
//!
//! Goes in: the command line, `[clusters]` of the configuration. Comes out: the clusters, each with the context of `kubectl` that leads
//! there. Never: a cluster that nobody named, whatever contexts `kubectl` has.

use ghost_investigate::event::{SessionCluster, SessionHost};
use ghost_tools::config::{Config, is_context};
use ghost_tools::print::{Hinted, harmless};

/// So many clusters are read in one session.
const MAX_CLUSTERS: usize = 8;

/// Returns the clusters of the configuration.
pub(in crate::cli) fn configured_clusters(config: &Config) -> Vec<SessionCluster> {
    let cluster = |(name, entry): (&String, &ghost_tools::config::ClusterEntry)| SessionCluster {
        name: name.clone(),
        context: entry.context.clone().unwrap_or_else(|| name.clone()),
        nodes: Vec::new(),
    };
    config.clusters.iter().map(cluster).collect()
}

/// Says which machines may be nodes of these clusters.
pub(in crate::cli) fn with_nodes(
    clusters: Vec<SessionCluster>,
    hosts: &[SessionHost],
) -> Vec<SessionCluster> {
    clusters.into_iter().map(|cluster| SessionCluster { nodes: hosts.to_vec(), ..cluster }).collect()
}

/// Returns the clusters that are named, each one of the configuration or a context of `kubectl`; without a name those of the configuration.
pub(in crate::cli) fn clusters(named: &[String], config: &Config) -> anyhow::Result<Vec<SessionCluster>> {
    let known = configured_clusters(config);
    if named.is_empty() {
        return Ok(known);
    }
    let mut found: Vec<SessionCluster> = Vec::new();
    for name in named {
        let own = known.iter().find(|cluster| cluster.name == *name).cloned();
        let own = match own {
            Some(own) => own,
            None if is_context(name) => {
                // A context may hold a path; findings name a cluster by one word.
                let short = name.rsplit(['/', ':']).next().unwrap_or(name);
                SessionCluster { name: short.to_owned(), context: name.clone(), nodes: Vec::new() }
            }
            None => {
                let error = anyhow::anyhow!("`{}` is no name of a cluster", harmless(name));
                return Err(Hinted::new(error, "`kubectl config get-contexts -o name` prints them").into());
            }
        };
        if found.iter().any(|known| known.name == own.name) {
            anyhow::bail!("{} is named twice", own.name);
        }
        found.push(own);
    }
    if found.len() > MAX_CLUSTERS {
        let error = anyhow::anyhow!("{} clusters are named, and a session reads {MAX_CLUSTERS}", found.len());
        return Err(Hinted::new(error, "name those that it is about").into());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use ghost_tools::config::ClusterEntry;

    #[test]
    fn a_cluster_is_one_of_the_configuration_or_a_context() {
        let entry = ClusterEntry { context: Some("shop-admin".to_owned()) };
        let config = Config { clusters: BTreeMap::from([("shop".to_owned(), entry)]), ..Config::default() };
        let found = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            clusters(&named, &config).map(|all| {
                all.into_iter().map(|one| format!("{}={}", one.name, one.context)).collect::<Vec<_>>()
            })
        };
        assert_eq!(found(&[]).unwrap(), ["shop=shop-admin"]);
        assert_eq!(found(&["shop", "pay-aks"]).unwrap(), ["shop=shop-admin", "pay-aks=pay-aks"]);
        assert_eq!(found(&["arn:aws:eks:eu:1:cluster/pay"]).unwrap(), ["pay=arn:aws:eks:eu:1:cluster/pay"]);
        assert!(found(&["-x"]).is_err());
        assert!(found(&["shop", "shop"]).is_err());
    }
}
