//! Baselines: what is there is put away, as the tools put it away that compare with it later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::access::LabAccess;
use super::perform::{ask, run};
use crate::azure::Verb;
use crate::case::model::{Baseline, BaselineKind};
use ghost_base::{Timestamp, private_dir, write_private_new};
use ghost_inspect::effective;
use ghost_inspect::netfilter;

/// Who takes them.
const WHO: &str = "lab";

/// Returns the file of a baseline, below the data folder.
pub(super) fn file(baseline: &Baseline) -> PathBuf {
    match baseline.kind {
        BaselineKind::Effective => Path::new("effective").join(format!("{}.json", baseline.id)),
        BaselineKind::Firewall => Path::new("netfilter").join(format!("{}_snapshot.json", baseline.id)),
    }
}

/// Takes a baseline.
pub(super) async fn remember(
    lab: &dyn LabAccess,
    data: &Path,
    baseline: &Baseline,
    nics: &[String],
) -> Result<(), String> {
    let age = i64::try_from(baseline.age.as_millis()).unwrap_or(i64::MAX);
    let at = Timestamp::from_millis(lab.now().as_millis().saturating_sub(age));
    let text = match baseline.kind {
        BaselineKind::Effective => effective_text(lab, baseline, nics, at).await?,
        BaselineKind::Firewall => firewall_text(lab, baseline, at).await?,
    };
    let path = data.join(file(baseline));
    let write = || {
        path.parent().map_or(Ok(()), private_dir)?;
        write_private_new(&path, text.as_bytes())
    };
    write().map_err(|error| format!("writing {}: {error}", path.display()))
}

async fn effective_text(
    lab: &dyn LabAccess,
    baseline: &Baseline,
    nics: &[String],
    at: Timestamp,
) -> Result<String, String> {
    let mut bundle = effective::Bundle::default();
    for nic in nics {
        let documents = lab.documents();
        let found = documents.iter().find(|document| is_nic(document, nic));
        let id = found.and_then(|nic| nic.get("id")).and_then(Value::as_str);
        let id = id.ok_or_else(|| format!("there is no network interface {nic}"))?;
        let routes = ask(lab, Verb::Post, &format!("{id}/effectiveRouteTable"), None).await?;
        let nsg = ask(lab, Verb::Post, &format!("{id}/effectiveNetworkSecurityGroups"), None).await?;
        bundle.nics.push(effective::Answer::printed(nic, &routes.to_string(), &nsg.to_string()));
    }
    let documents = lab.documents();
    let group = documents.iter().find(|document| is_machine(document, &baseline.vm));
    let group = group.and_then(|vm| vm.get("id")).and_then(Value::as_str);
    let group = group.and_then(|id| id.split('/').nth(4)).map(str::to_owned);
    let taken = effective::Taken {
        session: baseline.id.parse().map_err(|_| format!("`{}` is no name of a baseline", baseline.id))?,
        baseline: true,
        scope: effective::Scope {
            kind: Some("vm".to_owned()),
            name: Some(baseline.vm.clone()),
            resource_group: group,
        },
        at,
        answers_at: Some(at),
        by: Some(WHO.to_owned()),
        tool: format!("ghost {}", env!("CARGO_PKG_VERSION")),
    };
    let sealed = effective::Snapshot::seal(&bundle, taken);
    sealed.map(|(text, _)| text).map_err(|error| format!("the baseline {}: {error}", baseline.id))
}

fn is_nic(document: &Value, name: &str) -> bool {
    named(document, "Microsoft.Network/networkInterfaces", name)
}

fn is_machine(document: &Value, name: &str) -> bool {
    named(document, "Microsoft.Compute/virtualMachines", name)
}

fn named(document: &Value, kind: &str, name: &str) -> bool {
    let is = |field: &str, value: &str| {
        document.get(field).and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(value))
    };
    is("type", kind) && is("name", name)
}

/// What each source of a bundle is gathered with, as the collector of `ghost netfilter collect` does it.
const SOURCES: [(&str, &str); 9] = [
    ("iptables-legacy", "iptables-legacy-save -c"),
    ("ip6tables-legacy", "ip6tables-legacy-save -c"),
    ("iptables-nft", "iptables-nft-save -c"),
    ("ip6tables-nft", "ip6tables-nft-save -c"),
    ("nft", "nft -j list ruleset"),
    ("ipset", "ipset save"),
    ("alternatives", "update-alternatives --query iptables"),
    ("tables", "cat /proc/net/ip_tables_names"),
    ("tables6", "cat /proc/net/ip6_tables_names"),
];

async fn firewall_text(lab: &dyn LabAccess, baseline: &Baseline, at: Timestamp) -> Result<String, String> {
    let mut sources = BTreeMap::new();
    for (source, command) in SOURCES {
        let ran = run(lab, &baseline.vm, command).await?;
        // Where the file is missing the old backend is not loaded: it has no tables.
        let found = if ran.code == 0 {
            netfilter::Source::Text(ran.out)
        } else if source.starts_with("tables") {
            netfilter::Source::Text(String::new())
        } else if ran.code == 127 {
            let program = command.split(' ').next().unwrap_or_default();
            netfilter::Source::Failed { error: format!("{program} is not installed") }
        } else {
            netfilter::Source::Failed { error: ran.err.chars().take(300).collect() }
        };
        sources.insert(source.to_owned(), found);
    }
    let version = run(lab, &baseline.vm, "iptables --version").await?;
    if let Some(netfilter::Source::Text(text)) = sources.get_mut("alternatives") {
        *text = format!("{}\n{}", text.trim_end(), version.out);
    }
    let bundle = netfilter::Bundle { sources };
    let taken = netfilter::Snapshot::take(bundle, &baseline.id, &baseline.vm, &at.to_string(), WHO, true);
    let taken = taken.map_err(|error| format!("the baseline {}: {error}", baseline.id))?;
    serde_json::to_string(&taken).map_err(|error| error.to_string())
}
