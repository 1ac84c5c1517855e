//! What changed on a machine since a state that somebody kept of it while it worked.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::asked::Asked;
use super::judge::Read;
use crate::complaint::Kind;
use crate::suspect::plain;
use crate::tool::FileTask;
use crate::tool::call_replay::CallReplay;
use crate::tool::inspect::inspector::Unfinished;
use crate::tool::inspect::path::sentence;
use ghost_inspect::host::{Gathered, Host, compare};

/// The kind of what `ghost host --keep` keeps.
const KIND: &str = "host";
/// So many changes of a machine are named.
const MAX_CHANGES: usize = 16;

/// The state of a machine as it was kept; see `ghost host --keep`.
#[derive(Deserialize)]
struct Kept {
    /// When.
    taken: String,
    hosts: BTreeMap<String, Gathered>,
}

/// An earlier state of a machine.
#[derive(Debug)]
pub(super) struct Earlier {
    pub(super) taken: String,
    pub(super) host: Host,
}

/// Recalls the earlier states of the machines of which somebody asks what changed.
pub(super) fn recall(
    asked: &Asked,
    read: &mut Read,
    replay: &mut CallReplay<'_, '_>,
) -> Result<(), Unfinished> {
    let drifts = asked.complaints.iter().filter(|complaint| complaint.kind == Kind::Drift);
    let mut names: Vec<&String> = drifts.flat_map(|complaint| &complaint.machines).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let task = FileTask::Recall { kind: KIND.to_owned(), session: name.clone() };
        let text = replay.file_task(task)?;
        // What was never kept is nothing.
        let mut kept = match serde_json::from_str::<Option<Kept>>(&text) {
            Ok(Some(kept)) => kept,
            Ok(None) => continue,
            Err(error) => {
                read.notes.push(format!("what was kept of {} cannot be read: {error}", plain(name)));
                continue;
            }
        };
        if let Some(gathered) = kept.hosts.remove(name) {
            let host = Host::read(name, &gathered);
            read.earlier.insert(name.clone(), Earlier { taken: kept.taken, host });
        }
    }
    Ok(())
}

/// Says what changed on machines since then, or that nothing of then is kept.
pub(super) fn changes(machines: &[String], read: &Read) -> Vec<String> {
    let mut said = Vec::new();
    for host in read.hosts.iter().filter(|host| machines.contains(&host.name)) {
        let name = plain(&host.name);
        let Some(earlier) = read.earlier.get(&host.name) else {
            said.push(format!(
                "no earlier state of {name} is there to compare with; `ghost host --keep` keeps one while it works"
            ));
            continue;
        };
        let all = compare(&earlier.host, host);
        let taken = plain(&earlier.taken);
        said.extend(
            all.iter()
                .take(MAX_CHANGES)
                .map(|one| sentence(&format!("changed on {name} since {taken}: {one}"))),
        );
        if let Some(more) = all.len().checked_sub(MAX_CHANGES).filter(|more| *more > 0) {
            said.push(format!("{more} more changes on {name} since {taken}"));
        }
    }
    said
}
