//! `--at TIME`: what was so then. What changed since is named, and no answer depends on what was not read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use crate::moment::written;
use crate::print::Hinted;
use ghost_base::Timestamp;
use ghost_cloud::operation::Issue;
use ghost_inspect::path::{Bundle, Reading, Report, ReportedMissing};

/// The platform keeps its activity log as long.
const KEPT_HOURS: u64 = 90 * 24;

/// As many events are asked for.
const MAX_EVENTS: usize = 200;

/// Returns the last of the bundles below a folder that was collected at that moment or before it. Their names say when that was.
pub(super) fn last_before(folder: &Path, at: Timestamp) -> anyhow::Result<(PathBuf, Timestamp)> {
    let listed = folder.read_dir().with_context(|| format!("listing {}", folder.display()))?;
    let dated = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_str()?.trim_end_matches(".json").to_owned();
        Some((written(&name)?, path))
    };
    let all: Vec<(Timestamp, PathBuf)> = listed.filter_map(dated).collect();
    match all.iter().filter(|(collected, _)| *collected <= at).max() {
        Some((collected, path)) => Ok((path.clone(), *collected)),
        None => {
            let error = anyhow::anyhow!("{} holds no bundle of {at} or before", folder.display());
            let hint = "name a folder of bundles whose names say when they were collected, as in collect --out estate/2026-11-24T08:00:00Z";
            Err(Hinted::new(error, hint).into())
        }
    }
}

/// Returns how many hours back the activity log has to be asked.
pub(super) fn hours(at: Timestamp, now: Timestamp) -> anyhow::Result<u16> {
    let hours = now.since(at).as_secs() / 3600 + 1;
    match u16::try_from(hours) {
        Ok(short) if hours <= KEPT_HOURS => Ok(short),
        Ok(_) | Err(_) => {
            let error = anyhow::anyhow!("the platform keeps its activity log 90 days");
            Err(Hinted::new(error, "name a later time, or judge from a bundle of that time").into())
        }
    }
}

/// Takes out of a judgement of now whatever need not have been so then.
pub(super) fn restrict(report: &mut Report, bundle: &Bundle, events: Result<String, Issue>, at: Timestamp) {
    let (mut missing, is_whole) = match events {
        Ok(text) => {
            let changes = changes(&text, &on_path(report, bundle), at);
            (changes, text.matches("\"eventTimestamp\"").count() < MAX_EVENTS)
        }
        Err(issue) => (vec![missing_reading("the activity log".to_owned(), issue.text)], true),
    };
    if !is_whole {
        let why = format!("it has more than {MAX_EVENTS} events since {at}");
        missing.push(missing_reading("the rest of the activity log".to_owned(), why));
    }
    // A rule or a route of the cloud that stops it now, and that nobody changed, stopped it then.
    let by_cloud = report.verdict == "BLOCKED"
        && report.causes.first().is_some_and(|cause| {
            let object = cause.object.to_string();
            ["nsg/", "route/", "peering/"].iter().any(|kind| object.starts_with(kind))
        });
    if !by_cloud {
        let why = "no log of the platform records it: `ghost path collect` keeps it for later".to_owned();
        missing.push(missing_reading(format!("what was inside the machines at {at}"), why));
    }
    if !missing.is_empty() {
        report.verdict = "INDETERMINATE";
        report.fate = format!("not known for {at}; now: {}", report.fate);
    }
    report.missing.append(&mut missing);
}

fn missing_reading(what: String, why: String) -> ReportedMissing {
    ReportedMissing { what, why }
}

/// Returns the changes of what is on the path, each once.
fn changes(text: &str, on_path: &BTreeSet<String>, at: Timestamp) -> Vec<ReportedMissing> {
    let events: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let word = |event: &Value, field: &str| {
        let value = event.get(field);
        let inner = value.and_then(|value| value.get("value").or(Some(value))).and_then(Value::as_str);
        inner.unwrap_or_default().to_owned()
    };
    let mut found: Vec<ReportedMissing> = Vec::new();
    for event in &events {
        let (id, operation) = (word(event, "resourceId").to_lowercase(), word(event, "operationName"));
        let when = word(event, "eventTimestamp");
        let is_change = ["/write", "/delete"].iter().any(|end| operation.to_lowercase().ends_with(end));
        let is_later = written(&when).is_none_or(|when| when >= at);
        let concerns = on_path.iter().any(|known| {
            id.strip_prefix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if !is_change || !is_later || !concerns || word(event, "status").eq_ignore_ascii_case("failed") {
            continue;
        }
        let name =
            id.split("/providers/").last().unwrap_or(&id).split('/').skip(1).collect::<Vec<&str>>().join("/");
        let what = format!("{name} as it was at {at}");
        let why = format!("{operation} by {} at {when}", word(event, "caller"));
        if !found.iter().any(|known| known.what == what) {
            found.push(ReportedMissing { what, why });
        }
    }
    found
}

/// Returns the ids of what decides over the flow in the cloud, in small letters.
fn on_path(report: &Report, bundle: &Bundle) -> BTreeSet<String> {
    let list = |reading: &Option<Reading>| -> Vec<Value> {
        match reading {
            Some(Reading::Text(text)) => serde_json::from_str(text).unwrap_or_default(),
            Some(Reading::Failed { .. }) | None => Vec::new(),
        }
    };
    let id_of = |value: &Value, field: &str| {
        value.get(field).and_then(|inner| inner.get("id")).and_then(Value::as_str).map(str::to_lowercase)
    };
    let own = |value: &Value| value.get("id").and_then(Value::as_str).map(str::to_lowercase);
    let hops: BTreeSet<String> =
        report.forward.iter().chain(&report.back).map(|hop| hop.hop.to_lowercase()).collect();
    let ends = [report.flow.src.to_string(), report.flow.dst.to_string()];
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut subnets: BTreeSet<String> = BTreeSet::new();
    for nic in list(&bundle.cloud.interfaces) {
        let configurations =
            nic.get("ipConfigurations").and_then(Value::as_array).cloned().unwrap_or_default();
        let address = |one: &Value| one.get("privateIPAddress").and_then(Value::as_str).map(str::to_owned);
        let last = |id: Option<String>| id.and_then(|id| id.rsplit('/').next().map(str::to_owned));
        let is_end = configurations.iter().filter_map(address).any(|address| ends.contains(&address));
        let names = [last(own(&nic)), last(id_of(&nic, "virtualMachine"))];
        if is_end || names.into_iter().flatten().any(|name| hops.contains(&name)) {
            found.extend(
                [own(&nic), id_of(&nic, "networkSecurityGroup"), id_of(&nic, "virtualMachine")]
                    .into_iter()
                    .flatten(),
            );
            subnets.extend(configurations.iter().filter_map(|one| id_of(one, "subnet")));
        }
    }
    for network in list(&bundle.cloud.networks) {
        let all = network.get("subnets").and_then(Value::as_array).cloned().unwrap_or_default();
        for subnet in all.iter().filter(|subnet| own(subnet).is_some_and(|id| subnets.contains(&id))) {
            found.extend(
                [own(&network), id_of(subnet, "networkSecurityGroup"), id_of(subnet, "routeTable")]
                    .into_iter()
                    .flatten(),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bundle_before_a_moment_is_taken() {
        let top = tempfile::tempdir().unwrap();
        for name in ["2026-11-23T08:00:00Z", "2026-11-24T08-00-00Z", "notes"] {
            std::fs::create_dir(top.path().join(name)).unwrap();
        }
        let taken = |at: &str| last_before(top.path(), written(at).unwrap()).map(|(path, _)| path).ok();
        assert_eq!(taken("2026-11-24T07:59:59Z").unwrap(), top.path().join("2026-11-23T08:00:00Z"));
        assert_eq!(taken("2026-11-24T09:00:00Z").unwrap(), top.path().join("2026-11-24T08-00-00Z"));
        assert_eq!(taken("2026-11-22"), None);
    }
}
