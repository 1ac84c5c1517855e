//! Tables, with the columns that the API server gives them.

use std::fmt::Write as _;

use serde_json::Value;

use super::kind::Kind;
use super::line::{Form, Get};
use super::print::{Found, word};
use crate::kubernetes::model::Cluster;
use crate::kubernetes::policy::Selector;
use ghost_base::Timestamp;

/// Where something is not there.
const NONE: &str = "<none>";
/// So many items of a list are shown.
const MAX_SHOWN: usize = 3;

/// Prints a table for each kind.
pub(super) fn tables(found: &[Found], get: &Get, now: Timestamp) -> String {
    let is_wide = get.form == Form::Wide;
    let has_several = get.wanted.len() > 1;
    let mut all = Vec::new();
    for own in found.iter().filter(|own| !own.objects.is_empty()) {
        let with_namespace = get.namespace.is_none() && own.kind.is_namespaced();
        let mut rows: Vec<Vec<String>> = Vec::new();
        if get.has_heads {
            let heads = heads(own.kind, is_wide);
            let first = with_namespace.then_some("NAMESPACE");
            rows.push(first.into_iter().chain(heads).map(str::to_owned).collect());
        }
        for object in &own.objects {
            let namespace = word(object, "namespace").unwrap_or_default().to_owned();
            let name = word(object, "name").unwrap_or_default();
            let name = if has_several { format!("{}/{name}", own.kind.prefix()) } else { name.to_owned() };
            let first = with_namespace.then_some(namespace);
            let cells = cells(own.kind, object, is_wide, now);
            rows.push(first.into_iter().chain([name]).chain(cells).collect());
        }
        all.push(aligned(&rows));
    }
    all.join("\n")
}

/// Prints the contexts.
pub(super) fn contexts(clusters: &[Cluster]) -> String {
    let mut names: Vec<(&str, bool)> =
        clusters.iter().enumerate().map(|(at, cluster)| (cluster.name(), at == 0)).collect();
    names.sort_unstable();
    let mut rows: Vec<Vec<String>> =
        vec![["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"].map(str::to_owned).to_vec()];
    rows.extend(names.into_iter().map(|(name, is_current)| {
        let mark = if is_current { "*" } else { "" };
        vec![mark.to_owned(), name.to_owned(), name.to_owned(), format!("clusterUser_{name}"), String::new()]
    }));
    aligned(&rows)
}

/// Puts cells below one another, three spaces apart.
fn aligned(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..count)
        .map(|at| {
            rows.iter()
                .filter_map(|row| row.get(at))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if at + 1 < row.len() {
                _ = write!(text, "{cell:<width$}   ");
            } else {
                text.push_str(cell);
            }
        }
        text.push('\n');
    }
    text
}

fn heads(kind: Kind, is_wide: bool) -> Vec<&'static str> {
    let (always, wide): (&[&str], &[&str]) = match kind {
        Kind::Pods => (
            &["NAME", "READY", "STATUS", "RESTARTS", "AGE"],
            &["IP", "NODE", "NOMINATED NODE", "READINESS GATES"],
        ),
        Kind::Services => (&["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"], &["SELECTOR"]),
        Kind::EndpointSlices => (&["NAME", "ADDRESSTYPE", "PORTS", "ENDPOINTS", "AGE"], &[]),
        Kind::Namespaces => (&["NAME", "STATUS", "AGE"], &[]),
        Kind::Nodes => (
            &["NAME", "STATUS", "ROLES", "AGE", "VERSION"],
            &["INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"],
        ),
        Kind::NetworkPolicies => (&["NAME", "POD-SELECTOR", "AGE"], &[]),
    };
    always.iter().chain(if is_wide { wide } else { &[] }).copied().collect()
}

fn text(object: &Value, pointer: &str) -> String {
    match object.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => NONE.to_owned(),
    }
}

/// Returns the cells behind the name.
fn cells(kind: Kind, object: &Value, is_wide: bool, now: Timestamp) -> Vec<String> {
    let age = age(object, now);
    let field = |pointer: &str| text(object, pointer);
    let (always, wide) = match kind {
        Kind::Pods => (
            vec![ready(object), status(object), field("/status/containerStatuses/0/restartCount"), age],
            vec![field("/status/podIP"), field("/spec/nodeName"), NONE.to_owned(), NONE.to_owned()],
        ),
        Kind::Services => (
            vec![
                field("/spec/type"),
                field("/spec/clusterIP"),
                field("/status/loadBalancer/ingress/0/ip"),
                ports(object),
                age,
            ],
            vec![selector(object)],
        ),
        Kind::EndpointSlices => (
            vec![
                field("/addressType"),
                listed(values(object, "/ports").map(|own| text(own, "/port"))),
                listed(values(object, "/endpoints").map(|own| text(own, "/addresses/0"))),
                age,
            ],
            Vec::new(),
        ),
        Kind::Namespaces => (vec![field("/status/phase"), age], Vec::new()),
        Kind::Nodes => (
            vec!["Ready".to_owned(), NONE.to_owned(), age, field("/status/nodeInfo/kubeletVersion")],
            vec![
                field("/status/addresses/0/address"),
                NONE.to_owned(),
                field("/status/nodeInfo/osImage"),
                field("/status/nodeInfo/kernelVersion"),
                field("/status/nodeInfo/containerRuntimeVersion"),
            ],
        ),
        Kind::NetworkPolicies => {
            let own = object.pointer("/spec/podSelector").cloned().unwrap_or_default();
            let own: Selector = serde_json::from_value(own).unwrap_or_default();
            (vec![own.text(), age], Vec::new())
        }
    };
    always.into_iter().chain(if is_wide { wide } else { Vec::new() }).collect()
}

fn values<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn ready(object: &Value) -> String {
    let all = values(object, "/status/containerStatuses");
    let (mut count, mut is_ready) = (0, 0);
    for own in all {
        count += 1;
        is_ready += usize::from(own.get("ready").and_then(Value::as_bool).unwrap_or_default());
    }
    format!("{is_ready}/{count}")
}

/// Says how a pod is: what its container waits for or ended with, before its phase.
fn status(object: &Value) -> String {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return "Terminating".to_owned();
    }
    let state = "/status/containerStatuses/0/state";
    let reason = |of: &str| object.pointer(&format!("{state}/{of}/reason")).and_then(Value::as_str);
    let reason = reason("waiting").or_else(|| reason("terminated"));
    reason.map_or_else(|| text(object, "/status/phase"), str::to_owned)
}

fn ports(object: &Value) -> String {
    let one = |own: &Value| {
        let (port, protocol) = (text(own, "/port"), text(own, "/protocol"));
        match own.get("nodePort") {
            Some(node) => format!("{port}:{node}/{protocol}"),
            None => format!("{port}/{protocol}"),
        }
    };
    let all: Vec<String> = values(object, "/spec/ports").map(one).collect();
    if all.is_empty() { NONE.to_owned() } else { all.join(",") }
}

fn selector(object: &Value) -> String {
    let labels = object.pointer("/spec/selector").and_then(Value::as_object).into_iter().flatten();
    let all: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    if all.is_empty() { NONE.to_owned() } else { all.join(",") }
}

/// Writes the first of a list, and how many more there are.
fn listed(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    let shown = all.iter().take(MAX_SHOWN).cloned().collect::<Vec<String>>().join(",");
    match all.len().checked_sub(MAX_SHOWN) {
        Some(more) if more > 0 => format!("{shown} + {more} more..."),
        _ if shown.is_empty() => "<unset>".to_owned(),
        _ => shown,
    }
}

fn age(object: &Value, now: Timestamp) -> String {
    let text = word(object, "creationTimestamp").unwrap_or_default().replace('Z', ".000Z");
    let made = text.parse::<Timestamp>().ok();
    made.map_or_else(|| "<unknown>".to_owned(), |made| spoken(now.since(made).as_secs()))
}

/// Says how long something is, as tables do: the longer, the coarser.
fn spoken(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let pair = |first: u64, unit: &str, second: u64, small: &str| {
        if second == 0 { format!("{first}{unit}") } else { format!("{first}{unit}{second}{small}") }
    };
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => pair(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => pair(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => pair(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => pair(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod age_tests {
    use super::spoken;

    #[test]
    fn an_age_is_coarser_the_longer_it_is() {
        let all = [
            (7, "7s"),
            (119, "119s"),
            (185, "3m5s"),
            (180, "3m"),
            (3_599, "59m"),
            (10_860, "3h1m"),
            (90_000, "25h"),
            (180_000, "2d2h"),
            (86_400 * 21, "21d"),
            (86_400 * 800, "2y70d"),
        ];
        for (seconds, text) in all {
            assert_eq!(spoken(seconds), text);
        }
    }
}
