//! Whether the clusters of `[clusters]` can be read.

use std::sync::Arc;

use super::finding::{Finding, State};
use crate::cli::investigate::configured_clusters;
use ghost_base::SessionId;
use ghost_cloud::operation::{Issue, Next, Operation as _, ShellExecutor};
use ghost_cloud::probe::ClusterOperation;
use ghost_inspect::cluster::Cluster;
use ghost_investigate::event::SessionCluster;
use ghost_shell::{CancelSignal, Shell};
use ghost_tools::setup::Setup;

const WHAT: &str = "clusters";

/// Under which name what runs is on record.
const SESSION: &str = "config-check";

/// How long `kubectl` may take for one list.
const SECONDS: u64 = 30;

/// Reads each cluster once; nothing where none is named.
pub(super) async fn check(setup: &Setup, offline: bool) -> Vec<Finding> {
    let all = configured_clusters(&setup.config);
    if all.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = all.iter().map(|cluster| cluster.name.as_str()).collect();
    let there = setup.data().is_ok_and(std::path::Path::is_dir);
    if offline || !there {
        // What runs is on record, and to check makes no folder.
        let why = if offline { "not asked" } else { "asked as soon as the data folder is there" };
        return vec![Finding::new(State::Skipped, WHAT, format!("{}: {why}", names.join(", ")))];
    }
    let executor = match executor(setup) {
        Ok(executor) => executor,
        Err(error) => return vec![Finding::new(State::Problem, WHAT, format!("{error:#}"))],
    };
    let mut found = Vec::new();
    for cluster in &all {
        found.push(finding(cluster, read(cluster, setup, &executor).await));
    }
    found
}

fn executor(setup: &Setup) -> anyhow::Result<ShellExecutor> {
    let session: SessionId = SESSION.parse()?;
    let evidence = setup.data()?.join("evidence");
    let shell: Shell = setup.shell(session, Some(SECONDS))?.build()?;
    Ok(ShellExecutor::new(Arc::new(shell), evidence))
}

async fn read(cluster: &SessionCluster, setup: &Setup, executor: &ShellExecutor) -> Result<Cluster, Issue> {
    let clock = setup.clock();
    let mut reading = ClusterOperation::new(&cluster.name, &cluster.context);
    loop {
        match reading.next(clock.now()) {
            Next::Over(result) => return result,
            Next::Run(order) => {
                let answer = executor.run(&order, CancelSignal::never()).await;
                reading.on_result(&answer, clock.now());
            }
            Next::Wait { .. } => return Err(Issue::new("it wants to wait")),
        }
    }
}

fn finding(cluster: &SessionCluster, read: Result<Cluster, Issue>) -> Finding {
    match read {
        Ok(read) => {
            let (pods, services) = (read.listed_pods().len(), read.listed_services().len());
            Finding::new(State::Ok, WHAT, format!("{}: {pods} pods, {services} services", cluster.name))
        }
        Err(issue) => {
            let finding = Finding::new(State::Problem, WHAT, issue.text);
            match issue.hint {
                Some(hint) => finding.hint(hint),
                None => finding,
            }
        }
    }
}
