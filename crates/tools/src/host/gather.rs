//! Gathers on machines, several at once.

use std::sync::Arc;

use super::snapshot::Snapshot;
use crate::live::Live;
use crate::print::Hinted;
use crate::setup::Setup;
use ghost_base::{Clock as _, SystemClock};
use ghost_cloud::guest::HostAccess;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::{HostProbe, HostQuestion};
use ghost_session::MAX_AT_ONCE;
use ghost_shell::Policy;

/// A machine that is to be read.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// How findings name it.
    pub name: String,
    pub access: HostAccess,
    pub question: HostQuestion,
}

/// A machine that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unread {
    pub name: String,
    pub issue: Issue,
}

/// Lets the policy know the words that carry the script.
pub(super) fn policy(setup: &Setup, machines: &[Machine]) -> anyhow::Result<Arc<Policy>> {
    let mut policy = (*setup.policy()?).clone();
    for machine in machines {
        policy = match machine.access {
            HostAccess::Here => policy.carried_here(),
            HostAccess::Ssh(_) => policy.carried_by([machine.access.carrier().words().to_vec()]),
        };
    }
    Ok(Arc::new(policy))
}

/// Reads them all; one that cannot be read does not keep the others.
pub(super) fn gather(live: &Live, machines: &[Machine]) -> anyhow::Result<(Snapshot, Vec<Unread>)> {
    let mut snapshot = Snapshot::new(SystemClock.now().to_string());
    let mut unread = Vec::new();
    let probes = machines.iter().map(|one| HostProbe::new(one.access.clone(), &one.question));
    let read = live.drive_all(probes.collect(), MAX_AT_ONCE)?;
    for (machine, read) in machines.iter().zip(read) {
        match read {
            Ok(gathered) => {
                snapshot.hosts.insert(machine.name.clone(), gathered);
            }
            Err(issue) => unread.push(Unread { name: machine.name.clone(), issue }),
        }
    }
    match unread.first() {
        Some(first) if snapshot.hosts.is_empty() => {
            let error = anyhow::anyhow!(crate::print::harmless(&first.issue.text));
            let hint = first.issue.hint.clone();
            Err(hint.map_or_else(
                || error,
                |hint| Hinted::new(anyhow::anyhow!(crate::print::harmless(&first.issue.text)), hint).into(),
            ))
        }
        Some(_) | None => Ok((snapshot, unread)),
    }
}
